"""The frame of a study, and its Markdown: each variant, at each value of the axis, on every task.

`diff` is a point's paired difference to its reference: the variant that its `minus` names; else the
study's first reference; else the first variant at the same value; in a study of one, its own
first value.

`train` is the mean score on the training rows. `along` is the difference to the first value of the
same variant, given where `diff` compares with something else.

With several variants along an axis, `change` is how much the difference of one to the first changes
from the first value to the last (a difference of differences), paired by row and seed. In
`train_size` it is how much more, or less, a part of the method gains with all labelled rows than
with few.

Table 5 and Figure 2 (left) are such frames, too; the tables of degrees are views of them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from gpt1.cell import Cell
from workflow.analysis import markdown
from workflow.analysis.rows import Notes
from workflow.analysis.stats.estimates import Estimate, TaskScores, numbers
from workflow.analysis.stats.samples import Samples, official_sets
from workflow.analysis.stats.scores import Score, average, equally
from workflow.grid import Grid, Point, StudyPlan

DIFFERENCES = ("diff", "along", "change")
ScoreOf = Callable[[Cell], Score | None]
Key = tuple[str, str]  # a point's title and value
Sum = list[tuple[float, Key]]


@dataclass(frozen=True)
class Lines:
    """A study with the samples of its cells and the run's; `averages` names means over tasks."""

    study: StudyPlan
    grid: Grid
    samples: Samples
    notes: Notes
    averages: Mapping[str, Sequence[str]]

    def scores(self, score: ScoreOf | None = None) -> dict[Key, TaskScores]:
        """The `score` of each task, or its headline score, by title and value."""
        score = score or self.samples.headline
        return {
            point.key: {task: score(Cell(point.variant.name, task)) for task in self.study.tasks}
            for point in self.study.points
        }

    def on(self, split: str, cell: Cell) -> Score | None:
        """The main metric of a cell on a split."""
        return self.samples.of(cell, split, self.grid.task(cell.task).metric)

    def frame(self, score: ScoreOf | None = None) -> pd.DataFrame:
        """One row per (line, value) and average or task, by the headline or another `score`.

        Few seeds are pooled over the run's variants, and the study's of kinds that the run lacks.
        """
        scores, facts = self.scores(score), self._facts()
        by_variant = {point.variant.name: scores[point.key] for point in self.study.points}
        pool = self.samples.seed_pool(self.grid, score).with_others(by_variant)
        known = {"diff"}.union(*(contrasts(self.study, point) for point in self.study.points))
        rows: list[dict[str, Any]] = []
        for point in self.study.points:
            sums = contrasts(self.study, point)
            cells = {task: Cell(point.variant.name, task) for task in self.study.tasks}
            train = {task: self.on("train", cell) for task, cell in cells.items()}
            for task in (*self.averages, *self.study.tasks):
                members = self.averages.get(task, [task])
                row: dict[str, Any] = {"line": point.line, "value": point.value, "task": task}
                row |= point.variant.columns
                row["cell"] = cells[task].name if task in cells else None
                own = pool.estimate([(1.0, scores[point.key])], equally(members))
                row |= {**facts[task], **numbers(own)}
                row["rows"] = own.score.n_rows if own else np.nan
                for name in (name for name in DIFFERENCES if name in known):
                    terms = [(weight, scores[key]) for weight, key in sums.get(name, [])]
                    row |= _difference(name, pool.estimate(terms, equally(members)))
                fit = average(train[name] for name in members)
                rows.append({**row, "train": fit.value if fit else np.nan})
        return pd.DataFrame(rows)

    def _facts(self) -> dict[str, dict[str, str]]:
        """Metric, splits and note of each task and of each average."""
        splits, notes = self.samples.splits(self.study.tasks), self.notes
        facts = {
            name: {"metric": self.grid.task(name).metric, "split": split, "note": notes.of(name)}
            for name, split in splits.items()
        }
        for label, members in self.averages.items():
            sets = official_sets("+".join(splits[name] for name in members))
            facts[label] = {"metric": "mean", "split": sets, "note": notes.joined(members)}
        return facts

    def titles(self, rows: str = "") -> dict[str, str]:
        """The heads of averages, and of tasks with their metric and official set, or `rows`."""
        titles = {label: f"mean of {len(members)}" for label, members in self.averages.items()}
        for task, split in self.samples.splits(self.study.tasks).items():
            metric = markdown.METRICS[self.grid.task(task).metric]
            titles[task] = f"{self.notes.mark(task)} ({metric}, {rows or official_sets(split)})"
        return titles

    def legend(self) -> list[str]:
        """The paragraphs below the sections."""
        return [
            *self.notes.footnote(),
            "`a [b, c]`: the difference, paired by row and seed, and its 95 % interval, of the "
            f"kind of `ci_low` and `ci_high`. {markdown.LEGEND}",
        ]


def contrasts(study: StudyPlan, point: Point) -> dict[str, Sum]:
    """A point's contrasts by column: weighted sums of points whose variants do not cancel out."""
    names = {one.key: one.variant.name for one in study.points}
    first, last = (study.values[0], study.values[-1]) if study.values else ("", "")
    here, start, base = point.key, (point.line, first), (study.lines[0], point.value)
    along = [(1.0, here), (-1.0, start)]
    sums: dict[str, Sum] = {"along": along if point.value else []}
    if point.value == last and not study.references:
        sums["change"] = [*along, (-1.0, base), (1.0, (study.lines[0], first))]

    def differs(total: Sum) -> bool:
        if any(key not in names for _, key in total):
            return False
        weights = {of: sum(w for w, one in total if names[one] == of) for of in names.values()}
        return any(weights.values())

    sums = {name: total for name, total in sums.items() if differs(total)}
    reference = reference_of(study, point)
    if sums.get("along") and reference == start:  # the same as `diff`
        del sums["along"]
    return sums if reference == here else {"diff": [(1.0, here), (-1.0, reference)], **sums}


def reference_of(study: StudyPlan, point: Point) -> Key:
    """The title and value that `diff` compares a point with; for that point itself, its own."""
    if point.minus:
        return point.minus, ""
    if study.references:
        return study.references[0], ""
    keys = [one.key for one in study.points]
    if len(study.lines) > 1 and (at_value := (study.lines[0], point.value)) in keys:
        return at_value
    return next(key for key in keys if key[0] == point.line)


def added(frame: pd.DataFrame, study: StudyPlan) -> pd.DataFrame:
    """The differences to variants' `minus`, those of means first; of a degree, means alone."""
    is_task = frame["task"].isin(study.tasks)
    frame = frame.assign(is_task=is_task, head=frame["task"].map(study.shown))
    rows = frame[frame["minus"].ne("") & (frame["degree"].eq("") | ~is_task)].dropna(subset="diff")
    heads = rows["degree"].where(rows["degree"].ne(""), rows["head"])
    parts = rows["line"] + " minus " + rows["minus"]
    text = markdown.intervals(rows, "diff", "diff_low", "diff_high")
    return rows.assign(head=heads, part=parts, text=text).sort_values("is_task", kind="stable")


def _difference(name: str, found: Estimate | None) -> dict[str, Any]:
    """The columns of a difference; NaN if there is none."""
    value, (low, high) = (found.value, found.interval) if found else (np.nan, (np.nan, np.nan))
    by_seed = tuple(found.score.values) if found else ()
    return {name: value, f"{name}_low": low, f"{name}_high": high, f"{name}_by_seed": by_seed}


def wide(frame: pd.DataFrame, study: StudyPlan) -> pd.DataFrame:
    """The scores of a frame with a column `head`: points down, heads across, baselines below.

    The scores that the paper prints for a variant, if any, stand below it.
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
    """The frame with a column `row`: a point's title, if there are several, and value, in words."""
    several = len(study.lines) + len(study.references) > 1 or not study.axis
    rows = {point.key: point.row if several else point.at for point in study.points}
    return frame.assign(row=[rows[key] for key in zip(frame["line"], frame["value"], strict=True)])


def _baselines(frame: pd.DataFrame, study: StudyPlan) -> pd.DataFrame:
    """The baselines; one bag of words per value if it was fitted to each value's rows.

    Without an axis it is that of the first variant, even if another trains on other rows.
    """
    whole = markdown.baselines(frame, "head")
    if not study.axis or frame.groupby("head")["bag_of_words"].nunique().max() < 2:
        return whole
    words, at = markdown.BASELINES["bag_of_words"], {p.value: p.at for p in study.points[::-1]}
    by_value = [
        markdown.baselines(rows, "head").loc[[words]].rename({words: f"{words}, {at[value]}"})
        for value, rows in frame[frame["value"] != ""].groupby("value", sort=False)
    ]
    return pd.concat([whole.drop(index=words), *by_value])


def compared(frame: pd.DataFrame, study: StudyPlan) -> list[str | pd.DataFrame]:
    """The sections on differences, from a frame with a column `head`.

    Each is a table of heads by points, with the longer of the two down.
    """
    base, first = study.lines[0], (study.values or [""])[0]
    parts: list[str | pd.DataFrame] = []
    frame = named(frame, study)
    places = [*zip(frame["line"], frame["value"], strict=True)]
    for name in DIFFERENCES:
        sections: dict[str, list[Key]] = {}  # points that differ from another kind stand apart
        for point in study.points:
            if name in contrasts(study, point):
                titles = {
                    "diff": f"Difference to {_compared_with(study, point)}",
                    "along": f"Difference of each variant to its own {point.axis} {first}",
                    "change": f"Change of the difference to {base} since {point.axis} {first}",
                }
                sections.setdefault(titles[name], []).append(point.key)
        for title, keys in sections.items():
            mine = frame[[place in keys for place in places]]
            texts = markdown.intervals(mine, name, f"{name}_low", f"{name}_high")
            table = markdown.pivot(mine.assign(text=texts), "head", "row", "text")
            table = table if len(table.columns) <= len(table) else table.T
            parts += [f"## {title}", table.rename_axis("")]
    if "change" in frame:
        at = f"{study.axis} {first}"
        parts.append(f"Below 0: {base} is further ahead than at {at}, or less behind.")
    return parts


def _compared_with(study: StudyPlan, point: Point) -> str:
    """What `diff` compares a point with, in words."""
    line, value = key = reference_of(study, point)
    if line == point.line:
        return f"{'its own ' if len(study.lines) > 1 else ''}{point.axis} {value}"
    (axis,) = (of.axis for of in study.points if of.key == key)
    return f"{line} at the same {axis if axis == point.axis else 'value'}" if value else line
