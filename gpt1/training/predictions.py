"""The predictions behind a cell's scores, row by row, as Parquet."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa

from gpt1.cell import Cell
from gpt1.training.encoded import EncodedTask
from tasks.common.files import sha256_file, write_atomic

SCHEMA = pa.schema(
    {
        "seed": pa.int64(),
        "split": pa.string(),
        "guid": pa.string(),
        "group": pa.string(),
        "label": pa.float64(),
        "prediction": pa.float64(),
    }
)
METADATA_KEY = b"gpt1"


class Answered(Protocol):
    """One seed's predictions, by split and in the order of its examples."""

    @property
    def seed(self) -> int: ...

    @property
    def predictions(self) -> dict[str, list[float]]: ...


def write_predictions(
    path: Path, cell: Cell, encoded: EncodedTask, records: Sequence[Answered]
) -> str:
    """Write one row for each seed, predicted split and example, in this order.

    `label` is null for unlabelled rows. The schema's metadata name the cell and the digests of the
    tokenizer and of the examples' splits. Returns the file's SHA-256, which the cell's JSON keeps.
    """
    import pyarrow.parquet as parquet  # not before it is needed: training starts sooner

    # In the order of the splits, which a record from the cache has lost.
    splits = [split for split in encoded.splits if split in records[0].predictions]
    tables = [_table(encoded, split, record) for record in records for split in splits]
    metadata = {
        **cell.facts(),
        "tokenizer": encoded.tokenizer,
        "examples": {split: encoded.facts.splits[split].examples for split in splits},
    }
    table = pa.concat_tables(tables)
    table = table.replace_schema_metadata({METADATA_KEY: json.dumps(metadata, sort_keys=True)})
    with write_atomic(path, "wb") as file:
        parquet.write_table(table, file)
    return sha256_file(path)


def _table(encoded: EncodedTask, split: str, record: Answered) -> pa.Table:
    rows, unlabelled = encoded.splits[split], encoded.facts.splits[split].role == "unlabelled"
    columns = {
        "seed": np.full(len(rows), record.seed),
        "split": [split] * len(rows),
        "guid": rows.guids,
        "group": rows.groups,
        "label": [None] * len(rows) if unlabelled else rows.labels.astype(np.float64),
        "prediction": np.asarray(record.predictions[split], dtype=np.float64),
    }
    return pa.table(columns, schema=SCHEMA)
