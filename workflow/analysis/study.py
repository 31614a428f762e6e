"""The table of a study: its variants, and what its axis and the way it was run add to them.

Along shares of the training rows the bag of words is fitted to as few rows as the model. Along
checkpoints there are their zero-shot scores and, of tasks with skills, whether these or the
fine-tuning gains that need them get half-way first. Where each language model was fine-tuned
several times, there is how much scores vary over models, and over fine-tuning of the same one.
Variants that are compared with others than the first have what each adds, by degree of difficulty.
"""

import math
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

import tasks
from gpt1.cell import UNCHANGED, PretrainedModel
from gpt1.records import CheckpointFacts, ClozeScores, ZeroShotScore
from gpt1.streams import drawn_rows
from tasks import baselines
from tasks.common.records import Scores
from tasks.examples import ExamplesFacts, facts_of, read_labelled
from tasks.world.settings import DEGREES
from workflow.analysis import markdown
from workflow.analysis.figures import lines, style
from workflow.analysis.lines import Lines, added, compared, named, wide
from workflow.analysis.rows import Notes
from workflow.analysis.stats.estimates import LEVEL, Estimate
from workflow.analysis.stats.samples import Samples
from workflow.analysis.stats.scores import of_seeds
from workflow.analysis.table import Table
from workflow.grid import Grid, StudyPlan

Parts = list[str | pd.DataFrame]
HALVES = ["half_skills", "half_zero_shot", "half_score"]
LEAST = 5.0  # points; a curve that rises less has no half-way point
ABOUT_HALVES = (
    "In checkpoints after the untrained model, the mean over language models. A score rises from "
    "that of the untrained model or, if this is higher, of the best constant answer. `lag`: how "
    "many checkpoints the fine-tuned score is later than the cloze items that teach it, with the "
    "95 % interval of Student's t over language models, without that of rows. A dash: a curve "
    f"rises by less than {LEAST:g} points, or was not run."
)
HELD_OUT = {"perplexity": "{:.2f}", "bits_per_byte": "{:.3f}"}
SPREAD = ["sd_pretrain", "sd_finetune"]
RATIO = ["sd_ratio_low", "sd_ratio_high"]
SPREAD_TITLE = "## Standard deviations over language models / over fine-tuning of the same one"
ABOUT_SPREAD = (
    "In brackets the 95 % interval of the first divided by the second, by the F-distribution: "
    "above 1, language models vary more; below 1, fine-tuning does."
)


def build(results: Path, grid: Grid, study: StudyPlan) -> Table:
    """The table of a study. Raises InputError for a damaged file."""
    notes, samples = Notes.read(results, study.tasks), _samples(results, grid, study)
    averages = {"mean": study.tasks} if len(study.tasks) > 1 else {}
    run = Lines(study, grid, samples, notes, averages)
    frame = run.frame()
    headed = frame.assign(head=frame["task"].map(run.titles()))
    sections: Parts = [f"# {study.title}"]
    sections += [f"Expected: {sentence}" for sentence in study.expected]
    sections += [wide(headed, study)]
    sections += [] if study.is_compared else compared(headed, study)
    frame, more = with_perplexity(frame, results, study)
    sections += more
    if study.axis == "train_share":
        known = train_rows(results, study)
        places = zip(frame["task"], frame["value"], strict=True)
        frame = frame.assign(train_rows=[known.get(place, math.nan) for place in places])
    if study.axis == "checkpoint":
        frame, more = with_zero_shot(frame, results, run)
        sections += more
    if study.skills:
        frame, more = with_skills(frame, results, run)
        sections += more
    if any(len(study.seeds) >= 2 * len(point.variant.pretrain) > 2 for point in study.points):
        frame, more = with_deviations(frame, run)
        sections += more
    if study.is_compared:
        frame, more = with_degrees(frame, run)
        sections += more
    return Table(frame, [*sections, *run.legend()])


def write(results: Path, grid: Grid, study: StudyPlan, out: Path) -> None:
    """Write the table as CSV and Markdown, and the figure as PNG, SVG and PDF."""
    made = build(results, grid, study)
    made.write(out)
    style.save(lambda: lines.draw(made.frame, study), out.with_suffix(".png"))


def with_perplexity(
    frame: pd.DataFrame, results: Path, study: StudyPlan
) -> tuple[pd.DataFrame, Parts]:
    """The frame with what each point's language models score on held-out books, their means.

    A section on it if the points start from different models. Published weights have no score.
    """
    rows = [
        (*point.key, path, facts.heldout_perplexity, facts.heldout_bits_per_byte)
        for point in study.points
        for model in point.variant.models()
        if (path := model.facts(results, point.variant.update)).exists()
        for facts in (CheckpointFacts.read(path),)
    ]
    known = pd.DataFrame(rows, columns=["line", "value", "model", *HELD_OUT]).dropna()
    of_points = known.groupby(["line", "value"], sort=False)
    means = of_points[[*HELD_OUT]].mean()
    frame = frame.merge(means.reset_index(), on=["line", "value"], how="left")
    if of_points["model"].first().nunique() < 2:
        return frame, []
    names = {point.key: f"{point.line} {point.at}".strip() for point in study.points}
    shown = pd.DataFrame({of: means[of].map(form.format) for of, form in HELD_OUT.items()})
    shown.index = pd.Index([names[key] for key in means.index], name="")
    title = "## Their language models, each on its own held-out books"
    return frame, [title, shown.rename(columns={"bits_per_byte": "bits per byte"})]


def _samples(results: Path, grid: Grid, study: StudyPlan) -> Samples:
    """The samples of the study's cells and of the run's pooled cells, where they were run.

    Along shares of the training rows, cells with fewer rows have a bag of words of their own.
    """
    points = study.points if study.axis == "train_share" else []
    shares = {point.variant.name: float(point.value) for point in points if point.value}
    few = {cell: of for cell in study.cells() if (of := shares.get(cell.variant, 1.0)) < 1}
    every = dict.fromkeys([*study.cells(), *grid.pooled(study)])
    run, seeds = [cell for cell in every if cell.path(results).exists()], tuple(study.seeds)
    found = Samples.of_cells(results, grid, [cell for cell in run if cell not in few], seeds)
    for cell in filter(few.get, run):
        seeds = seeds or tuple(grid.seeds.finetune)
        words = bag_of_words(results / "examples" / cell.task, cell.task, few[cell], seeds)
        found.add(cell, results, seeds, bag_of_words=words)
    return found


def train_rows(results: Path, study: StudyPlan) -> dict[tuple[str, str], int]:
    """The number of fine-tuning rows, by task and value of a study along `train_share`.

    The mean has a number if it is the same for all tasks. Raises InputError for a damaged file.
    """
    found: dict[tuple[str, str], int] = {}
    for task in study.tasks:
        n = ExamplesFacts.read(results / "examples" / f"{task}.json").rows["train"]
        found |= {(task, value): len(drawn_rows(n, float(value), 0)) for value in study.values}
    for value in study.values:
        counts = {found[task, value] for task in study.tasks}
        if len(counts) == 1:
            found["mean", value] = counts.pop()
    return found


@cache
def bag_of_words(folder: Path, task: str, share: float, seeds: tuple[int, ...]) -> Scores:
    """The bag of words' scores by split and metric, averaged over the seeds that draw the rows.

    `folder` has the task's examples. Raises InputError if it is not what `tasks.prepare` wrote.
    """
    spec = tasks.task(task, facts_of(task, folder).settings.own)
    splits = read_labelled(task, folder)
    train = splits.pop("train")
    rows = [row for split in splits.values() for row in split]
    found = []
    for seed in seeds:
        few = [train[i] for i in drawn_rows(len(train), share, seed)]
        answers = baselines.bag_of_words(spec, few, rows)
        found.append(baselines.scores(spec, splits, answers, {}))
    return {
        split: {m: float(np.mean([one[split][m] for one in found])) for m in scores}
        for split, scores in found[0].items()
    }


def with_zero_shot(frame: pd.DataFrame, results: Path, run: Lines) -> tuple[pd.DataFrame, Parts]:
    """The frame with a column `zero_shot`, the checkpoint's mean score, and a section on it.

    Only the run's own language models have zero-shot scores; those of variants have none.
    """
    study, scores, rows = run.study, run.scores(), []
    for point in study.points:
        for task in study.tasks if point.value and point.variant.model == UNCHANGED else ():
            score = scores[point.key][task]
            for seed in dict.fromkeys(score.pretrain) if score else ():
                model = PretrainedModel(point.variant.arch, seed)
                found = zero_shot_score(model, results, task, int(point.value))
                rows.append((*point.key, task, found))
    known = pd.DataFrame(rows, columns=["line", "value", "task", "zero_shot"]).dropna()
    mean = known.pivot_table(index=["line", "value"], columns="task", values="zero_shot")
    places = [point.key for point in study.points if point.value]
    mean = mean.reindex(index=places, columns=study.tasks)
    mean["mean"] = mean.mean(axis=1, skipna=False)  # NaN unless every task has a score
    long = mean.rename_axis(columns="task").stack().rename("zero_shot").reset_index()
    frame = frame.merge(long, on=["line", "value", "task"], how="left")
    titles = {task: study.shown(task) for task in study.tasks}
    titles |= {"mean": f"mean of {len(study.tasks)}"} if run.averages else {}
    shown = mean.loc[study.lines[0]][list(titles)].rename(columns=titles).dropna(axis=1, how="all")
    if shown.empty:
        return frame, []
    shown = shown.map(lambda score: markdown.value(score, markdown.MISSING))
    shown.index = [f"{study.axis} {value}" for value in shown.index]
    return frame, ["## The same checkpoints, zero-shot", shown.rename_axis("")]


def zero_shot_score(model: PretrainedModel, results: Path, task: str, update: int) -> float:
    """The zero-shot score of a checkpoint, or NaN where the task has none."""
    path = model.zero_shot(results, task, update)
    return ZeroShotScore.read(path).score if path.exists() else math.nan


def accuracy(path: Path, skills: Sequence[str]) -> float:
    """The mean accuracy of a checkpoint on some skills."""
    found = ClozeScores.read(path).skills
    return float(np.mean([found[skill].accuracy for skill in skills]))


def half_way(scores: Sequence[float], floor: float = -math.inf) -> float:
    """The interpolated index at which `scores` are first half-way to the last; NaN without one.

    They start from the untrained model, or from `floor`, the constant answer, if that is higher.
    """
    values = np.maximum(np.asarray(scores, dtype=float), floor)
    if np.isnan(values).any() or values[-1] - values[0] < LEAST:
        return math.nan
    half = (values[0] + values[-1]) / 2
    i = int((values >= half).argmax())
    return float(i - (values[i] - half) / (values[i] - values[i - 1]))


def with_skills(frame: pd.DataFrame, results: Path, run: Lines) -> tuple[pd.DataFrame, Parts]:
    """The frame with the accuracy of `skills`, and half-way points and lag in a task's last row."""
    lags: dict[Any, dict[str, float]] = {}
    learnt: dict[Any, float] = {}
    for task, taught in run.study.skills.items():
        rows = frame[(frame["task"] == task) & (frame["value"] != "")]  # no references
        models, updates = run.study.points[-1].variant.models(), [int(at) for at in rows["value"]]
        known = [[accuracy(m.cloze(results, at), taught) for at in updates] for m in models]
        learnt |= dict(zip(rows.index, np.mean(known, axis=0), strict=True))
        constant = rows["majority"].fillna(-math.inf).max()
        untuned = [[zero_shot_score(m, results, task, at) for at in updates] for m in models]
        is_whole = rows["by_seed"].map(len).nunique() == 1  # else some cell or seed was not run
        curves = [*zip(*rows["by_seed"], strict=True)] if is_whole else []  # by seed
        tuned = [half_way(curve, constant) for curve in curves]
        ways = pd.DataFrame(
            {
                "half_skills": [half_way(curve) for curve in known],
                "half_zero_shot": [half_way(curve, constant) for curve in untuned],
                "half_score": [
                    pd.Series(tuned[i :: len(models)], dtype=float).mean(skipna=False)
                    for i in range(len(models))  # seed i is tuned from model i modulo their number
                ],
            }
        )
        over_models = of_seeds(dict(enumerate(ways["half_score"] - ways["half_skills"])))
        low, high = Estimate(over_models, (over_models.over_seeds,)).interval
        lag = {"lag": over_models.value, "lag_low": low, "lag_high": high}
        lags[rows.index[-1]] = ways.mean(skipna=False).to_dict() | lag
    frame = frame.assign(skills=pd.Series(learnt)).join(pd.DataFrame.from_dict(lags, "index"))
    shown = frame.loc[[*lags]]
    text = shown[HALVES].map(markdown.value)
    found = markdown.intervals(shown, "lag", "lag_low", "lag_high")
    text["lag"] = [of.replace(markdown.MISSING, markdown.NONE) for of in found]
    text.index = shown["task"].map(run.study.shown)
    return frame, ["## Half of the way", text.rename_axis(""), ABOUT_HALVES]


def deviations(by_seed: Sequence[float], models: int) -> list[float]:
    """Both standard deviations of scores of which the i-th started from model i % `models`.

    After them come the ends of the 95 % interval of the first divided by the second. They are from
    the mean squares of a one-way analysis of variance, with any number of scores per model (Searle,
    Casella and McCulloch 1992, Variance Components, 3.6); a variance below 0 counts as 0. NaN for
    one model, and for fewer than two scores of each.
    """
    if models < 2 or len(by_seed) < 2 * models:
        return [np.nan] * len(SPREAD + RATIO)
    groups = [np.asarray(by_seed[i::models], dtype=float) for i in range(models)]
    sizes, means = np.array([of.size for of in groups]), np.array([of.mean() for of in groups])
    df, rest = models - 1, len(by_seed) - models
    within = sum(of.var() * of.size for of in groups) / rest
    between = float(sizes @ (means - np.mean(by_seed)) ** 2) / df
    size = (sizes.sum() - (sizes**2).sum() / sizes.sum()) / df
    found = [max(0.0, between - within) / size, within]
    if within:
        ends = stats.f.ppf([(1 + LEVEL) / 2, (1 - LEVEL) / 2], df, rest)
        found += list(np.maximum(0.0, between / within / ends - 1) / size)
    else:
        found += [np.nan, np.nan]
    return [float(of**0.5) for of in found]


def with_deviations(frame: pd.DataFrame, run: Lines) -> tuple[pd.DataFrame, Parts]:
    """The frame with both standard deviations of each score, and a section on them."""
    models = {point.key: len(point.variant.pretrain) for point in run.study.points}
    keys = zip(frame["line"], frame["value"], strict=True)
    found = [deviations(of, models[k]) for of, k in zip(frame["by_seed"], keys, strict=True)]
    spread = pd.DataFrame(found, columns=SPREAD + RATIO, index=frame.index)
    texts = spread.map(markdown.value)
    text = texts[SPREAD].agg(" / ".join, axis=1) + " [" + texts[RATIO].agg(", ".join, axis=1) + "]"
    shown = named(frame, run.study).assign(text=text.where(spread[SPREAD[0]].notna(), ""))
    table = markdown.pivot(shown, "row", "task", "text").rename_axis("")
    return frame.join(spread), [SPREAD_TITLE, table.rename(columns=run.titles()), ABOUT_SPREAD]


def with_degrees(frame: pd.DataFrame, run: Lines) -> tuple[pd.DataFrame, Parts]:
    """The frame with `minus` and rows for each degree of difficulty, and a section on both.

    For a degree, section and figure have only the mean over tasks.
    """
    of_degrees = [
        run.frame(partial(run.samples.headline, degree=of)).dropna(subset="mean").assign(degree=of)
        for of in DEGREES
    ]
    whole = frame.assign(degree="")
    frame = pd.concat([whole, *of_degrees])
    frame = frame.assign(minus=frame["line"].map({p.line: p.minus for p in run.study.points}))
    adds = markdown.pivot(added(frame, run.study), "head", "part", "text")
    heads, fits = whole["task"].map(run.study.shown), whole["train"].map(markdown.value)
    trained = markdown.pivot(whole.assign(head=heads, text=fits), "line", "head", "text")
    titles = "## What each adds", "## Scores on the training rows"
    return frame, [titles[0], adds.rename_axis(""), titles[1], trained.rename_axis("")]
