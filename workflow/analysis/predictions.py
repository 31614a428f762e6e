"""Stored predictions, row by row and seed by seed, and the examples that they are of."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from gpt1.cell import Cell
from gpt1.records import CellRecord
from tasks import Task
from tasks.common.errors import InputError, make_again
from tasks.common.files import sha256_file
from tasks.common.records import REMEDY
from tasks.examples import ExamplesFacts

COLUMNS = ["seed", "split", "guid", "group", "label", "prediction"]


@dataclass(frozen=True)
class Predictions:
    """A cell's predictions: `rows` with COLUMNS, and the digests of the `examples` by split."""

    path: Path
    rows: pd.DataFrame
    examples: dict[str, str]


def read_predictions(results: Path, cell: Cell) -> Predictions | None:
    """A cell's predictions; None if it was not run.

    Raises InputError if the file does not match its digest in the cell's JSON.
    """
    path, facts = cell.predictions(results), cell.path(results)
    if not path.exists() or not facts.exists():
        return None
    if sha256_file(path) != CellRecord.read(facts, **vars(cell)).digests.predictions:
        raise InputError(
            f"{path}: not the predictions that {facts} was written with; {make_again(path)}"
        )
    table = pq.read_table(path, columns=COLUMNS)
    examples = json.loads(table.schema.metadata[b"gpt1"])["examples"]
    return Predictions(path, table.to_pandas(), examples)


def answers(task: Task, predictions: pd.Series) -> np.ndarray:
    """Predictions [n] in the form the metrics take: class indices, or real numbers for STS-B."""
    return predictions.to_numpy(dtype=float if task.soft_labels else np.int64)


def read_examples(results: Path, names: Iterable[str]) -> dict[str, ExamplesFacts]:
    """The facts of the tasks that were prepared. Raises InputError for a damaged file."""
    found = {name: ExamplesFacts.find(results / "examples" / f"{name}.json") for name in names}
    return {name: record for name, record in found.items() if record}


def check_examples(path: Path, digests: dict[str, str], other: Path, known: dict[str, str]) -> None:
    """Raise InputError unless the `digests` in `path`, by split, equal those in `other`."""
    for split, digest in digests.items():
        if known.get(split) != digest:
            raise InputError(f"{path}: its {split} rows are not those of {other}; {REMEDY}")
