"""Stored predictions, `predictions/ARCH/TASK/aux-X/layers-N.parquet`: row by row, seed by seed."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import tasks
from gpt1.cell import Cell
from tasks.common.errors import InputError
from workflow.analysis.records import REMEDY, PredictionsRecord

COLUMNS = ["seed", "split", "guid", "group", "label", "prediction"]


@dataclass(frozen=True)
class Predictions:
    """A cell's predictions: `rows` with COLUMNS, and the digests of the `examples` by split."""

    path: Path
    rows: pd.DataFrame
    examples: dict[str, str]


def read_predictions(results: Path, cell: Cell) -> Predictions | None:
    """A cell's predictions; None if it was not run.

    Raises InputError if the file is truncated, foreign or of another cell.
    """
    path = cell.predictions(results)
    if not path.exists():
        return None
    try:
        table = pq.read_table(path, columns=COLUMNS, page_checksum_verification=True)
        facts = json.loads((table.schema.metadata or {})[b"gpt1"])
    except (pa.ArrowInvalid, OSError, KeyError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{path}: not a file of predictions ({reason:.80}); {REMEDY}") from None
    record = PredictionsRecord.check(path, facts, **vars(cell))
    return Predictions(path, table.to_pandas(), record.examples)


def answers(path: Path, task: str, predictions: pd.Series) -> np.ndarray:
    """Predictions [n] as the metrics take them: class indices, or real numbers for STS-B."""
    values = predictions.to_numpy(dtype=float)
    if tasks.task(task).soft_labels:
        return values
    wrong = values[~(np.isfinite(values) & (values == np.round(values)))]
    if len(wrong):
        raise InputError(f"{path}: {wrong[0]} is not a class of {task}; {REMEDY}")
    return values.astype(np.int64)
