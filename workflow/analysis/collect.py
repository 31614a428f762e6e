"""Collect the cells of the grid into `cells.csv`, and an inventory of them into `cells.md`.

    python -m workflow.analysis.collect --results R --grid JSON --out R/cells.csv

A cell file that is damaged, or that describes a cell other than its path's, stops the analysis. The
inventory says which cells are there and which raised alarms; what they cost is in `cost`.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tasks.common.errors import InputError, importing, run

with importing(__name__):
    import pandas as pd

    import tasks
    from gpt1.cell import Cell
    from workflow.analysis import markdown
    from workflow.analysis.cells import CELL, COLUMNS
    from workflow.analysis.notes import Notes
    from workflow.analysis.program import parser
    from workflow.analysis.records import REMEDY, CellRecord
    from workflow.analysis.table import Table
    from workflow.grid import Grid

SWEEP = ["task", "arch", "corpus", "aux"]


def build(results: Path, grid: Grid) -> Table:
    """`cells.csv` and its inventory.

    Only the seeds that the config asks for are taken, so that a cell left over from a wider config
    does not make its neighbours' averages lopsided.
    """
    notes = Notes.read(results, grid.tasks)
    rows: list[dict[str, Any]] = []
    for cell in grid.cells():
        rows += cell_rows(cell, results, grid.seeds.finetune, notes.of(cell.task))
    table = pd.DataFrame(rows, columns=COLUMNS)
    table["seed"] = table["seed"].astype("Int64")
    return Table(table, _inventory(table, notes), decimals={}, words=SWEEP)


def cell_rows(cell: Cell, results: Path, seeds: list[int], note: str) -> list[dict[str, Any]]:
    """The rows of a cell; if it was not run, one without seed and score."""
    task = tasks.task(cell.task)
    not_run = {"metric": task.metric, "split": task.main, "alarms": ""}
    scored = list(_scores(cell, results, seeds))
    place = vars(cell) | {"n_transfer": str(cell.n_transfer), "note": note}
    return [{**place, **score} for score in scored or [not_run]]


def _scores(cell: Cell, results: Path, seeds: list[int]) -> Iterator[dict[str, Any]]:
    """Every score of a cell's `seeds`, with baselines, tokens, alarms; nothing if not run."""
    path = cell.path(results)
    if not path.exists():
        return
    record = CellRecord.read(path, **vars(cell))
    known = [seed.seed for seed in record.seeds]
    if len(set(known)) < len(known):
        raise InputError(f"{path}: 'seeds' holds a seed twice, {known}; {REMEDY}")
    for seed in record.seeds:
        if seed.seed not in seeds:
            continue
        for split, scores in seed.scores.items():
            for metric, score in scores.items():
                yield {
                    **{"seed": seed.seed, "train_tokens": seed.train_tokens},
                    **{"split": split, "metric": metric, "score": score},
                    **{k: s.get(split, {}).get(metric) for k, s in record.baselines},
                    "alarms": ";".join(sorted(seed.alarms)),
                }


def _inventory(table: pd.DataFrame, notes: Notes) -> list[str | pd.DataFrame]:
    runs = table.drop_duplicates([*CELL, "seed"])
    cells = runs.groupby(CELL, sort=False).agg(seeds=("seed", "count"), alarms=("alarms", "any"))
    cells = cells.reset_index()
    is_run = cells["seeds"] > 0
    cells["layers"] = cells["n_transfer"].where(cells["alarms"])
    main = table["metric"] == table["task"].map({t: tasks.task(t).metric for t in notes.by_task})
    fitted = table.assign(train=table["score"].where(main & (table["split"] == "train")))
    sweeps, costs, fits = (frame.groupby(SWEEP, sort=False) for frame in (cells, runs, fitted))
    raised = sweeps["layers"].agg(lambda names: " ".join(["layers", *names.dropna()]))
    wide = pd.DataFrame(
        {
            "cells": sweeps["seeds"].agg(lambda counts: f"{(counts > 0).sum()}/{len(counts)}"),
            "seeds": sweeps["seeds"].agg(markdown.seeds),
            "train": fits["train"].mean().map("{:.1f}".format),
            "tokens": costs["train_tokens"].mean().map("{:.0f}".format),
            "alarms": raised.replace("layers", markdown.NONE),
        }
    ).replace("nan", markdown.MISSING)
    wide.loc[sweeps["seeds"].sum() == 0, "alarms"] = markdown.MISSING
    wide = wide.reset_index(SWEEP[1:]).rename(index=notes.mark)
    not_run = [Cell(*cell).place for cell in cells.loc[~is_run, CELL].itertuples(index=False)]
    return [
        "# Cells",
        f"{is_run.sum()} of {len(cells)} cells, {cells['seeds'].sum()} runs. Train (the score on "
        "the training rows) and tokens are means over the runs of the line.",
        wide,
        *notes.footnote(),
        *([f"Not run: {', '.join(not_run)}."] if not_run else []),
    ]


def main(argv: list[str] | None = None) -> None:
    """The command line."""
    args = parser("collect all cells into one table").parse_args(argv)
    build(args.results, args.grid).write(args.out)


if __name__ == "__main__":
    sys.exit(run(main))
