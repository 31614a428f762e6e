"""Figure 2 left: the score against the number of layers transferred.

`n_transfer` is `none` (nothing copied), 0 (the embeddings alone) or the number of lowest blocks
copied as well. Beside each task on its reported splits stand the training rows, and as task `mean`
the unweighted mean of all tasks (MNLI counted once, as the mean of its two splits).
"""

from pathlib import Path

import pandas as pd

import tasks
from workflow.analysis import markdown
from workflow.analysis.cells import read_cells
from workflow.analysis.moderation import Pool, estimates
from workflow.analysis.notes import Notes
from workflow.analysis.samples import Samples
from workflow.analysis.statistics import (
    add_interval,
    average,
    complete,
    headline,
    reported,
    summarise,
)
from workflow.analysis.table import Table
from workflow.analysis.uncertainty import Estimate, estimate
from workflow.grid import Grid

KEY = ["arch", "aux", "n_transfer", "task", "metric", "split"]


def build(results: Path, grid: Grid) -> Table:
    """One row per (arch, aux, n_transfer, task, split), main metric of the task."""
    cells = read_cells(results, grid)
    notes = Notes.of_cells(cells)
    main = {name: tasks.task(name).metric for name in grid.tasks}
    single = cells[cells["metric"] == cells["task"].map(main)]
    means = [
        average(headline(cells, grid.tasks), grid.tasks, "mean").assign(split="reported"),
        average(headline(cells, grid.tasks, train=True), grid.tasks, "mean").assign(split="train"),
    ]
    table = summarise(pd.concat([single.assign(n_runs=1), *means]), KEY)
    lines = [("mean", "mean", split, notes.joined(grid.tasks)) for split in ("reported", "train")]
    for name in grid.tasks:
        splits = [*reported(name, cells), "train"]
        lines += [(name, main[name], split, notes.of(name)) for split in splits]
    books = [cell for cell in grid.cells() if cell.corpus == "books"]
    points = dict.fromkeys((cell.arch, cell.aux, str(cell.n_transfer)) for cell in books)
    wanted = pd.DataFrame(list(points), columns=KEY[:3])
    wanted = wanted.merge(pd.DataFrame(lines, columns=[*KEY[3:], "note"]), how="cross")
    table = complete(table, wanted, KEY)
    intervals = _intervals(Samples(results, grid, cells), table, grid)
    table = add_interval(table, intervals, ["arch", "aux", "n_transfer", "task", "split"])
    return Table(table, _wide(table, notes))


def _intervals(samples: Samples, table: pd.DataFrame, grid: Grid) -> dict[tuple, Estimate]:
    """By row of the table; none for training rows, whose predictions are not kept."""
    found = {}
    for (arch, aux, n_transfer), mine in table[table["task"] != "mean"].groupby(
        KEY[:3], sort=False
    ):
        cells = {name: grid.cell(arch, aux, n_transfer, name) for name in mine["task"]}
        heads = {name: samples.headline(cell) for name, cell in cells.items()}
        pool = Pool.of([sample for sample in heads.values() if sample is not None])
        mean = estimates(heads, {"mean": grid.tasks}).get("mean")
        if mean is not None:
            found[arch, aux, n_transfer, "mean", "reported"] = mean
        for row in mine[mine["split"] != "train"].itertuples():
            sample = samples.of(cells[row.task], row.split, row.metric)
            if sample is not None:
                one = pool.estimate(sample) if pool else estimate(sample)
                found[arch, aux, n_transfer, row.task, row.split] = one
    return found


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
