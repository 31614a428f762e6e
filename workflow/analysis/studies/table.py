"""The table of a study: each of its lines at each value, on every task and in their mean.

`diff` is the paired difference to what the study compares with: the first reference; else the
first line, at the same value; of a single line the line's first value.

`along` is the difference to the first value of the same line, where `diff` is to something else.

Of several lines along an axis, `change` is how far the difference of a line to the first line has
moved since the first value (a difference of differences), paired by row and seed. In `train_size`
it is how much more, or less, a part of the method gives of all labelled rows than of few.
"""

import math
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

import tasks
from workflow.analysis import markdown
from workflow.analysis.notes import Notes
from workflow.analysis.stats.pooling import SeedPool, columns, paired
from workflow.analysis.stats.sample import Heads, Scores
from workflow.analysis.stats.samples import Samples, lines
from workflow.analysis.studies import few_rows, knockout, zero_shot
from workflow.analysis.table import Table
from workflow.grid import Grid
from workflow.study_plan import Point, StudyPlan


def build(results: Path, grid: Grid, study: StudyPlan) -> Table:
    """The table of a study of whole cells."""
    notes, samples = Notes.read(results, study.tasks), _samples(results, grid, study)
    scores = {
        (point.line, point.value): {c.task: samples.headline(c) for c in point.cells}
        for point in study.points
    }
    seeds = samples.seed_pool(grid).with_others(_distinct(study, scores))
    frame = compare(study, scores, samples.splits(study.tasks), notes, seeds)
    parts = wide(frame, study, notes)
    if study.axis == "train_share":
        known = few_rows.train_rows(results, study)
        places = zip(frame["task"], frame["value"], strict=True)
        frame = frame.assign(train_rows=[known.get(place, math.nan) for place in places])
    if study.axis == "checkpoint":
        frame, more = zero_shot.add(frame, results, study, scores)
        parts += more
    if study.predicted:
        frame, more = knockout.add(frame, study, scores, seeds)
        parts += more + knockout.probes(results, grid, study)
    return Table(frame, [*parts, *legend(notes)])


def _samples(results: Path, grid: Grid, study: StudyPlan) -> Samples:
    """Samples of the study's cells and of those of the run that are pooled; of those that ran."""
    found, seeds = Samples(), tuple(grid.seeds.finetune)
    examples, shares = results / "examples", few_rows.shares(study)
    for cell in dict.fromkeys([*study.cells(), *grid.pooled(study.cells())]):
        if cell.path(results).exists():
            share = shares.get(cell)
            own = (
                few_rows.bag_of_words(examples / cell.task, cell.task, share, seeds)
                if share
                else None
            )
            found.add(cell, results, seeds, bag_of_words=own)
    return found


def _distinct(study: StudyPlan, scores: Scores) -> list[Heads]:
    """The scores of those points that have cells of their own."""
    return list({tuple(point.cells): scores[point.place] for point in study.points}.values())


def compare(
    study: StudyPlan, scores: Scores, splits: Mapping[str, str], notes: Notes, seeds: SeedPool
) -> pd.DataFrame:
    """One row per (line, value, task), and per (line, value) the mean of several tasks."""
    averages = {"mean": study.tasks} if len(study.tasks) > 1 else {}
    facts = lines(splits, averages, notes)

    def rows(point: Point) -> Iterator[dict[str, Any]]:
        heads, base = scores[point.place], reference(study, point)
        compared: dict[str, Heads] = {
            "diff": paired(heads, scores[base]) if base != point.place else {}
        }
        if any(is_along(study, one) for one in study.points):
            start = scores.get((point.line, study.values[0]), {})
            compared["along"] = paired(heads, start) if is_along(study, point) else {}
        if any(has_change(study, one) for one in study.points):
            compared["change"] = _change(study, scores, point) if has_change(study, point) else {}
        cells = {cell.task: cell.place for cell in point.cells}
        for task, row in columns(heads, averages, seeds, **compared).items():
            place = {"line": point.line, "value": point.value, "task": task}
            yield {**place, **facts[task], "cell": cells.get(task), **row}

    return pd.DataFrame(row for point in study.points for row in rows(point))


def reference(study: StudyPlan, point: Point) -> tuple[str, str]:
    """The line and the value of what a point is compared with; of that one itself, its own."""
    if study.references:
        return study.references[0], ""
    if len(study.lines) > 1:
        return study.lines[0], point.value
    return point.line, study.points[0].value


def is_along(study: StudyPlan, point: Point) -> bool:
    """Whether a point is compared with its line's first value beside what `diff` compares it with.

    It is where the axis has moved on, unless the cells are the same.
    """
    if point.value not in study.values[1:]:
        return False
    start = point.line, study.values[0]
    (cells,) = (one.cells for one in study.points if one.place == start)
    return reference(study, point) != start and point.cells != cells


def has_change(study: StudyPlan, point: Point) -> bool:
    """Whether it is told how a point's difference to the first line has changed.

    It is at the last value, unless both lines have the same cells at the first value and there.
    """
    values, base = study.values, study.lines[0]
    if study.references or point.line == base or point.value not in values[1:][-1:]:
        return False
    cells = {one.place: one.cells for one in study.points}
    return any(cells[base, v] != cells[point.line, v] for v in (values[0], point.value))


def _change(study: StudyPlan, scores: Scores, point: Point) -> Heads:
    before, after = (
        paired(scores[point.line, value], scores[study.lines[0], value])
        for value in (study.values[0], point.value)
    )
    return paired(after, before)


def wide(frame: pd.DataFrame, study: StudyPlan, notes: Notes) -> list[str | pd.DataFrame]:
    """The scores, the differences and the changes, each with points down and tasks across."""
    heads = {
        name: f"{notes.mark(name)} ({markdown.METRICS[tasks.task(name).metric]})"
        for name in study.tasks
    }
    heads["mean"] = f"mean of {len(study.tasks)}"
    shown = frame.assign(
        row=[label(study, *place) for place in zip(frame["line"], frame["value"], strict=True)],
        head=frame["task"].map(heads),
        score=frame.apply(markdown.score, axis=1),
    )
    scores = markdown.pivot(shown, "row", "head", "score")
    if shown["majority"].notna().any():
        scores = pd.concat([scores, *_baselines(shown, study)])
    compared = [p.place for p in study.points if reference(study, p) != p.place]
    changed = [p.place for p in study.points if has_change(study, p)]
    parts: list[str | pd.DataFrame] = [f"# {study.title}", scores.rename_axis("")]
    parts += _against(shown, "diff", compared, f"Difference to {compared_with(study)}")
    since = f"{study.axis} {study.values[0]}" if study.values else ""
    along = [p.place for p in study.points if is_along(study, p)]
    parts += _against(shown, "along", along, f"Difference of each line to its own {since}")
    title = f"Change of the difference to {study.lines[0]} since {since}"
    parts += _against(shown, "change", changed, title)
    explained = f"Below 0: {study.lines[0]} is further ahead than at {since}, or less behind."
    return [*parts, explained] if changed else parts


def _baselines(shown: pd.DataFrame, study: StudyPlan) -> list[pd.DataFrame]:
    """The baselines, at each value if one of them was fitted to that value's rows."""
    whole = markdown.baselines(shown, "head")
    if shown.groupby("head")["bag_of_words"].nunique().max() < 2:
        return [whole]
    words = markdown.BASELINES["bag_of_words"]
    by_value = [
        markdown.baselines(rows, "head")
        .loc[[words]]
        .rename({words: f"{words}, {study.axis} {value}"})
        for value, rows in shown[shown["value"] != ""].groupby("value", sort=False)
    ]
    return [whole.drop(index=words), *by_value]


def _against(
    shown: pd.DataFrame, name: str, places: Collection[tuple[str, str]], title: str
) -> list[str | pd.DataFrame]:
    """A section of those points that are compared; nothing where none is."""
    rows = [place in places for place in zip(shown["line"], shown["value"], strict=True)]
    if not any(rows):
        return []
    mine = shown[rows]
    texts = markdown.intervals(mine, name, f"{name}_low", f"{name}_high")
    found = markdown.pivot(mine.assign(text=texts), "row", "head", "text")
    return [f"## {title}", found.rename_axis("")]


def label(study: StudyPlan, line: str, value: str) -> str:
    """A point in words: its line, where there are several, and the value of the axis."""
    several = len(study.lines) + len(study.references) > 1 or not study.axis
    at = f"{study.axis} {value}" if value else ""
    return ", ".join(filter(None, (line if several else "", at)))


def compared_with(study: StudyPlan) -> str:
    """What the differences are to, in words."""
    last = study.points[-1]
    line, value = reference(study, last)
    if line == last.line:
        return f"{study.axis} {value}"
    return f"{line} at the same {study.axis}" if value else line


def legend(notes: Notes) -> list[str]:
    """What stands below the sections."""
    return [
        *notes.footnote(),
        "`a [b, c]`: the difference, paired by row and seed, and its 95 % interval, of the kind of "
        f"`ci_low` and `ci_high`. {markdown.LEGEND}",
    ]
