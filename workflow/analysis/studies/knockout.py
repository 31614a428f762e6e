"""What a line of a study loses of the gain by pre-training, beside what was predicted.

The gain is the score of the first reference, which is pre-trained, over that of the second, which
is not. A line has lost it on a task where its own gain is less than half of that; the prediction
says on which tasks it has. What is judged is the contrast (full + none) / 2 - line, paired by row
and by seed, in points: above 0 half of the gain or more is lost.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
from scipy import stats

import tasks
from workflow.analysis import markdown
from workflow.analysis.lines import Lines
from workflow.analysis.markdown import MISSING
from workflow.analysis.records import ProbeScores
from workflow.analysis.stats.pooling import NO_POOL, SeedPool, estimates
from workflow.analysis.stats.sample import Heads, combine, difference
from workflow.grid import Grid
from workflow.study_plan import StudyPlan

LOST, KEPT = "lost", "kept"
COLUMNS = ["predicted", "lost", "beyond", "beyond_low", "beyond_high", "found", "decided"]
BELOW = "below_constant"
MARK = "‡"
LEAST = 5.0  # points; of less there is nothing to lose
LEGEND = (
    "Share of the gain by pre-training that is lost, in percent; in bold where half or more was "
    "predicted to be. `hit`: it lies on the predicted side of 50, `miss`: on the other; `?`: the "
    "95 % interval of the loss beyond half of the gain includes 0. A dash: the gain is below "
    f"{LEAST:g} points. `{MARK}` (`{BELOW}` in the CSV): without pre-training the score is below "
    "the constant answer's, so a part of the gain is what this answer has too. In the CSV `lost` "
    "is the share, `beyond` the points lost beyond half of the gain, with their interval."
)


def is_below(table: pd.DataFrame, study: StudyPlan) -> pd.Series:
    """By task, whether the line without pre-training is below the constant answer."""
    none = table[table["line"] == study.references[1]].set_index("task")
    return none["mean"] < none["majority"]


def add(table: pd.DataFrame, run: Lines) -> tuple[pd.DataFrame, list[str | pd.DataFrame]]:
    """The table with COLUMNS and BELOW for each line and task, the matrix and the counts."""
    study, scores, seeds = run.study, run.scores(), run.pool()
    full, none = (scores[line, ""] for line in study.references)
    judged = [
        {"line": line, "task": task, **row}
        for line in study.lines
        for task, row in judge(full, none, scores[line, ""], study.predicted[line], seeds).items()
    ]
    frame = pd.DataFrame(judged, columns=["line", "task", *COLUMNS])
    frame[BELOW] = frame["task"].map(is_below(table, study).map({True: "yes", False: "no"}))
    table = table.merge(frame, on=["line", "task"], how="left")
    if frame.empty:
        return table, []
    marked = frame[BELOW].map({"yes": MARK, "no": ""})
    shown = frame.assign(
        head=frame["task"].map(lambda name: tasks.task(name).title) + marked,
        shown=frame.apply(_shown, axis=1),
    )
    return table, [
        "## Share of the gain by pre-training that is lost",
        markdown.pivot(shown, "line", "head", "shown").rename_axis(""),
        LEGEND,
        "## The prediction",
        count(frame),
        "In {} of {} tasks the lines that were predicted to cost the gain cost more of it than the "
        "others do (sign test over tasks: p {:.2g}).".format(*ranked(frame)),
    ]


def judge(
    full: Heads, none: Heads, line: Heads, predicted: list[str], seeds: SeedPool = NO_POOL
) -> dict[str, dict[str, Any]]:
    """Of each task that all three have been run on, COLUMNS; without `found` where no gain is."""
    contrasts = {
        task: combine([a, b, c], [0.5, 0.5, -1.0])
        for task, c in line.items()
        if (a := full[task]) is not None and (b := none[task]) is not None and c is not None
    }
    rows = {}
    for task, estimate in estimates(contrasts, seeds=seeds).items():
        gain, loss = difference(full[task], none[task]), difference(full[task], line[task])
        low, high = estimate.interval
        row = {"predicted": LOST if task in predicted else KEPT, "beyond": estimate.value}
        row |= {"beyond_low": low, "beyond_high": high}
        if gain is not None and loss is not None and gain.value >= LEAST:
            row |= {"lost": loss.value / gain.value, "found": LOST if estimate.value > 0 else KEPT}
            row["decided"] = "yes" if low > 0 or high < 0 else "no"
        rows[task] = row
    return rows


def count(judged: pd.DataFrame) -> pd.DataFrame:
    """Cells, hits and misses by what was predicted, and those that the interval decides."""
    judged = judged.dropna(subset="found")
    hit, sure = judged["predicted"] == judged["found"], judged["decided"] == "yes"
    counted = pd.DataFrame(
        {
            "cells": hit | ~hit,
            "hits": hit,
            "misses": ~hit,
            "hits decided": hit & sure,
            "misses decided": ~hit & sure,
        }
    )
    of = counted.groupby(judged["predicted"]).sum().reindex([LOST, KEPT], fill_value=0)
    of.loc["all"] = of.sum()
    return of.rename({LOST: "to be lost", KEPT: "to be kept"}).rename_axis("predicted")


def ranked(judged: pd.DataFrame) -> tuple[int, int, float]:
    """In how many tasks the lines predicted to cost the gain do cost more of it; of how many; p.

    The tasks are the sample (one-sided sign test): the lines of a task hang together, as where each
    of two leaves out what the other one has.
    """
    means = judged.pivot_table("lost", "task", "predicted", "mean").reindex(columns=[LOST, KEPT])
    difference = (means[LOST] - means[KEPT]).dropna()
    n, of = int((difference > 0).sum()), len(difference)
    return n, of, stats.binomtest(n, of, alternative="greater").pvalue if of else float("nan")


def _shown(row: Mapping[str, Any]) -> str:
    if pd.isna(row["found"]):
        return markdown.NONE
    share = f"{round(100 * row['lost'])}"
    share = f"**{share}**" if row["predicted"] == LOST else share
    verdict = "hit" if row["found"] == row["predicted"] else "miss"
    return f"{share} {verdict}{'' if row['decided'] == 'yes' else '?'}"


def probes(results: Path, grid: Grid, study: StudyPlan) -> list[str | pd.DataFrame]:
    """What each language model has learnt of each skill, for reading; nothing if not scored."""
    models, update = grid.sources(study.points[0].cells[0]), grid.updates[-1]
    lines = {point.model: point.line for point in reversed(study.points)}  # the first one of each
    rows = []
    for variant, line in reversed(lines.items()):
        for model in models:
            own = replace(model, variant=variant)
            place = {"arch": own.arch, "corpus": own.corpus, "seed": own.seed, "update": update}
            scored = ProbeScores.find(own.probes(results, update), **place)
            for skill, score in scored.skills.items() if scored else ():
                rows.append((skill, line, own.seed, score.accuracy, score.chance))
    if not rows:
        return []
    found = pd.DataFrame(rows, columns=["skill", "line", "seed", "accuracy", "chance"])
    seeds = [model.seed for model in models]
    wide = found.pivot(index="skill", columns=["line", "seed"], values="accuracy")
    wide = wide.reindex(index=found["skill"].unique())

    def shown(line: str) -> list[str]:
        of = wide[line].reindex(columns=seeds).map(lambda x: f"{x:.0f}").replace("nan", MISSING)
        return [" / ".join(row) for row in of.to_numpy()]

    frame = pd.DataFrame({line: shown(line) for line in found["line"].unique()}, index=wide.index)
    frame["chance"] = found.groupby("skill")["chance"].last().map("{:.0f}".format)
    told = f"of the model of pre-training seed {' / '.join(map(str, seeds))}"
    return ["## Probes", frame, f"Accuracy after update {update}, {told}."]
