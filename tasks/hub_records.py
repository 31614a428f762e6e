"""Reading snapshots of the hub: the records of parquet files, and the rows that they hold."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tasks.common.errors import InputError
from tasks.common.hf_datasets import load_parquet
from tasks.hub import FETCH_AGAIN, HubSource
from tasks.readers import Batch, Parser, Row

if TYPE_CHECKING:
    from datasets import Dataset

    from tasks.task import Task


def hub_records(source: HubSource, paths: list[Path]) -> "Dataset":
    """The columns of a source's parquet files, with each row's `file`, `line` (from 1) and
    `number` (from 0, within the split).

    Raises InputError for a file that is truncated, of another task, or whose labels are coded
    otherwise than the source says.
    """
    from pyarrow import ArrowException, parquet

    places: list[tuple[int, int]] = []
    for number, path in enumerate(paths):
        try:
            with parquet.ParquetFile(path) as file:
                _check_schema(path, file.schema_arrow, source)
                places += [(number, line) for line in range(1, file.metadata.num_rows + 1)]
        except (ArrowException, OSError) as error:
            reason = " ".join(str(error).split())
            raise InputError(
                f"{path}: truncated or corrupt parquet file ({reason:.200}); {FETCH_AGAIN}"
            ) from None
    if not places:
        raise InputError(f"{paths[0]}: no rows; {FETCH_AGAIN}")
    records = load_parquet(paths, source.columns)
    for name, values in (
        ("file", [file for file, _ in places]),
        ("line", [line for _, line in places]),
        ("number", list(range(len(places)))),
    ):
        records = records.add_column(name, values)
    return records


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


def hub_rows(task: "Task", records: "Dataset", paths: list[Path]) -> "tuple[Dataset, Parser]":
    """The hub's records of one or two texts and a label, numbered within the split."""
    source = task.hub
    names = ("file", "line", source.index or "number", source.label, *source.texts)

    def rows(batch: Batch) -> Iterator[Row]:
        for file, line, key, label, *texts in zip(*(batch[n] for n in names), strict=True):
            if None in texts:
                flaw = "null text; remove the row or restore it"
                yield Row(file, line, reason="empty text", flaw=flaw)
            else:
                yield Row(file, line, str(key), hub_word(task, label), *texts)

    return records, rows


def hub_word(task: "Task", value: Any) -> str:
    """A label of the hub as the original files spell it."""
    if value == -1 and task.no_gold_label:
        return task.no_gold_label
    if value not in task.hub.labels:
        return str(value)
    return task.label_word(task.labels.index(task.hub.labels[value]))
