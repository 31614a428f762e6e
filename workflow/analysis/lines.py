"""The frame of a study, and its Markdown: each line, at each value of the axis, on every task.

`diff` is the paired difference to what the study compares with: the first reference; else the
first line, at the same value; of a single line the line's first value.

`along` is the difference to the first value of the same line, where `diff` is to something else.

Of several lines along an axis, `change` is how far the difference of a line to the first line has
moved since the first value (a difference of differences), paired by row and seed. In `train_size`
it is how much more, or less, a part of the method gives of all labelled rows than of few.

Where a loss of the gain by pre-training was predicted, `beyond` is what is lost beyond half of it.

Table 5 and Figure 2 are such frames, too; degrees, heat map and shares of the gain are views.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

import tasks
from gpt1.cell import Cell
from workflow.analysis import markdown
from workflow.analysis.notes import Notes
from workflow.analysis.stats.pooling import SeedPool, columns, paired
from workflow.analysis.stats.sample import Heads, Sample, Scores, combine
from workflow.analysis.stats.samples import Samples, official_sets
from workflow.grid import Grid
from workflow.study_plan import Point, StudyPlan

CELL = ("arch", "aux", "corpus", "n_transfer")  # columns that a cell gives
Score = Callable[[Cell], Sample | None]


@dataclass(frozen=True)
class Lines:
    """A study with the samples of its cells and of the run's; `averages` are means over tasks."""

    study: StudyPlan
    grid: Grid
    samples: Samples
    notes: Notes
    averages: Mapping[str, Sequence[str]]

    def scores(self, score: Score | None = None) -> Scores:
        """By line and value the `score` of each task, without one the headline."""
        score = score or self.samples.headline
        return {
            point.place: {cell.task: score(cell) for cell in point.cells}
            for point in self.study.points
        }

    def pool(self, score: Score | None = None) -> SeedPool:
        """The run's pool of seeds; the study's own for an architecture that the run has not."""
        scores = self.scores(score)
        own = {tuple(point.cells): scores[point.place] for point in self.study.points}
        return self.samples.seed_pool(self.grid, score).with_others(own.values())

    def frame(self, score: Score | None = None) -> pd.DataFrame:
        """One row per (line, value) and average or task, by the headline or another `score`."""
        scores, pool, facts = self.scores(score), self.pool(score), self._facts()
        order = [*self.averages, *self.study.tasks]

        def rows(point: Point) -> Iterator[dict[str, Any]]:
            compared = differences(self.study, scores, point)
            cells = {cell.task: cell for cell in point.cells}
            found = columns(scores[point.place], self.averages, pool, **compared)
            for task in order:
                place = {"line": point.line, "value": point.value, "task": task}
                place |= {key: str(getattr(point.cells[0], key)) for key in CELL}
                cell = cells[task].place if task in cells else None
                yield {**place, "cell": cell, **facts[task], **found[task]}

        return pd.DataFrame(row for point in self.study.points for row in rows(point))

    def _facts(self) -> dict[str, dict[str, str]]:
        """Metric, splits and note of each task and of each average."""
        splits, notes = self.samples.splits(self.study.tasks), self.notes
        found = {
            name: {"metric": tasks.task(name).metric, "split": split, "note": notes.of(name)}
            for name, split in splits.items()
        }
        for label, members in self.averages.items():
            sets = official_sets("+".join(splits[name] for name in members))
            found[label] = {"metric": "mean", "split": sets, "note": notes.joined(members)}
        return found

    def titles(self) -> dict[str, str]:
        """The head of each average and of each task, with metric and official set."""
        heads = {label: f"mean of {len(members)}" for label, members in self.averages.items()}
        for task, split in self.samples.splits(self.study.tasks).items():
            metric, sets = markdown.METRICS[tasks.task(task).metric], official_sets(split)
            heads[task] = f"{self.notes.mark(task)} ({metric}, {sets})"
        return heads

    def legend(self) -> list[str]:
        """What stands below the sections."""
        return [
            *self.notes.footnote(),
            "`a [b, c]`: the difference, paired by row and seed, and its 95 % interval, of the "
            f"kind of `ci_low` and `ci_high`. {markdown.LEGEND}",
        ]


def differences(study: StudyPlan, scores: Scores, point: Point) -> dict[str, Heads]:
    """What a point is compared with, by the columns that some points of the study have."""
    heads, base = scores[point.place], reference(study, point)
    found: dict[str, Heads] = {"diff": paired(heads, scores[base]) if base != point.place else {}}
    if any(is_along(study, one) for one in study.points):
        start = scores.get((point.line, study.values[0]), {})
        found["along"] = paired(heads, start) if is_along(study, point) else {}
    if any(has_change(study, one) for one in study.points):
        found["change"] = _change(study, scores, point) if has_change(study, point) else {}
    if study.predicted:
        found["beyond"] = _beyond(study, scores, point) if point.line in study.lines else {}
    return found


def reference(study: StudyPlan, point: Point) -> tuple[str, str]:
    """The line and the value of what a point is compared with; of that one itself, its own."""
    if study.references:
        return study.references[0], ""
    at_value = study.lines[0], point.value
    if len(study.lines) > 1 and at_value in (one.place for one in study.points):
        return at_value
    return point.line, next(one.value for one in study.points if one.line == point.line)


def is_along(study: StudyPlan, point: Point) -> bool:
    """Whether a point is compared with its line's first value beside what `diff` compares it with.

    It is where the axis has moved on, unless the cells are the same.
    """
    if point.value not in study.values[1:]:
        return False
    start = point.line, study.values[0]
    cells = next((one.cells for one in study.points if one.place == start), point.cells)
    return reference(study, point) != start and point.cells != cells


def has_change(study: StudyPlan, point: Point) -> bool:
    """Whether it is told how a point's difference to the first line has changed.

    It is at the last value, unless both lines have the same cells at the first value and there.
    """
    values, base = study.values, study.lines[0]
    if study.references or point.line == base or point.value not in values[1:][-1:]:
        return False
    cells = {one.place: one.cells for one in study.points}
    ends = [(line, value) for value in (values[0], values[-1]) for line in (base, point.line)]
    if any(end not in cells for end in ends):
        return False
    return any(cells[base, v] != cells[point.line, v] for v in (values[0], point.value))


def _change(study: StudyPlan, scores: Scores, point: Point) -> Heads:
    before, after = (
        paired(scores[point.line, value], scores[study.lines[0], value])
        for value in (study.values[0], point.value)
    )
    return paired(after, before)


def _beyond(study: StudyPlan, scores: Scores, point: Point) -> Heads:
    """What is lost beyond half of the gain, which the first reference has over the second."""
    full, none = (scores[line, ""] for line in study.references)
    found: dict[str, Sample | None] = {}
    for task, own in scores[point.place].items():
        three = [one for one in (full[task], none[task], own) if one]
        found[task] = combine(three, [0.5, 0.5, -1.0]) if len(three) == 3 else None
    return found


def wide(frame: pd.DataFrame, study: StudyPlan) -> pd.DataFrame:
    """The scores of a frame with a column `head`: points down, heads across, baselines below.

    Below a line stand the scores that the paper prints of it, if there are any.
    """
    frame = named(frame, study)
    shown = []
    for row, mine in frame.groupby("row", sort=False):
        shown.append(markdown.scores(mine, row))
        if "paper" in mine and mine["paper"].notna().any():
            printed = mine["paper"].map(markdown.value)
            shown.append(mine.assign(line=f"*paper: {row}*", shown=printed))
    return markdown.with_baselines(pd.concat(shown), _baselines(frame, study)).rename_axis("")


def named(frame: pd.DataFrame, study: StudyPlan) -> pd.DataFrame:
    """The frame with each point in words, in a column `row`."""
    places = zip(frame["line"], frame["value"], strict=True)
    return frame.assign(row=[label(study, *place) for place in places])


def _baselines(frame: pd.DataFrame, study: StudyPlan) -> pd.DataFrame:
    """The baselines, at each value if one of them was fitted to that value's rows."""
    whole = markdown.baselines(frame, "head")
    if frame.groupby("head")["bag_of_words"].nunique().max() < 2:
        return whole
    words = markdown.BASELINES["bag_of_words"]
    by_value = [
        markdown.baselines(rows, "head")
        .loc[[words]]
        .rename({words: f"{words}, {study.axis} {value}"})
        for value, rows in frame[frame["value"] != ""].groupby("value", sort=False)
    ]
    return pd.concat([whole.drop(index=words), *by_value])


def compared(frame: pd.DataFrame, study: StudyPlan) -> list[str | pd.DataFrame]:
    """The sections of differences of a frame with a column `head`: heads down, points across."""
    frame, base = named(frame, study), study.lines[0]
    apart = [p.place for p in study.points if reference(study, p) != p.place]
    along = [p.place for p in study.points if is_along(study, p)]
    changed = [p.place for p in study.points if has_change(study, p)]
    since = f"{study.axis} {study.values[0]}" if study.values else ""
    parts = _against(frame, "diff", apart, f"Difference to {compared_with(study)}")
    parts += _against(frame, "along", along, f"Difference of each line to its own {since}")
    title = f"Change of the difference to {base} since {since}"
    parts += _against(frame, "change", changed, title)
    explained = f"Below 0: {base} is further ahead than at {since}, or less behind."
    return [*parts, explained] if changed else parts


def _against(
    frame: pd.DataFrame, name: str, places: Collection[tuple[str, str]], title: str
) -> list[str | pd.DataFrame]:
    """A section of those points that are compared; nothing where none is."""
    rows = [place in places for place in zip(frame["line"], frame["value"], strict=True)]
    if not any(rows):
        return []
    mine = frame[rows]
    texts = markdown.intervals(mine, name, f"{name}_low", f"{name}_high")
    found = markdown.pivot(mine.assign(text=texts), "head", "row", "text")
    found = found if len(found.columns) <= len(found) else found.T
    return [f"## {title}", found.rename_axis("").rename_axis("", axis="columns")]


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
