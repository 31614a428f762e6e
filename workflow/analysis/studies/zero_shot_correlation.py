"""Scores from each checkpoint beside its zero-shot scores: does one foretell the other?

Two measures, over the checkpoints of each pre-training seed. Spearman's correlation of the curves
is near 1 of any two that rise with the updates. So there is that of their changes from one
checkpoint to the next as well, which asks whether both rise at the same time.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

import tasks
from gpt1.cell import PretrainedModel
from workflow.analysis import markdown
from workflow.analysis.records import ZeroShotScore
from workflow.analysis.stats.estimate import LEVEL, Sample, estimate
from workflow.analysis.stats.trends import by_seed, rise
from workflow.study_plan import StudyPlan

Heads = Mapping[str, Sample | None]
Place = tuple[str, str, str]  # line, value, task
Pairs = Mapping[Place, Mapping[int, tuple[float, float]]]  # by seed: zero-shot, the study's score
# Where points scatter by themselves, a rise follows a fall, in both curves, and the variance of a
# correlation is that of fewer changes by this factor (Bartlett 1935): 1 + 2 x 0.5 x 0.5.
SCATTER = 1.5


def add(
    table: pd.DataFrame, results: Path, study: StudyPlan, heads: Mapping[tuple[str, str], Heads]
) -> tuple[pd.DataFrame, list[str | pd.DataFrame]]:
    """The table with a column `zero_shot`, the checkpoint's mean score; and what it foretells."""
    found: dict[Place, dict[int, tuple[float, float]]] = {}
    for point in study.points:
        for cell in point.cells:
            sample = heads[point.line, point.value][cell.task]
            seeds = dict.fromkeys(sample.pretrain) if sample and point.value else {}
            pairs = {}
            for seed in seeds:
                model = PretrainedModel(cell.arch, seed, cell.corpus)
                path = model.zero_shot(results, cell.task, int(point.value))
                if sample and path.exists():
                    mine = sample.score[np.array(sample.pretrain) == seed]
                    pairs[seed] = ZeroShotScore.read(path).score, float(mine.mean())
            found[point.line, point.value, cell.task] = pairs
    scores = {
        place: float(np.mean([zero for zero, _ in pairs.values()])) if pairs else float("nan")
        for place, pairs in found.items()
    }
    for point in study.points:  # NaN where a task of them has none
        of_tasks = [scores[point.line, point.value, task] for task in study.tasks]
        scores[point.line, point.value, "mean"] = float(np.mean(of_tasks))
    places = table[["line", "value", "task"]].itertuples(index=False, name=None)
    table = table.assign(zero_shot=[scores.get(place, np.nan) for place in places])
    return table, [*_scores(study, scores), *_correlations(study, found)]


def _scores(study: StudyPlan, scores: Mapping[Place, float]) -> list[str | pd.DataFrame]:
    """The zero-shot scores of the checkpoints, in the Markdown."""
    line = study.lines[0]
    names = {task: tasks.task(task).title for task in study.tasks}
    names |= {"mean": f"mean of {len(study.tasks)}"} if len(study.tasks) > 1 else {}
    rows = {
        f"{study.axis} {point.value}": {
            title: scores[line, point.value, name] for name, title in names.items()
        }
        for point in study.points
        if point.line == line
    }
    frame = pd.DataFrame.from_dict(rows, orient="index").dropna(axis=1, how="all")
    if frame.empty:
        return []
    shown = frame.map(lambda score: markdown.value(score, markdown.MISSING))
    return ["## The same checkpoints by the paper's zero-shot heuristics", shown.rename_axis("")]


def _correlations(study: StudyPlan, found: Pairs) -> list[str | pd.DataFrame]:
    curves, changes = {}, {}
    for line in study.lines:
        for task in study.tasks:
            title = tasks.task(task).title + (f", {line}" if len(study.lines) > 1 else "")
            of_seeds = _curves(found, line, task)
            ranks = {seed: rank_correlation(curve) for seed, curve in of_seeds.items()}
            sample = by_seed({seed: rank for seed, rank in ranks.items() if not np.isnan(rank)})
            if sample is not None:
                low, high = np.clip(estimate(sample).interval, -1.0, 1.0)
                curves[title] = markdown.interval(sample.value, low, high, decimals=2)
                between = correlation_of_changes(list(of_seeds.values()))
                changes[title] = markdown.interval(*between, decimals=2)
    if not curves:
        return []
    frame = pd.DataFrame({"of the curves": curves, "of their changes": changes})
    explained = (
        "Spearman's correlation of the heuristic's score (`zero_shot` in the CSV) with the score "
        "of this table. Of the curves: over the checkpoints, mean and 95 % interval over "
        "pre-training seeds; near 1 of any two curves that rise with the updates. Of their "
        "changes: over the steps from one checkpoint to the next, of all seeds, with its 95 % "
        "interval; above 0 where both rise at the same time."
    )
    heading = "## Rank correlation with the paper's zero-shot heuristics, along pre-training"
    return [heading, frame.rename_axis("task"), explained]


def _curves(found: Pairs, line: str, task: str) -> dict[int, list[tuple[float, float]]]:
    """By seed the pairs of a line and a task, in the order of the updates."""
    values = [value for name, value, of in found if (name, of) == (line, task) and value]
    curves: dict[int, list[tuple[float, float]]] = {}
    for value in sorted(values, key=int):
        for seed, pair in found[line, value, task].items():
            curves.setdefault(seed, []).append(pair)
    return curves


def rank_correlation(pairs: Sequence[tuple[float, float]]) -> float:
    """Spearman's correlation; NaN of fewer than three pairs or where one side is constant."""
    first, second = (np.array(side) for side in zip(*pairs, strict=True))
    if len(pairs) < 3 or not np.ptp(first) or not np.ptp(second):
        return float("nan")
    return float(stats.spearmanr(first, second).statistic)


def correlation_of_changes(
    curves: Sequence[Sequence[tuple[float, float]]],
) -> tuple[float, float, float]:
    """Spearman's correlation of the changes of both sides of the seeds' curves, and its interval.

    The sample are the changes of all seeds, as they are for the claim that zero-shot scores rise
    (`workflow.analysis.stats.trends.rise`). The interval is Fisher's; NaN of fewer than five
    changes.
    """
    sides = [rise([np.array(curve)[:, i] for curve in curves]) for i in (0, 1)]
    first, second = (np.empty(0) if side is None else side.changes for side in sides)
    value = rank_correlation(list(zip(first, second, strict=True))) if len(first) else np.nan
    if np.isnan(value) or len(first) < 5:
        return float(value), float("nan"), float("nan")
    half = stats.norm.ppf((1 + LEVEL) / 2) * np.sqrt(SCATTER / (len(first) - 3))
    z = np.arctanh(np.clip(value, -0.9999, 0.9999))
    return value, float(np.tanh(z - half)), float(np.tanh(z + half))
