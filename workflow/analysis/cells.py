"""`cells.csv`: one row per cell, seed, split and metric; the source of every fine-tuning table.

A table that shows a part of the grid reads the same rows of that part (`Grid.table`), so that it
can be made without training the other cells.
Scores run from 0 to 100, unrounded. A cell that was not run has one row without seed and
score. `majority` and `bag_of_words` are empty on the training rows; `alarms` are joined by a
semicolon.
"""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from gpt1.cell import Corpus
from tasks.common.errors import InputError
from workflow.analysis.table import read_csv
from workflow.grid import Grid

CELL = ["arch", "task", "aux", "n_transfer", "corpus"]
COLUMNS = [
    *("arch", "task", "metric", "split", "n_transfer", "aux", "corpus", "seed", "score"),
    *("majority", "bag_of_words", "train_tokens", "alarms", "note"),
]


def read_cells(results: Path, grid: Grid, corpora: Sequence[Corpus] = ("books",)) -> pd.DataFrame:
    """The rows of the grid's cells, those that were not run included; `n_transfer` is text.

    Without `corpora` the cells of the negative control are left out, which share architecture,
    task, aux and layers with the cells of the fully transferred transformer. Raises InputError if
    the file is damaged or does not cover every cell of the grid.
    """
    path = Path(results) / grid.table
    table = read_csv(path)
    if list(table.columns) != COLUMNS:
        raise InputError(
            f"{path}: its columns are {' '.join(table.columns):.80}, not {' '.join(COLUMNS)}; "
            "collect the cells again"
        )
    known = set(table[CELL].itertuples(index=False, name=None))
    places = {
        (c.arch, c.task, c.aux, str(c.n_transfer), c.corpus): c.place
        for c in grid.cells()
        if c.corpus in corpora
    }
    missing = [place for key, place in places.items() if key not in known]
    if missing:
        raise InputError(
            f"{path}: {len(missing)} cells of the grid are missing, first {missing[0]}; "
            "collect the cells again"
        )
    lacking = table[table["seed"].notna() != table["score"].notna()]
    if len(lacking):
        raise InputError(
            f"{path}: line {lacking.index[0] + 2} has a seed or a score alone, not both; "
            "collect the cells again"
        )
    in_grid = [key in places for key in table[CELL].itertuples(index=False, name=None)]
    return table[in_grid].fillna({"alarms": "", "note": ""}).reset_index(drop=True)
