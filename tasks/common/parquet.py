"""Parquet files: opened with a fault of one line, read as records, and their labels' names.

Apart from `tasks.read`, so that an edited reader of tasks leaves the books and their models.
"""

import contextlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tasks.common.errors import InputError

if TYPE_CHECKING:  # imported where it is used, because programs start sooner without it
    from pyarrow.parquet import ParquetFile


@contextlib.contextmanager
def open_parquet(path: Path, remedy: str) -> Iterator["ParquetFile"]:
    """An open parquet file. Raises InputError, naming it, if it cannot be read."""
    from pyarrow import ArrowException, parquet

    try:
        with parquet.ParquetFile(path) as file:
            yield file
    except (ArrowException, OSError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{path}: not a whole parquet file ({reason:.200}); {remedy}") from None


def parquet_records(
    file: "ParquetFile", columns: Sequence[str] | None = None
) -> Iterator[dict[str, Any]]:
    """The records of an open parquet file, by column."""
    for batch in file.iter_batches(columns=columns):
        batch.validate(full=True)  # checks that texts are UTF-8
        yield from batch.to_pylist()


def class_names(file: "ParquetFile", column: str) -> list[str]:
    """What a column's numbers 0, 1, .. are named in the schema, by `datasets`; empty if nothing."""
    kept = json.loads((file.schema_arrow.metadata or {}).get(b"huggingface", b"{}"))
    return kept.get("info", {}).get("features", {}).get(column, {}).get("names", [])
