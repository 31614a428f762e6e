"""`cells.csv`: every cell of the grid, every split and metric that it scored, mean and spread.

    python -m workflow.analysis.cells --results R --settings JSON --out R/cells.csv

The Markdown beside it is an inventory: which cells are there, what they cost, which raised alarms.
"""

import sys
from pathlib import Path
from typing import Any

import pandas as pd

import tasks
from tasks.common.errors import run
from workflow.analysis import collect, output, subsets, summary

CELL = ["arch", "task", "aux", "n_transfer"]


def build(results: Path, settings: dict[str, Any]) -> tuple[pd.DataFrame, str]:
    """One row per (cell, split, metric); a cell that was not run keeps its main metric, empty."""
    runs = collect.read_runs(results, settings)
    by = [*CELL, "split", "metric"]
    table = summary.summarise(runs, by)
    there = {key: rows for key, rows in table.groupby(CELL, sort=False)}
    notes = subsets.notes(results, settings["tasks"])
    wanted = []
    for cell in collect.grid(settings):
        arch, name, aux, n_transfer = cell
        if cell in there:
            pairs = there[cell][["split", "metric"]].itertuples(index=False)
        else:
            splits = summary.reported(name, runs)
            pairs = ((split, tasks.task(name).metric) for split in splits)
        note = {"note": notes[name]}
        wanted += [dict(zip(by, (*cell, *pair), strict=True)) | note for pair in pairs]
    table = summary.complete(table, wanted, by)
    return table, _inventory(table, settings, notes)


def _inventory(table: pd.DataFrame, settings: dict[str, Any], notes: dict[str, str]) -> str:
    # a cell's cost and alarms are the same on each of its rows
    cells = table.sort_values("n_seeds", ascending=False, kind="stable").drop_duplicates(CELL)
    present = cells[cells["n_seeds"] > 0]
    rows = []
    for arch in settings["arch"]:
        for name in settings["tasks"]:
            for aux in settings["aux"]:
                rows.append(_line(cells, arch, name, aux, notes))
    absent = [
        str(collect.cell_path(Path(), *row))
        for row in cells.loc[cells["n_seeds"] == 0, CELL].sort_index().itertuples(index=False)
    ]
    seconds = (present["train_seconds"] * present["n_seeds"]).sum()
    return "\n\n".join(
        [
            "# Cells",
            f"{len(present)} of {len(cells)} cells, {present['n_seeds'].sum()} runs, "
            f"{seconds:.0f} s of training. Per run: tokens and seconds are means over the runs of "
            "the line, memory is the highest.",
            output.markdown(
                ["task", "arch", "aux", "cells", "seeds", "tokens", "seconds", "peak MB", "alarms"],
                rows,
            ),
            *subsets.footnote(notes),
            *(["Not run: " + ", ".join(absent) + "."] if absent else []),
        ]
    )


def _line(cells: pd.DataFrame, arch: str, name: str, aux: str, notes: dict[str, str]) -> list[str]:
    mine = cells[(cells["arch"] == arch) & (cells["task"] == name) & (cells["aux"] == aux)]
    present = mine[mine["n_seeds"] > 0]
    start = [subsets.mark(notes, name), arch, aux, f"{len(present)}/{len(mine)}"]
    if present.empty:
        return [*start, "0", *[output.MISSING] * 4]
    alarms = present.loc[present["alarms"] != "", "n_transfer"]
    return [
        *start,
        output.seeds(present["n_seeds"]),
        f"{present['train_tokens'].mean():.0f}",
        f"{present['train_seconds'].mean():.1f}",
        output.value(present["peak_mb"].max()),
        "layers " + " ".join(alarms) if len(alarms) else output.NONE,
    ]


if __name__ == "__main__":
    sys.exit(run(lambda: output.program(build)))
