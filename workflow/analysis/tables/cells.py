"""The tables of single cells: `cells`, and `confusion` of the user's own tasks."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gpt1.cell import Cell
from gpt1.records import CellRecord
from workflow.analysis import markdown
from workflow.analysis.rows import Notes, answers, read_predictions
from workflow.analysis.stats.samples import Key, Samples, scored
from workflow.analysis.stats.scores import Score, is_marked
from workflow.analysis.table import Table
from workflow.grid import Grid

CELL = ["task", "line", "arch", "aux", "n_transfer", "corpus"]
CELL_COLUMNS = [
    *("arch", "task", "metric", "split", "n_transfer", "aux", "corpus", "seed", "score"),
    *("majority", "bag_of_words", "train_tokens", "alarms", "note", "line"),
]
SWEEP = ["task", "arch", "corpus", "aux"]
CONFUSION = ["task", "split", "label", "prediction", "rows"]
MANY = 25  # the most labels that the Markdown has a matrix of
ABOUT_CONFUSION = (
    "Rows by label (down) and prediction of the full model (across), all seeds together, in "
    f"Markdown of up to {MANY} labels. Recall: the share of a label's rows that are predicted so. "
    "Precision: the share of the rows so predicted that have the label."
)


def cells(results: Path, grid: Grid) -> Table:
    """One row per cell, seed that the config asks for, split and metric; as Markdown an inventory.

    Scores run from 0 to 100, correlations from -100, unrounded. `majority` and `bag_of_words` are
    empty on the training rows; `alarms` are joined by semicolons. The inventory says which cells
    exist and which raised alarms; their costs are in the table `cost`.
    """
    cells, notes = grid.cells(), Notes.read(results, grid.tasks)
    samples = Samples.of_cells(results, grid, cells)
    rows = [
        row | {"note": notes.of(cell.task)}
        for cell in cells
        for row in _rows(cell, grid.variant(cell).columns, samples.cells[cell], grid.seeds.finetune)
    ]
    table = pd.DataFrame(rows, columns=CELL_COLUMNS)
    return Table(table, _inventory(table, notes, grid), decimals={}, words=SWEEP)


def of_cells(results: Path, paths: Iterable[Path]) -> pd.DataFrame:
    """The same rows for these cells of a folder, with all their seeds.

    Raises InputError for a damaged one.
    """
    rows: list[dict[str, Any]] = []
    for path in paths:
        cell = Cell.parse(path)
        record = CellRecord.read(path, **vars(cell))
        described = {"arch": record.arch, "aux": "on" if record.lm_coef else "off"}
        described |= {"n_transfer": str(record.n_transfer), "corpus": record.corpus}
        seeds = [run.seed for run in record.seeds]
        rows += _rows(cell, described, scored(record, seeds), seeds)
    return pd.DataFrame(rows, columns=[name for name in CELL_COLUMNS if name != "note"])


def _rows(
    cell: Cell, described: dict[str, str], scores: dict[Key, Score], seeds: Sequence[int]
) -> Iterator[dict[str, Any]]:
    """One row for each score of a cell; `described` has the columns of its variant."""
    for seed in seeds:
        for (split, metric, degree), score in scores.items():
            if not degree and seed in score.seeds:
                yield {
                    **{"line": cell.variant, "task": cell.task},
                    "majority": score.majority,
                    "bag_of_words": score.bag_of_words,
                    **described,
                    "split": split,
                    "metric": metric,
                    "seed": seed,
                    "score": score.values[score.seeds.index(seed)],
                    "train_tokens": score.train_tokens[seed],
                    "alarms": ";".join(sorted(score.alarms[seed][0])),
                }


def _inventory(table: pd.DataFrame, notes: Notes, grid: Grid) -> list[str | pd.DataFrame]:
    runs = table.drop_duplicates([*CELL, "seed"])
    every = runs.groupby(CELL, sort=False).agg(seeds=("seed", "count"), alarms=("alarms", ";".join))
    every = every.reset_index()
    every["layers"] = every["n_transfer"].where(every["alarms"].map(is_marked))
    main = table["metric"] == table["task"].map({t: grid.task(t).metric for t in notes.by_task})
    fitted = table.assign(train=table["score"].where(main & (table["split"] == "train")))
    sweeps, costs, fits = (frame.groupby(SWEEP, sort=False) for frame in (every, runs, fitted))
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
        f"{len(every)} cells, {len(runs)} runs. Train (the score on the training rows) and tokens "
        "are means over the runs of the variant.",
        wide.reset_index(SWEEP[1:]).replace({"corpus": markdown.CORPORA}).rename(index=notes.mark),
        *notes.footnote(),
    ]


def confusion(results: Path, grid: Grid) -> Table:
    """The confusion matrix of the user's own tasks: how many rows of a label got which prediction.

    One row per (task, split, label, prediction). The model is the first of Table 5, the full one;
    `rows` counts the reported rows of all its seeds. Raises InputError for a damaged file.
    """
    counted, parts = [], list[str | pd.DataFrame](["# Confusion"])
    for cell in grid.own_cells():
        task, found = grid.task(cell.task), read_predictions(results, cell)
        if not found:
            continue
        for split in task.report:
            rows = found.rows[found.rows["seed"].isin(grid.seeds.finetune)]
            rows = rows[rows["split"] == split]
            counts = np.zeros((len(task.labels),) * 2, dtype=int)
            np.add.at(counts, (answers(task, rows["label"]), answers(task, rows["prediction"])), 1)
            parts += [f"## {task.title}, {split}", _matrix(counts, task.labels)]
            pairs = zip(product(task.labels, repeat=2), counts.ravel(), strict=True)
            counted += [(cell.task, split, *pair, n) for pair, n in pairs]
    return Table(pd.DataFrame(counted, columns=CONFUSION), [*parts, ABOUT_CONFUSION])


def _matrix(counts: np.ndarray, labels: tuple[str, ...]) -> pd.DataFrame:
    """The counts [label, prediction] with the recall and precision of each label, as text."""
    of = pd.DataFrame({"recall": counts.sum(axis=1), "precision": counts.sum(axis=0)})
    shares = (100 * counts.diagonal() / of.where(of > 0).T).T
    matrix = pd.DataFrame(counts[:, : len(labels) if len(labels) <= MANY else 0])
    shown = pd.concat([matrix.astype(str), shares.map(markdown.value)], axis=1)
    names = dict(enumerate(labels))
    return shown.rename(index=names, columns=names).rename_axis("")
