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
from gpt1.cell import PretrainedModel
from workflow.analysis import markdown
from workflow.analysis.records import ProbeScores, SkillScore
from workflow.analysis.stats.estimate import Sample, combine, difference
from workflow.analysis.stats.pooling import estimates
from workflow.analysis.studies.constant import LEAST, MARK, is_below
from workflow.grid import Grid
from workflow.study_plan import StudyPlan

Heads = Mapping[str, Sample | None]
LOST, KEPT = "lost", "kept"
COLUMNS = ["predicted", "lost", "beyond", "beyond_low", "beyond_high", "found", "decided"]
BELOW = "below_constant"
DECIMALS = dict.fromkeys(["lost", "beyond", "beyond_low", "beyond_high"], 4)
LEGEND = (
    "Share of the gain by pre-training that is lost, in percent; in bold where half or more was "
    "predicted to be. `hit`: it lies on the predicted side of 50, `miss`: on the other; `?`: the "
    "95 % interval of the loss beyond half of the gain holds 0. A dash: the gain is below "
    f"{LEAST:g} points. `{MARK}` (`{BELOW}` in the CSV): without pre-training the score is below "
    "the constant answer's, so a part of the gain is what this answer has too. In the CSV `lost` "
    "is the share, `beyond` the points lost beyond half of the gain, with their interval."
)


def add(
    table: pd.DataFrame, study: StudyPlan, heads: Mapping[tuple[str, str], Heads]
) -> tuple[pd.DataFrame, list[str | pd.DataFrame]]:
    """The table with COLUMNS and BELOW for each line and task, the matrix and the counts."""
    full, none = (heads[line, ""] for line in study.references)
    judged = [
        {"line": line, "task": task, **row}
        for line in study.lines
        for task, row in judge(full, none, heads[line, ""], study.predicted[line]).items()
    ]
    frame = pd.DataFrame(judged, columns=["line", "task", *COLUMNS])
    frame[BELOW] = frame["task"].map(is_below(table, study).map({True: "yes", False: "no"}))
    return table.merge(frame, on=["line", "task"], how="left"), _read(frame, study)


def judge(full: Heads, none: Heads, line: Heads, predicted: list[str]) -> dict[str, dict[str, Any]]:
    """Of each task that all three have been run on, COLUMNS; without `found` where no gain is."""
    known = {
        task: (a, b, c)
        for task in line
        if (a := full[task]) is not None
        and (b := none[task]) is not None
        and (c := line[task]) is not None
    }
    found = estimates({task: combine(of, [0.5, 0.5, -1.0]) for task, of in known.items()})
    rows = {}
    for task, estimate in found.items():
        a, b, c = known[task]
        gain, loss = difference(a, b), difference(a, c)
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
    hit = judged["predicted"] == judged["found"]
    sure = judged["decided"] == "yes"
    rows = {}
    for name, of in (("to be lost", LOST), ("to be kept", KEPT), ("all", None)):
        mine = (judged["predicted"] == of) | (of is None)
        rows[name] = {
            "cells": mine.sum(),
            "hits": (mine & hit).sum(),
            "misses": (mine & ~hit).sum(),
            "hits decided": (mine & hit & sure).sum(),
            "misses decided": (mine & ~hit & sure).sum(),
        }
    return pd.DataFrame(rows).T.rename_axis("predicted")


def chance(judged: pd.DataFrame) -> float:
    """How likely as many hits are of marks put at random (Fisher's exact test, one-sided)."""
    judged = judged.dropna(subset="found")
    sides = [
        [((judged["predicted"] == p) & (judged["found"] == f)).sum() for f in (LOST, KEPT)]
        for p in (LOST, KEPT)
    ]
    return float(stats.fisher_exact(sides, alternative="greater").pvalue)


def _read(judged: pd.DataFrame, study: StudyPlan) -> list[str | pd.DataFrame]:
    if judged.empty:
        return []
    shown = judged.assign(
        head=[
            tasks.task(row.task).title + MARK * (row.below_constant == "yes")
            for row in judged.itertuples()
        ],
        shown=judged.apply(_shown, axis=1),
    )
    matrix = markdown.pivot(shown, "line", "head", "shown").rename_axis("")
    counted = f"Marks at random would hit as many with a probability of {chance(judged):.2g}"
    return [
        "## Share of the gain by pre-training that is lost",
        matrix,
        LEGEND,
        "## The prediction",
        count(judged),
        f"{counted} (Fisher's exact test, as if cells were independent).",
    ]


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
    names = {point.model: point.line for point in reversed(study.points)}
    columns: dict[str, dict[str, str]] = {}
    chance: dict[str, str] = {}
    for variant, line in reversed(names.items()):
        own = [replace(model, variant=variant) for model in models]
        found = [_skills(model, results, update) for model in own]
        known = {name: f"{skill.chance:.0f}" for of in found for name, skill in of.items()}
        if known:
            columns[line] = {n: " / ".join(_accuracy(of, n) for of in found) for n in known}
            chance |= known
    if not columns:
        return []
    frame = pd.DataFrame({**columns, "chance": chance}).fillna(markdown.MISSING)
    seeds = " / ".join(str(model.seed) for model in models)
    explained = f"Accuracy after update {update}, of the model of pre-training seed {seeds}."
    return ["## Probes", frame.rename_axis("skill"), explained]


def _skills(model: PretrainedModel, results: Path, update: int) -> dict[str, SkillScore]:
    """A language model's score on each skill; empty if it was not scored."""
    path = model.probes(results, update)
    place = {"arch": model.arch, "corpus": model.corpus, "seed": model.seed, "update": update}
    return ProbeScores.read(path, **place).skills if path.exists() else {}


def _accuracy(skills: Mapping[str, SkillScore], name: str) -> str:
    return f"{skills[name].accuracy:.0f}" if name in skills else markdown.MISSING
