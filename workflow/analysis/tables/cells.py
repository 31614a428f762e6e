"""`cells.csv`: one row per cell, seed, split and metric, and an inventory of the cells as Markdown.

Scores run from 0 to 100, unrounded. `majority` and `bag_of_words` are empty on the training rows;
`alarms` are joined by a semicolon. The inventory says which cells are there and which raised
alarms; what they cost is in `cost`.
"""

from pathlib import Path

import pandas as pd

import tasks
from workflow.analysis import markdown
from workflow.analysis.notes import Notes
from workflow.analysis.stats.alarms import is_marked
from workflow.analysis.stats.samples import Samples
from workflow.analysis.table import Table
from workflow.grid import Grid

INPUTS = ("ablation", "layer_transfer", "facts")
CELL = ["task", "line", "arch", "aux", "n_transfer", "corpus"]
COLUMNS = [
    *("arch", "task", "metric", "split", "n_transfer", "aux", "corpus", "seed", "score"),
    *("majority", "bag_of_words", "train_tokens", "alarms", "note", "line"),
]
SWEEP = ["task", "arch", "corpus", "aux"]


def build(results: Path, grid: Grid) -> Table:
    """The scores of the seeds that the config asks for."""
    samples, notes = Samples.of_grid(results, grid, INPUTS), Notes.read(results, grid.tasks)
    rows = [
        {
            **vars(cell),
            **vars(sample),
            **grid.line(cell).columns,
            "split": split,
            "metric": metric,
            "seed": seed,
            "score": sample.score[sample.seeds.index(seed)],
            "train_tokens": sample.train_tokens[seed],
            "alarms": sample.alarms[seed][0],
            "note": notes.of(cell.task),
        }
        for cell in grid.cells()
        for seed in grid.seeds.finetune
        for (split, metric, degree), sample in samples.cells[cell].items()
        if not degree and seed in sample.seeds
    ]
    table = pd.DataFrame(rows, columns=COLUMNS)
    return Table(table, _inventory(table, notes), decimals={}, words=SWEEP)


def _inventory(table: pd.DataFrame, notes: Notes) -> list[str | pd.DataFrame]:
    runs = table.drop_duplicates([*CELL, "seed"])
    cells = runs.groupby(CELL, sort=False).agg(seeds=("seed", "count"), alarms=("alarms", ";".join))
    cells = cells.reset_index()
    cells["layers"] = cells["n_transfer"].where(cells["alarms"].map(is_marked))
    main = table["metric"] == table["task"].map({t: tasks.task(t).metric for t in notes.by_task})
    fitted = table.assign(train=table["score"].where(main & (table["split"] == "train")))
    sweeps, costs, fits = (frame.groupby(SWEEP, sort=False) for frame in (cells, runs, fitted))
    raised = sweeps["layers"].agg(lambda names: " ".join(["layers", *names.dropna()]))
    wide = pd.DataFrame(
        {
            "cells": sweeps.size().map(str),
            "seeds": sweeps["seeds"].agg(markdown.seeds),
            "train": fits["train"].mean().map("{:.1f}".format),
            "tokens": costs["train_tokens"].mean().map("{:.0f}".format),
            "alarms": raised.replace("layers", markdown.NONE),
        }
    )
    return [
        "# Cells",
        f"{len(cells)} cells, {len(runs)} runs. Train (the score on the training rows) and tokens "
        "are means over the runs of the line.",
        wide.reset_index(SWEEP[1:]).replace({"corpus": markdown.CORPORA}).rename(index=notes.mark),
        *notes.footnote(),
    ]
