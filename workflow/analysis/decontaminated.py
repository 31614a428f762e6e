"""Scores without the rows that the language model has read in its corpus.

`gpt1.contamination` marks the rows of each reported split that share a 13-gram with the corpus, of
tokens or of words; the others are the decontaminated rows, among them those too short to tell. A
cell's scores are computed again from its stored predictions: on all rows, which must give what
`cells.csv` says, and on the decontaminated ones.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import tasks
from tasks.common.errors import InputError
from tasks.metrics import score
from workflow.analysis.predictions import Predictions, answers, read_predictions
from workflow.analysis.records import REMEDY, Marks, SplitMarks
from workflow.grid import Grid

KINDS = ("tokens", "words")
SCORED = ["aux", "task", "split", "metric"]
COLUMNS = ["decontaminated_mean", "decontaminated_sd", "decontaminated_rows"]
NOTE = (
    "Decontaminated: without the rows that share a 13-gram, of tokens or of words, with the "
    "pre-training corpus."
)


@dataclass(frozen=True)
class Split:
    """A reported split, or one group of its rows (RACE's middle and high).

    `rows` [n] are the places of its rows in the official split `base`; `contaminated` and
    `too_short` hold, for each kind of n-gram, a mask [n].
    """

    base: str
    rows: np.ndarray
    contaminated: dict[str, np.ndarray]
    too_short: dict[str, np.ndarray]

    @property
    def decontaminated(self) -> np.ndarray:
        """Which of the rows [n] share no n-gram with the corpus."""
        return ~np.logical_or.reduce(list(self.contaminated.values()))

    @classmethod
    def of(cls, base: str, rows: np.ndarray, marks: SplitMarks) -> "Split":
        """The marks of those `rows` of the split `base`."""
        by_kind = {kind: getattr(marks, kind) for kind in KINDS}
        contaminated = {k: np.isin(rows, found.contaminated) for k, found in by_kind.items()}
        too_short = {k: np.isin(rows, found.too_short) for k, found in by_kind.items()}
        return cls(base, rows, contaminated, too_short)


def read_marks(results: Path, name: str) -> tuple[Path, Marks | None]:
    """A task's marks and their path; None if the corpus was not searched for its rows."""
    path = Path(results) / "contamination" / f"{name}.json"
    return path, Marks.read(path, task=name) if path.exists() else None


def splits(results: Path, name: str, predictions: Predictions | None) -> dict[str, Split]:
    """Every reported split of a task and every group of one, by name; nothing if not searched.

    The groups are known from the predictions. Raises InputError if these and the marks are not of
    the same examples.
    """
    path, marks = read_marks(results, name)
    if marks is None:
        return {}
    if predictions is not None:
        predictions.check(path, marks.examples)
    found = {}
    for split, marked in marks.splits.items():
        found[split] = Split.of(split, np.arange(marked.rows), marked)
        if predictions is None:
            continue
        for seed, mine in _of(predictions, split).groupby("seed"):
            if len(mine) != marked.rows:
                raise InputError(
                    f"{predictions.path}: seed {seed}: {len(mine)} predictions for the "
                    f"{marked.rows} rows of {split!r}; {REMEDY}"
                )
            groups = mine["group"].to_numpy(dtype=str)
        for group in sorted({group for group in groups if group}):
            found[f"{split}_{group}"] = Split.of(split, np.flatnonzero(groups == group), marked)
    return found


def scores(results: Path, grid: Grid, cells: pd.DataFrame) -> pd.DataFrame:
    """Over seeds, the decontaminated scores of the fully transferred transformer.

    One row per (aux, task, split, metric): `decontaminated_mean` and `decontaminated_sd` (n-1;
    empty for one seed) from 0 to 100, empty if no row is left, and `decontaminated_rows`. What was
    not run, or not searched for, is not there.
    """
    full = cells[(cells["arch"] == "transformer") & cells["seed"].notna()]
    full = full[full["n_transfer"] == str(grid.n_layer.get("transformer"))]
    known = full.set_index([*SCORED, "seed"])["score"].to_dict()
    rows: list[tuple] = []
    for cell in grid.full_transformer():
        predictions = read_predictions(results, cell)
        if predictions is not None:
            found = splits(results, cell.task, predictions)
            rows += _scores(predictions, cell.aux, cell.task, found, known)
    table = pd.DataFrame(rows, columns=[*SCORED, "seed", "score", "n"])
    return table.groupby(SCORED, sort=False, as_index=False).agg(
        decontaminated_mean=("score", "mean"),
        decontaminated_sd=("score", "std"),
        decontaminated_rows=("n", "first"),
    )


def _scores(
    predictions: Predictions, aux: str, name: str, found: dict[str, Split], known: dict
) -> Iterator[tuple]:
    """SCORED, seed, decontaminated score and number of rows, for each seed of `cells.csv`."""
    path, spec = predictions.path, tasks.task(name).kind
    for split, part in found.items():
        for seed, mine in _of(predictions, part.base).groupby("seed"):
            mine, kept = mine.iloc[part.rows], part.decontaminated
            given = answers(path, name, mine["prediction"])
            labels = answers(path, name, mine["label"])
            every = score(spec, given, labels)
            rest = score(spec, given[kept], labels[kept]) if kept.any() else {}
            for metric, value in every.items():
                place = (aux, name, split, metric)
                stated = known.get((*place, seed))
                if stated is None:  # a seed that the config no longer asks for
                    continue
                if not math.isclose(value, stated, rel_tol=0, abs_tol=1e-6):
                    raise InputError(
                        f"{path}: seed {seed}: {split} {metric} of these predictions is "
                        f"{value:.6f}, cells.csv says {stated:.6f}; {REMEDY}"
                    )
                yield (*place, seed, rest.get(metric, math.nan), int(kept.sum()))


def _of(predictions: Predictions, split: str) -> pd.DataFrame:
    return predictions.rows[predictions.rows["split"] == split]
