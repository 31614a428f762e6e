"""The table of a study: each of its lines at each value, on every task and in their mean.

`diff` is the paired difference to what the study compares with: the first line that stands beside
the axis; else the first line, at the same value; of a single line its first value.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

import tasks
from workflow.analysis import markdown
from workflow.analysis.cells import COLUMNS
from workflow.analysis.collect import cell_rows
from workflow.analysis.moderation import estimates
from workflow.analysis.notes import Notes
from workflow.analysis.samples import Samples
from workflow.analysis.statistics import (
    add_interval,
    average,
    complete,
    headline,
    headline_splits,
    official_sets,
    summarise,
)
from workflow.analysis.studies import constant, contrasts, knockout, zero_shot_correlation
from workflow.analysis.table import DECIMALS, Table
from workflow.analysis.uncertainty import Estimate, Sample, difference
from workflow.grid import Grid
from workflow.study_plan import Point, StudyPlan, books_folder

KEY = ["line", "value", "task"]
Heads = Mapping[str, Sample | None]  # by task


def build(results: Path, grid: Grid, study: StudyPlan) -> Table:
    """One row per (line, value, task), and per (line, value) the mean of several tasks."""
    notes, seeds = Notes.read(results, study.tasks), grid.seeds.finetune
    scores = {
        (point.line, point.value): pd.DataFrame(
            [
                row
                for c in point.cells
                for row in cell_rows(c, point.folder(results), seeds, notes.of(c.task))
            ],
            columns=COLUMNS,
        )
        for point in study.points
    }
    cells = pd.concat(scores.values(), ignore_index=True)
    summaries = [
        _summary(rows, study.tasks).assign(line=line, value=value)
        for (line, value), rows in scores.items()
    ]
    table = complete(pd.concat(summaries, ignore_index=True), _wanted(study, cells, notes), KEY)
    samples = {name: Samples(books_folder(results, name), grid, cells) for name in study.books()}
    heads = {
        (point.line, point.value): {c.task: samples[point.books].headline(c) for c in point.cells}
        for point in study.points
    }
    table = _with_intervals(table, study, heads)
    parts = [*_wide(table, study, notes), *contrasts.parts(study, heads)]
    if study.axis == "update":
        table, more = zero_shot_correlation.add(table, results, study, heads)
        parts += more
    if study.predicted:
        table, more = knockout.add(table, study, heads)
        parts += more + constant.parts(table, study, scores)
        parts += knockout.probes(results, grid, study)
    decimals = DECIMALS | {"zero_shot": 4} | knockout.DECIMALS
    return Table(table, [*parts, *_legend(study, notes)], decimals)


def reference(study: StudyPlan, point: Point) -> tuple[str, str]:
    """The line and the value of what a point is compared with; of that one itself, its own."""
    if study.beside:
        return study.beside[0], ""
    if len(study.lines) > 1:
        return study.lines[0], point.value
    return point.line, study.points[0].value


def _summary(rows: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    heads = headline(rows, names)
    return summarise(pd.concat([heads, average(heads, names, "mean")]), ["task"])


def _wanted(study: StudyPlan, cells: pd.DataFrame, notes: Notes) -> pd.DataFrame:
    splits = {name: "+".join(headline_splits(name, cells)) for name in study.tasks}
    rows = [
        {
            **{"line": point.line, "value": point.value},
            **{"task": cell.task, "cell": point.place(cell)},
            **{"metric": tasks.task(cell.task).metric, "split": splits[cell.task]},
            "note": notes.of(cell.task),
        }
        for point in study.points
        for cell in point.cells
    ]
    mean = {"task": "mean", "metric": "mean", "split": official_sets("+".join(splits.values()))}
    mean["note"] = notes.joined(study.tasks)
    points = study.points if len(study.tasks) > 1 else []
    rows += [{"line": point.line, "value": point.value, **mean} for point in points]
    return pd.DataFrame(rows)


def _with_intervals(
    table: pd.DataFrame, study: StudyPlan, heads: Mapping[tuple[str, str], Heads]
) -> pd.DataFrame:
    scores: dict[tuple, Estimate] = {}
    diffs: dict[tuple, Estimate] = {}
    averages = {"mean": study.tasks}
    for point in study.points:
        place, base = (point.line, point.value), reference(study, point)
        scores |= {(*place, t): e for t, e in estimates(heads[place], averages).items()}
        if base != place:
            paired = {t: difference(head, heads[base][t]) for t, head in heads[place].items()}
            diffs |= {(*place, t): e for t, e in estimates(paired, averages).items()}
    table = add_interval(table, scores, KEY)
    names = {"ci_low": "diff_low", "ci_high": "diff_high"}
    limits = add_interval(table, diffs, KEY)[list(names)].rename(columns=names)
    places = table[KEY].itertuples(index=False, name=None)
    diff = [diffs[place].value if place in diffs else np.nan for place in places]
    return table.assign(diff=diff, **limits)


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
    several = len(study.lines) + len(study.beside) > 1 or not study.axis
    at = f"{study.axis} {value}" if value else ""
    return ", ".join(filter(None, (line if several else "", at)))


def compared_with(study: StudyPlan) -> str:
    """What the differences are to, in words."""
    if study.beside:
        return study.beside[0]
    if len(study.lines) > 1:
        return study.lines[0] + (f" at the same {study.axis}" if study.axis else "")
    return f"{study.axis} {study.points[0].value}"


def _legend(study: StudyPlan, notes: Notes) -> list[str]:
    return [
        *notes.footnote(),
        f"`a [b, c]`: the difference, paired by row and seed, and {markdown.INTERVAL}. "
        + markdown.LEGEND,
    ]
