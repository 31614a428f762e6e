"""The samples behind the tables: a cell's scores by seed and by resampled row, from predictions."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

import tasks
from gpt1.cell import Cell
from tasks.common.errors import InputError
from workflow.analysis.predictions import Predictions, answers, read_predictions
from workflow.analysis.records import REMEDY, check_examples
from workflow.analysis.row_bootstrap import resample
from workflow.analysis.statistics import headline_splits
from workflow.analysis.uncertainty import Sample, average
from workflow.grid import Grid


class Samples:
    """Reads samples of the cells of a grid; `cells` are the rows of its `cells.csv`.

    Each method returns None for a cell that was not run, or whose predictions are not there.
    """

    def __init__(self, results: Path, grid: Grid, cells: pd.DataFrame) -> None:
        self.results, self.grid, self.cells = results, grid, cells
        self._headlines: dict[Cell, Sample | None] = {}
        self._splits: dict[str, list[str]] = {}
        self._examples: dict[tuple[str, str], Predictions] = {}  # the first file of a split's rows
        self._last: tuple[Cell, Predictions | None] | None = None

    def headline(self, cell: Cell) -> Sample | None:
        """The main metric on the split, or the mean of the splits, that stands for the task."""
        if cell not in self._headlines:
            if cell.task not in self._splits:
                self._splits[cell.task] = headline_splits(cell.task, self.cells)
            splits = self._splits[cell.task]
            found = [self.of(cell, split, tasks.task(cell.task).metric) for split in splits]
            whole = [sample for sample in found if sample is not None]
            self._headlines[cell] = average(whole) if len(whole) == len(splits) else None
        return self._headlines[cell]

    def of(
        self, cell: Cell, split: str, metric: str, keep: Callable[[str], bool] | None = None
    ) -> Sample | None:
        """One metric on one split, or on those of its rows whose guids `keep` takes.

        `{split}_{group}` are the rows of one of RACE's groups. Raises InputError if the seeds of a
        cell, or two cells, do not have the same rows.
        """
        predictions = self._read(cell)
        if predictions is None:
            return None
        rows = predictions.rows
        mine = rows[(rows["split"] == split) & rows["seed"].isin(self.grid.seeds.finetune)]
        if mine.empty:
            base, _, group = split.rpartition("_")
            mine = rows[(rows["split"] == base) & (rows["group"] == group)]
            mine = mine[mine["seed"].isin(self.grid.seeds.finetune)]
        if keep is not None:
            mine = mine[mine["guid"].map(keep).astype(bool)]
        if mine.empty:
            return None
        seeds = tuple(int(seed) for seed in mine["seed"].unique())
        found = mine["guid"].to_numpy()
        n = len(found) // len(seeds)
        if n * len(seeds) != len(found) or (found.reshape(len(seeds), n) != found[:n]).any():
            raise InputError(
                f"{predictions.path}: its seeds have predictions for different rows of {split!r}; "
                f"{REMEDY}"
            )
        said = answers(predictions.path, cell.task, mine["prediction"]).reshape(len(seeds), n)
        labels = answers(predictions.path, cell.task, mine["label"][:n])
        texts = shared_texts(cell.task, found[:n])
        score, boot, n_texts = resample(metric, said, labels, texts, f"{cell.task}/{split}")
        source = tuple(self.grid.seeds.source(seed, cell.corpus) for seed in seeds)
        return Sample(seeds, source, score, boot, n_texts)

    def _read(self, cell: Cell) -> Predictions | None:
        if self._last is None or self._last[0] != cell:
            found = read_predictions(self.results, cell)
            if found is not None:
                self._check_rows(cell.task, found)
            self._last = cell, found
        return self._last[1]

    def _check_rows(self, task: str, found: Predictions) -> None:
        for split, digest in found.examples.items():
            first = self._examples.setdefault((task, split), found)
            check_examples(found.path, {split: digest}, first.path, first.examples)


def shared_texts(task: str, guids: Sequence[str]) -> np.ndarray:
    """For each row the number, from 0, of the text that it shares with others; else its own."""
    if not tasks.task(task).several_rows_a_text:
        return np.arange(len(guids))
    return np.unique([guid.rpartition("/")[0] for guid in guids], return_inverse=True)[1]
