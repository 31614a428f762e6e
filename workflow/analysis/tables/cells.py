"""`cells.csv`: one row per cell, seed, split and metric, and an inventory of the cells as Markdown.

Scores run from 0 to 100, correlations from -100, unrounded. `majority` and `bag_of_words` are empty
on the training rows; `alarms` are joined by semicolons. The inventory says which cells exist and
which raised alarms; their costs are in the table `cost`.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from gpt1.cell import Cell
from gpt1.records import CellRecord
from workflow.analysis import markdown
from workflow.analysis.notes import Notes
from workflow.analysis.stats.samples import Key, Samples, scored
from workflow.analysis.stats.scores import Score, is_marked
from workflow.analysis.table import Table
from workflow.grid import Grid

CELL = ["task", "line", "arch", "aux", "n_transfer", "corpus"]
COLUMNS = [
    *("arch", "task", "metric", "split", "n_transfer", "aux", "corpus", "seed", "score"),
    *("majority", "bag_of_words", "train_tokens", "alarms", "note", "line"),
]
SWEEP = ["task", "arch", "corpus", "aux"]


def build(results: Path, grid: Grid) -> Table:
    """The scores of the seeds that the config asks for."""
    samples, notes = Samples.of_grid(results, grid), Notes.read(results, grid.tasks)
    rows = [
        row | {"note": notes.of(cell.task)}
        for cell in grid.cells()
        for row in _rows(cell, grid.line(cell).columns, samples.cells[cell], grid.seeds.finetune)
    ]
    table = pd.DataFrame(rows, columns=COLUMNS)
    return Table(table, _inventory(table, notes, grid), decimals={}, words=SWEEP)


def of_cells(results: Path, paths: Iterable[Path]) -> pd.DataFrame:
    """The same rows for these cells of a folder, with all their seeds.

    Raises InputError for a damaged one.
    """
    rows: list[dict[str, Any]] = []
    for path in paths:
        cell = Cell.parse(path)
        record = CellRecord.read(path, **vars(cell))
        line = {"arch": record.arch, "aux": "on" if record.lm_coef else "off"}
        line |= {"n_transfer": str(record.n_transfer), "corpus": record.corpus}
        seeds = [run.seed for run in record.seeds]
        rows += _rows(cell, line, scored(record, seeds), seeds)
    return pd.DataFrame(rows, columns=[name for name in COLUMNS if name != "note"])


def _rows(
    cell: Cell, line: dict[str, str], scores: dict[Key, Score], seeds: Sequence[int]
) -> Iterator[dict[str, Any]]:
    """One row for each score of a cell; `line` has the columns that describe its line."""
    for seed in seeds:
        for (split, metric, degree), score in scores.items():
            if not degree and seed in score.seeds:
                yield {
                    **vars(cell),
                    "majority": score.majority,
                    "bag_of_words": score.bag_of_words,
                    **line,
                    "split": split,
                    "metric": metric,
                    "seed": seed,
                    "score": score.values[score.seeds.index(seed)],
                    "train_tokens": score.train_tokens[seed],
                    "alarms": score.alarms[seed][0],
                }


def _inventory(table: pd.DataFrame, notes: Notes, grid: Grid) -> list[str | pd.DataFrame]:
    runs = table.drop_duplicates([*CELL, "seed"])
    cells = runs.groupby(CELL, sort=False).agg(seeds=("seed", "count"), alarms=("alarms", ";".join))
    cells = cells.reset_index()
    cells["layers"] = cells["n_transfer"].where(cells["alarms"].map(is_marked))
    main = table["metric"] == table["task"].map({t: grid.task(t).metric for t in notes.by_task})
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
