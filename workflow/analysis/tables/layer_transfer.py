"""Figure 2 left: the score against the number of layers transferred.

`n_transfer` is `none` (nothing copied), 0 (the embeddings alone) or the number of lowest blocks
copied as well. Beside each task on its reported splits stand the training rows, and as task `mean`
the unweighted mean of all tasks (MNLI counted once, as the mean of its two splits).
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

import tasks
from gpt1.cell import Cell
from workflow.analysis import markdown
from workflow.analysis.notes import Notes
from workflow.analysis.stats.estimate import numbers
from workflow.analysis.stats.pooling import estimates
from workflow.analysis.stats.sample import mean_of
from workflow.analysis.stats.samples import Samples
from workflow.analysis.table import Table
from workflow.grid import Grid

INPUTS = ("endpoints", "intermediate", "controls", "facts")


def build(results: Path, grid: Grid) -> Table:
    """One row per (arch, aux, n_transfer, task, split), main metric of the task."""
    samples, notes = Samples.of_grid(results, grid, INPUTS), Notes.read(results, grid.tasks)
    points = dict.fromkeys(
        (cell.arch, cell.aux, cell.n_transfer) for cell in grid.cells() if cell.corpus == "books"
    )
    rows = [
        {"arch": arch, "aux": aux, "n_transfer": str(n), **row}
        for arch, aux, n in points
        for row in _rows(samples, grid, notes, {t: Cell(arch, t, aux, n) for t in grid.tasks})
    ]
    table = pd.DataFrame(rows)
    return Table(table, _wide(table, notes))


def _rows(
    samples: Samples, grid: Grid, notes: Notes, cells: dict[str, Cell]
) -> Iterator[dict[str, Any]]:
    """The rows of one point, its `cells` by task; no interval of training rows, whose predictions
    are not kept."""
    metrics = {name: tasks.task(name).metric for name in cells}
    heads = {name: samples.headline(cell) for name, cell in cells.items()}
    train = {name: samples.of(cell, "train", metrics[name]) for name, cell in cells.items()}
    mean = {"task": "mean", "metric": "mean", "note": notes.joined(cells)}
    found = estimates(heads, {"mean": list(cells)}, samples.seed_pool(grid)).get("mean")
    yield {**mean, "split": "reported", **numbers(mean_of(heads, cells), found)}
    yield {**mean, "split": "train", **numbers(mean_of(train, cells))}
    for name, cell in cells.items():
        line = {"task": name, "metric": metrics[name], "note": notes.of(name)}
        for split in samples.reported(name):
            score = partial(samples.of, split=split, metric=metrics[name])
            one = estimates({name: score(cell)}, seeds=samples.seed_pool(grid, score)).get(name)
            yield {**line, "split": split, **numbers(score(cell), one)}
        yield {**line, "split": "train", **numbers(train[name])}


def _wide(table: pd.DataFrame, notes: Notes) -> list[str | pd.DataFrame]:
    titles = {name: notes.mark(name) for name in table["task"].unique() if name != "mean"}
    titles["mean"] = "mean of all tasks"
    table = table.assign(
        score=table["task"].map(titles) + " (" + table["split"] + ")",
        shown=table.apply(markdown.score, axis=1),
    )
    parts: list[str | pd.DataFrame] = ["# Layers transferred (Figure 2, left)"]
    for (arch, aux), mine in table.groupby(["arch", "aux"], sort=False):
        wide = markdown.pivot(mine, "score", "n_transfer", "shown")
        seeds = mine[mine["task"] == "mean"].groupby("n_transfer")["n_seeds"].first().astype(str)
        wide = pd.concat([seeds.rename("seeds").to_frame().T[wide.columns], wide])
        parts += [f"## {arch}, auxiliary LM {aux}", wide.rename_axis("score")]
    parts += notes.footnote()
    parts.append("Columns: layers transferred; 0 is the embeddings alone. " + markdown.LEGEND)
    return parts
