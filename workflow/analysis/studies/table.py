"""The table of a study: each of its lines at each value, on every task and in their mean.

`diff` is the paired difference to what the study compares with: the first reference; else
the first line, at the same value; of a single line its first value.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import tasks
from workflow.analysis import markdown
from workflow.analysis.notes import Notes
from workflow.analysis.stats.estimate import Sample, difference, mean_of, numbers
from workflow.analysis.stats.pooling import estimates
from workflow.analysis.stats.samples import Samples, official_sets
from workflow.analysis.studies import constant, contrasts, knockout, zero_shot_correlation
from workflow.analysis.table import DECIMALS, Table
from workflow.grid import Grid
from workflow.study_plan import Point, StudyPlan

Heads = Mapping[str, Sample | None]  # by task


def build(results: Path, grid: Grid, study: StudyPlan) -> Table:
    """One row per (line, value, task), and per (line, value) the mean of several tasks."""
    notes, samples = Notes.read(results, study.tasks), _samples(results, grid, study)
    heads = {
        (point.line, point.value): {c.task: samples.headline(c) for c in point.cells}
        for point in study.points
    }
    table = pd.DataFrame(_rows(study, samples, heads, notes))
    parts = [*_wide(table, study, notes), *contrasts.parts(study, heads)]
    if study.axis == "checkpoint":
        table, more = zero_shot_correlation.add(table, results, study, heads)
        parts += more
    if study.predicted:
        table, more = knockout.add(table, study, heads)
        parts += more + constant.parts(table, study, samples)
        parts += knockout.probes(results, grid, study)
    decimals = DECIMALS | {"zero_shot": 4} | knockout.DECIMALS
    return Table(table, [*parts, *_legend(study, notes)], decimals)


def _samples(results: Path, grid: Grid, study: StudyPlan) -> Samples:
    """Samples of the study's cells that were run."""
    found = Samples()
    for cell in study.cells():
        if cell.path(results).exists():
            found.add(cell, results, grid.seeds.finetune)
    return found


def reference(study: StudyPlan, point: Point) -> tuple[str, str]:
    """The line and the value of what a point is compared with; of that one itself, its own."""
    if study.references:
        return study.references[0], ""
    if len(study.lines) > 1:
        return study.lines[0], point.value
    return point.line, study.points[0].value


def _rows(
    study: StudyPlan,
    samples: Samples,
    heads: Mapping[tuple[str, str], Heads],
    notes: Notes,
) -> Iterator[dict[str, Any]]:
    averages = {"mean": study.tasks} if len(study.tasks) > 1 else {}
    splits = {}
    for point in study.points:
        place, base = (point.line, point.value), reference(study, point)
        scores = estimates(heads[place], averages)
        paired = {t: difference(head, heads[base].get(t)) for t, head in heads[place].items()}
        diffs = estimates(paired, averages) if base != place else {}
        for cell in point.cells:
            splits[cell.task] = "+".join(samples.headline_splits(cell.task))
        facts = [
            {
                "task": cell.task,
                "cell": cell.place,
                "metric": tasks.task(cell.task).metric,
                "split": splits[cell.task],
                "note": notes.of(cell.task),
            }
            for cell in point.cells
        ]
        for mean in averages:
            sets = official_sets("+".join(splits[name] for name in study.tasks))
            note = notes.joined(study.tasks)
            facts.append({"task": mean, "metric": mean, "split": sets, "note": note})
        for of in facts:
            name = of["task"]
            sample = mean_of(heads[place], study.tasks) if name in averages else heads[place][name]
            diff = diffs.get(name)
            low, high = diff.interval if diff else (np.nan, np.nan)
            yield {
                **{"line": point.line, "value": point.value},
                **of,
                **numbers(sample, scores.get(name)),
                **{"diff": diff.value if diff else np.nan, "diff_low": low, "diff_high": high},
            }


def _wide(table: pd.DataFrame, study: StudyPlan, notes: Notes) -> list[str | pd.DataFrame]:
    heads = {
        name: f"{notes.mark(name)} ({markdown.METRICS[tasks.task(name).metric]})"
        for name in study.tasks
    }
    heads["mean"] = f"mean of {len(study.tasks)}"
    columns = (table[name] for name in ("diff", "diff_low", "diff_high"))
    shown = table.assign(
        row=[label(study, *place) for place in zip(table["line"], table["value"], strict=True)],
        head=table["task"].map(heads),
        score=table.apply(markdown.score, axis=1),
        against=[markdown.interval(*row) for row in zip(*columns, strict=True)],
    )
    scores = markdown.pivot(shown, "row", "head", "score")
    scores = pd.concat([scores, markdown.baselines(shown, "head")])
    compared = [reference(study, point) != (point.line, point.value) for point in study.points]
    labels = [label(study, point.line, point.value) for point in study.points]
    rows = [name for name, is_compared in zip(labels, compared, strict=True) if is_compared]
    against = markdown.pivot(shown, "row", "head", "against").loc[rows]
    parts: list[str | pd.DataFrame] = [f"# {study.title}", scores.rename_axis("")]
    if rows:
        parts += [f"## Difference to {compared_with(study)}", against.rename_axis("")]
    return parts


def label(study: StudyPlan, line: str, value: str) -> str:
    """A point in words: its line, where there are several, and the value of the axis."""
    several = len(study.lines) + len(study.references) > 1 or not study.axis
    at = f"{study.axis} {value}" if value else ""
    return ", ".join(filter(None, (line if several else "", at)))


def compared_with(study: StudyPlan) -> str:
    """What the differences are to, in words."""
    if study.references:
        return study.references[0]
    if len(study.lines) > 1:
        return study.lines[0] + (f" at the same {study.axis}" if study.axis else "")
    return f"{study.axis} {study.points[0].value}"


def _legend(study: StudyPlan, notes: Notes) -> list[str]:
    return [
        *notes.footnote(),
        f"`a [b, c]`: the difference, paired by row and seed, and {markdown.INTERVAL}. "
        + markdown.LEGEND,
    ]
