"""What can be compared: the scores of a run, of a data frame, or of lm-evaluation-harness.

A run has its samples (`workflow.analysis.stats.samples`); the rows of the other two are resampled
here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from gpt1.cell import Cell
from gpt1.records import CellRecord
from tasks.common.errors import InputError
from tasks.own import OwnTask
from workflow.analysis import harness
from workflow.analysis.stats.bootstrap import MEAN, SUMMED, resample
from workflow.analysis.stats.pooling import Line
from workflow.analysis.stats.sample import Sample
from workflow.analysis.stats.samples import Samples
from workflow.analysis.stats.scoring import limits_of
from workflow.analysis.table import read_csv
from workflow.configuration.read import ConfigError, parse, read
from workflow.configuration.studies import flat
from workflow.grid import Grid, Margins
from workflow.plan import Plan
from workflow.results_folder import CONFIG

Source: TypeAlias = str | Path | Sequence[str | Path] | pd.DataFrame


@dataclass(frozen=True)
class Scored:
    """A line's score on a task; `rows` has each row's label, or each split's digest for a run."""

    sample: Sample
    metric: str
    rows: Mapping[str, str]
    title: str  # of the task

    def unlike(self, other: "Scored") -> str:
        """Why another cannot be paired with it; empty if it can be."""
        if self.metric != other.metric:
            return f"another metric, {self.metric} and {other.metric}"
        if alone := sorted(self.rows.keys() ^ other.rows.keys()):
            return f"other rows, {len(alone)} in one alone, such as {alone[0]}"
        if changed := [row for row, of in self.rows.items() if other.rows[row] != of]:
            return f"another version of the data, {len(changed)} differ, such as {changed[0]}"
        return "" if {*self.sample.seeds} & {*other.sample.seeds} else "no seed in common"


@dataclass(frozen=True)
class Side:
    """One side of a comparison: its scores by line and task, and its config by dotted key.

    A run also has the `titles` of its lines, the lines whose variance over seeds is `pooled`, and
    its `claims` in words.
    """

    name: str
    cells: dict[tuple[str, str], Scored]
    config: dict[str, Any] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    pooled: Sequence[Line] = ()
    margins: Margins = Margins()
    claims: dict[str, str] = field(default_factory=dict)


def side(source: Source, metric: str) -> Side:
    """The scores of an argument of `gpt1.compare`. Raises InputError if it has none."""
    if isinstance(source, pd.DataFrame):
        return Side("a data frame", of_rows(source, metric))
    paths = [Path(source)] if isinstance(source, str | Path) else [*map(Path, source)]
    if len({path.resolve() for path in paths}) < len(paths):
        raise InputError(f"{', '.join(map(str, paths))}: a folder twice; give each seed's own")
    if len(paths) == 1 and any(paths[0].glob("cells/*/*.json")):
        return of_run(paths[0])
    rows = pd.concat(harness.read(path).assign(seed=seed) for seed, path in enumerate(paths))
    return Side(", ".join(map(str, paths)), of_rows(rows, metric))


def of_run(folder: Path) -> Side:
    """The cells of a run; those that its samples lack, or were trained anew, are sampled now."""
    made = map(Cell.parse, sorted(folder.glob("cells/*/*.json")))
    records = {cell: CellRecord.read(cell.path(folder), **vars(cell)) for cell in made}
    own = {c.task: OwnTask.model_validate(of.own) for c, of in records.items() if of.own}
    samples = replace(_sampled(folder, records), own=own)
    cells: dict[tuple[str, str], Scored] = {}
    for cell, record in records.items():
        if cell not in samples.cells:
            samples.add(cell, folder, [run.seed for run in record.seeds])
    for cell in samples.cells:
        if (head := samples.headline(cell)) is not None:
            splits = samples.headline_splits(cell.task)
            rows = {split: samples.examples.get(f"{cell.task}/{split}", "") for split in splits}
            task = samples.task(cell.task)
            cells[cell.line, cell.task] = Scored(head, task.metric, rows, task.title)
    found = Side(str(folder), cells, claims=_claims(folder / "claims.csv"))
    try:
        config = read([folder / CONFIG])
        found = replace(found, config=flat(config | {"results": ""}))
        grid = Plan(parse(config)).grid()
    except ConfigError:  # not kept yet, or written by another version of the suite
        return found
    pooled = samples.seed_pool(grid).lines
    return replace(found, titles=_titles(grid), pooled=pooled, margins=grid.margins)


def _sampled(folder: Path, records: Mapping[Cell, CellRecord]) -> Samples:
    """The samples of a run, without the files in which a cell has other scores than its record.

    Such a cell was trained anew; the time of a file would not tell in a copy of the folder.
    """
    found = Samples()
    for path in sorted(folder.glob("samples/*.parquet")):
        part = Samples.read([path])
        if all(_is_of(part, cell, records[cell]) for cell in part.cells.keys() & records.keys()):
            found.cells.update(part.cells)
            found.check_examples(path, part.examples)
    return found


def _is_of(samples: Samples, cell: Cell, record: CellRecord) -> bool:
    """Whether a cell's samples have the scores of its record."""
    scores = {run.seed: run.scores for run in record.seeds}
    return all(
        scores.get(seed, {}).get(split, {}).get(metric) == score
        for (split, metric, degree), sample in samples.cells[cell].items()
        if not degree
        for seed, score in zip(sample.seeds, sample.score, strict=True)
    )


def _titles(grid: Grid) -> dict[str, str]:
    """The title of each line in the first study that has it, with the value of the study's axis."""
    titles: dict[str, str] = {}
    for study in grid.studies.values():
        for point in study.points:
            value = f", {study.axis} {point.value}" if point.value else ""
            titles.setdefault(point.of.name, f"{point.line}{value}")
    return titles


def _claims(table: Path) -> dict[str, str]:
    """The estimate and the verdict of each line of `claims.csv`."""
    lines = read_csv(table).to_dict("records") if table.exists() else []
    return {
        f"{of['statement']}; {of['tasks']}; {of['contrast']}": f"{of['ours']:.1f}, {of['verdict']}"
        for of in lines
    }


def of_rows(frame: pd.DataFrame, metric: str) -> dict[tuple[str, str], Scored]:
    """The scores of a frame's rows by line and task; `gpt1.compare` describes its columns."""
    given = {"seed": 0, "task": "all", "metric": MEAN if "score" in frame else metric}
    frame = frame.assign(**{name: of for name, of in given.items() if name not in frame})
    frame = frame if "line" in frame else frame.assign(line=frame["metric"])
    metrics = frame.groupby(["line", "task"], sort=False)["metric"].unique()
    for (line, task), names in metrics.items():
        if len(names) > 1:
            several = f"{task}: {line} has the metrics {', '.join(map(str, names))}"
            raise InputError(f"{several}; give each a line of its own, or leave out `line`")
    groups = frame.groupby(["line", "task", "metric"], sort=False)
    return {(str(of), str(task)): _scored(rows, task, name) for (of, task, name), rows in groups}


def _scored(rows: pd.DataFrame, task: str, metric: str) -> Scored:
    """The score of the rows of one line and task.

    Raises InputError unless each row is there once for each seed, with a value of the metric.
    """
    if metric == "accuracy" and {"prediction", "label"} <= {*rows}:
        rows = rows.assign(score=rows["prediction"] == rows["label"])
    name, value = (MEAN, "score") if metric in ("accuracy", MEAN) else (metric, "prediction")
    rows = rows if "label" in rows or name != MEAN else rows.assign(label="")
    if metric not in SUMMED or not {"row", value, "label"} <= {*rows}:
        remedy = f"give row, and score or prediction and label, and one of {', '.join(SUMMED)}"
        raise InputError(f"{task}: no {metric} of columns {', '.join(rows)}; {remedy}")
    rows = rows.assign(row=rows["row"].astype(str)).dropna(subset="label")
    once = (pd.crosstab(rows["row"], rows["seed"]) == 1).all(axis=1)
    once &= rows.groupby("row")["label"].nunique() == 1
    if not (len(once) and once.all()):
        row = once.idxmin() if len(once) else "with a label"
        remedy = "give each once for each seed, with one label"
        raise InputError(f"{task}: row {row} is missing or there twice; {remedy}")
    table = rows.set_index(["row", "label", "seed"])[value].unstack()
    names, truth = (table.index.get_level_values(of) for of in ("row", "label"))
    try:
        values = table.to_numpy(dtype=float).T
        labels = values[0] if name == MEAN else truth.to_numpy(dtype=float)
    except ValueError as error:
        raise InputError(f"{task}: {metric} is of numbers ({error}); give numbers") from None
    both, is_real = np.vstack([values, labels]), metric in ("pearson", "spearman")
    if not np.isfinite(both).all() or not (is_real or ((both >= 0) & (both <= 1)).all()):
        raise InputError(f"{task}: {metric} is of {both.min():g} to {both.max():g}; give 0 to 1")
    units, seeds = np.arange(len(table)), tuple(table.columns)
    score, boot, n_rows = resample(name, values, labels, units, task)
    sample = Sample(seeds, (0,) * len(seeds), score, boot, n_rows, limits_of(metric))
    return Scored(sample, metric, dict(zip(names, truth.astype(str), strict=True)), task)
