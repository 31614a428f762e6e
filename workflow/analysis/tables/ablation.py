"""Table 5: the paper's four variants on its eight tasks, with the average (paper 5).

`w/o pre-training` is the same recipe with nothing transferred; `w/o aux LM` has `lm_coef` 0. After
the paper's eight tasks come the others that were run, and the average over all of the grid.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

import tasks
from workflow.analysis import markdown
from workflow.analysis.cells import read_cells
from workflow.analysis.notes import Notes
from workflow.analysis.paper import paper_numbers
from workflow.analysis.statistics import (
    average,
    complete,
    headline,
    headline_splits,
    official_sets,
    summarise,
)
from workflow.analysis.table import Table
from workflow.grid import Grid

# name, arch, aux, everything transferred?
PAPER_VARIANTS = [
    ("Transformer w/ aux LM (full)", "transformer", "on", True),
    ("Transformer w/o pre-training", "transformer", "on", False),
    ("Transformer w/o aux LM", "transformer", "off", True),
    ("LSTM w/ aux LM", "lstm", "on", True),
]
FURTHER_VARIANTS = [
    ("Transformer w/o pre-training, w/o aux LM", "transformer", "off", False),
    ("LSTM w/o pre-training", "lstm", "on", False),
    ("LSTM w/o aux LM", "lstm", "off", True),
    ("LSTM w/o pre-training, w/o aux LM", "lstm", "off", False),
]
PAPER_COLUMNS = {  # task: the paper's column; `avg` is the mean of the eight
    **{"avg": "Avg", "cola": "CoLA_mcc", "sst2": "SST2_acc", "mrpc": "MRPC_f1"},
    **{"stsb": "STSB_pearson", "qqp": "QQP_f1", "mnli": "MNLI_acc", "qnli": "QNLI_acc"},
    **{"rte": "RTE_acc"},
}
EIGHT = [name for name in PAPER_COLUMNS if name != "avg"]
KEY = ["arch", "aux", "n_transfer", "task"]


def build(results: Path, grid: Grid) -> Table:
    """One row per (variant, task) and per (variant, average)."""
    cells = read_cells(results, grid)
    notes = Notes.of_cells(cells)
    others = [name for name in grid.tasks if name not in EIGHT]
    heads = headline(cells, [*EIGHT, *others])
    averages = {"avg": EIGHT, "avg_all": grid.tasks}
    means = [average(heads, members, label) for label, members in averages.items()]
    table = summarise(pd.concat([heads, *means]), KEY)
    columns = [_average(label, members, cells, notes) for label, members in averages.items()]
    columns[1:1] = [_task(name, cells, notes) for name in [*EIGHT, *others]]
    table = complete(table, list(_rows(grid, columns)), KEY)
    return Table(table, _wide(table, others, grid, notes))


def variants(grid: Grid) -> list[tuple[str, str, str, bool]]:
    """The paper's four, then the further ones that the grid holds."""
    return PAPER_VARIANTS + [
        variant
        for variant in FURTHER_VARIANTS
        if variant[1] in grid.arch and variant[2] in grid.aux
    ]


def _task(name: str, cells: pd.DataFrame, notes: Notes) -> dict[str, str]:
    split = "+".join(headline_splits(name, cells))
    return {"task": name, "metric": tasks.task(name).metric, "split": split, "note": notes.of(name)}


def _average(label: str, members: list[str], cells: pd.DataFrame, notes: Notes) -> dict[str, str]:
    split = official_sets("+".join(_task(name, cells, notes)["split"] for name in members))
    return {"task": label, "metric": "mean", "split": split, "note": notes.joined(members)}


def _rows(grid: Grid, columns: list[dict[str, str]]) -> Iterator[dict[str, Any]]:
    paper = paper_numbers("Table 5")
    for name, arch, aux, transferred in variants(grid):
        full = str({**grid.n_layer}.get(arch, "all"))  # type: ignore[call-overload]
        place = {"variant": name, "arch": arch, "aux": aux}
        place["n_transfer"] = full if transferred else "none"
        for column in columns:
            printed = paper.get(name, {}).get(PAPER_COLUMNS.get(column["task"], ""))
            yield {**place, **column, "paper": printed}


def _wide(
    table: pd.DataFrame, others: list[str], grid: Grid, notes: Notes
) -> list[str | pd.DataFrame]:
    n_tasks = len(grid.tasks)
    return [
        "# Ablations (Table 5)",
        _markdown(table, ["avg", *EIGHT], "Avg (8)", notes),
        *notes.footnote(),
        "Avg is the unweighted mean of the eight columns. The paper's rows are scores of the GLUE "
        "test server; ours are on the split that the column names. " + markdown.LEGEND,
        f"## Further tasks, and the average over all {n_tasks} tasks of this config",
        _markdown(table, ["avg_all", *others], f"Avg ({n_tasks})", notes),
    ]


def _markdown(table: pd.DataFrame, columns: list[str], average: str, notes: Notes) -> pd.DataFrame:
    table = pd.concat([table[table["task"] == task] for task in columns])
    heads = {columns[0]: average}
    for row in table[table["task"].isin(columns[1:])].itertuples():
        metric, split = markdown.METRICS[row.metric], official_sets(row.split)
        heads[row.task] = f"{notes.mark(row.task)} ({metric}, {split})"
    table = table.assign(head=table["task"].map(heads), seeds=markdown.NONE)
    lines = []
    for variant, mine in table.groupby("variant", sort=False):
        ours = mine.assign(shown=mine.apply(markdown.score, axis=1))
        lines.append(ours.assign(line=variant, seeds=markdown.seeds(mine["n_seeds"])))
        if mine["paper"].notna().any():
            printed = mine["paper"].map(markdown.value)
            lines.append(mine.assign(line=f"*paper: {variant}*", shown=printed))
    long = pd.concat(lines)
    wide = markdown.pivot(long, "line", "head", "shown")
    wide.insert(0, "seeds", long.groupby("line")["seeds"].first())
    wide = pd.concat([wide, markdown.baselines(table, "head")]).fillna(markdown.NONE)
    return wide.rename_axis("variant")
