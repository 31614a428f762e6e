"""Reading snapshots of the hub: the records of parquet files, and the rows made from them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tasks.common.errors import InputError
from tasks.hub import FETCH_AGAIN, HubSource
from tasks.readers import Row


def hub_records(
    source: HubSource, paths: list[Path]
) -> Iterator[tuple[Path, int, int, dict[str, Any]]]:
    """The records of a source's parquet files.

    Each comes as its file, line (from 1), number within the split (from 0) and values by column.
    Raises InputError for a file that is truncated, of another task, or whose labels are not coded
    as the source says, and if there are no rows.
    """
    from pyarrow import ArrowException, parquet

    number = 0
    for path in paths:
        line = 0
        try:
            with parquet.ParquetFile(path) as opened:
                _check_schema(path, opened.schema_arrow, source)
                for batch in opened.iter_batches(columns=list(source.columns)):
                    batch.validate(full=True)  # checks that texts are UTF-8
                    for record in batch.to_pylist():
                        line += 1
                        yield path, line, number, record
                        number += 1
        except (ArrowException, OSError) as error:
            reason = " ".join(str(error).split())
            raise InputError(
                f"{path}: truncated or corrupt parquet file ({reason:.200}); {FETCH_AGAIN}"
            ) from None
    if not number:
        raise InputError(f"{paths[0]}: no rows; {FETCH_AGAIN}")


def _check_schema(path: Path, schema: Any, source: HubSource) -> None:
    """Raise InputError unless a file has the source's columns, and labels coded as it says."""
    missing = [name for name in source.columns if name not in schema.names]
    if missing:
        raise InputError(
            f"{path}: expected columns {', '.join(source.columns)}, found "
            f"{', '.join(schema.names)}; {source.note or FETCH_AGAIN}"
        )
    type_ = str(schema.field(source.label).type)
    expected = {int: "int", str: "string"}[type(min(source.labels))] if source.labels else "float"
    if expected not in type_:
        raise InputError(
            f"{path}: {source.label!r} holds {type_}, a label of {source.name} is {expected}; "
            + FETCH_AGAIN
        )
    if expected == "int" and source.named_labels:
        # `datasets` keeps the names of a column's classes in the file's schema.
        kept = json.loads((schema.metadata or {}).get(b"huggingface", b"{}"))
        names = kept.get("info", {}).get("features", {}).get(source.label, {}).get("names", [])
        if names != list(source.labels.values()):
            raise InputError(
                f"{path}: labels 0, 1, .. are named {', '.join(names) or 'nothing'}, expected "
                f"{', '.join(source.labels.values())}; use the pinned revision, whose files name "
                "them so"
            )


def hub_rows(source: HubSource, paths: list[Path]) -> Iterator[Row]:
    """The rows of one or two texts and a label, numbered within the split."""
    for path, line, number, record in hub_records(source, paths):
        texts = [record[name] for name in source.texts]
        if None in texts:
            flaw = "null text; remove the row or restore it"
            yield Row(path, line, reason="empty text", flaw=flaw)
        else:
            key = str(record[source.index] if source.index else number)
            yield Row(path, line, key, source.label_name(record[source.label]), *texts)
