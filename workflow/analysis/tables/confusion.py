"""The confusion matrix of the user's own tasks: how many rows of a label got which prediction.

The model is the first of Table 5, the full one; `rows` counts the reported rows of all its seeds.
"""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from workflow.analysis import markdown
from workflow.analysis.predictions import answers, read_predictions
from workflow.analysis.table import Table
from workflow.grid import Grid

COLUMNS = ["task", "split", "label", "prediction", "rows"]
MANY = 25  # the most labels that the Markdown has a matrix of
ABOUT = (
    "Rows by label (down) and prediction of the full model (across), all seeds together, in "
    f"Markdown of up to {MANY} labels. Recall: the share of a label's rows that are predicted so. "
    "Precision: the share of the rows so predicted that have the label."
)


def build(results: Path, grid: Grid) -> Table:
    """One row per (task, split, label, prediction). Raises InputError for a damaged file."""
    counted, parts = [], list[str | pd.DataFrame](["# Confusion"])
    for cell in grid.own_cells():
        task, found = grid.task(cell.task), read_predictions(results, cell)
        if not found:
            continue
        for split in task.report:
            rows = found.rows[found.rows["seed"].isin(grid.seeds.finetune)]
            rows = rows[rows["split"] == split]
            counts = np.zeros((len(task.labels),) * 2, dtype=int)
            np.add.at(counts, tuple(answers(task, rows[side]) for side in COLUMNS[2:4]), 1)
            parts += [f"## {task.title}, {split}", _shown(counts, task.labels)]
            pairs = zip(product(task.labels, repeat=2), counts.ravel(), strict=True)
            counted += [(cell.task, split, *pair, n) for pair, n in pairs]
    return Table(pd.DataFrame(counted, columns=COLUMNS), [*parts, ABOUT])


def _shown(counts: np.ndarray, labels: tuple[str, ...]) -> pd.DataFrame:
    """The counts [label, prediction] with the recall and precision of each label, as text."""
    of = pd.DataFrame({"recall": counts.sum(axis=1), "precision": counts.sum(axis=0)})
    shares = (100 * counts.diagonal() / of.where(of > 0).T).T
    matrix = pd.DataFrame(counts[:, : len(labels) if len(labels) <= MANY else 0])
    shown = pd.concat([matrix.astype(str), shares.map(markdown.value)], axis=1)
    names = dict(enumerate(labels))
    return shown.rename(index=names, columns=names).rename_axis("")
