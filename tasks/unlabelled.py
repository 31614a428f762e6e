"""The test rows of GLUE, whose labels are not public: further splits of the same examples.

Every row is kept, in the file's order, because the server wants an answer to each; a guid ends in
the row's official index. MNLI has the diagnostic set (`ax`) too, where its file exists.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tasks.common.errors import InputError
from tasks.common.files import inside
from tasks.examples import Example, to_dataset
from tasks.hub import Snapshot
from tasks.hub_records import hub_records
from tasks.readers import unquoted
from tasks.task import UNLABELLED, Source, Task

if TYPE_CHECKING:
    from datasets import Dataset


def load(task: Task, source: Source) -> dict[str, "Dataset"]:
    """All rows without public labels, by split; every label is -1.

    Raises InputError, naming file and line, for a missing file or column, and for rows that are not
    numbered from 0 on.
    """
    if isinstance(source, Snapshot):
        return {
            split: _dataset(task, split, _hub(task, source, split)) for split in task.unlabelled
        }
    if missing := task.missing_unlabelled(source):
        raise InputError(f"{source}: {' and '.join(missing)} needed; {task.obtain}")
    paths = task.unlabelled_files(source)
    for path in paths.values():
        inside(path.parent, [path])
    return {split: _dataset(task, split, _table(task, path)) for split, path in paths.items()}


def files(task: Task, source: Source, split: str) -> list[Path]:
    """The files of a split without public labels."""
    if isinstance(source, Snapshot):
        return source.files(split)
    return [task.unlabelled_files(source)[split]]


def check_counts(task: Task, source: Source, splits: dict[str, "Dataset"]) -> None:
    """Raise InputError unless there are as many rows as the server expects."""
    for split, rows in splits.items():
        if len(rows) != task.unlabelled_rows[split]:
            raise InputError(
                f"{files(task, source, split)[0]}: {len(rows):,} unlabelled rows in {split!r}, the "
                f"server expects {task.unlabelled_rows[split]:,}; download the file again"
            )


def _dataset(task: Task, split: str, texts: Iterator[tuple[str, str]]) -> "Dataset":
    mend = unquoted if task.csv_quoted else str
    examples = [
        Example(
            f"{task.name}/{split}/{at}", mend(first.strip()), mend(second.strip()), (), UNLABELLED
        )
        for at, (first, second) in enumerate(texts)
    ]
    return to_dataset(examples, task.label_names)


def _table(task: Task, path: Path) -> Iterator[tuple[str, str]]:
    """The texts of each row; empty for a malformed row of QQP, whose other files have a few."""
    assert task.table, f"{task.name} has no table"
    # The row's number takes the place of the label, which these files lack.
    table = replace(task.table, label=task.unlabelled_index, names=())
    at, malformed = -1, 0
    for at, row in enumerate(table.rows([path])):
        malformed += bool(row.flaw)
        if row.flaw and (not task.tolerated or malformed > max(3, task.tolerated * (at + 1))):
            raise InputError(f"{path}:{row.line}: {row.flaw}")
        if not row.flaw and row.label != str(at):
            raise InputError(
                f"{path}:{row.line}: {task.unlabelled_index} is {row.label!r}, expected {at}; rows "
                "are missing or moved: download the file again"
            )
        yield row.first, row.second
    if at < 0:
        raise InputError(f"{path}: no rows; {task.obtain}")


def _hub(task: Task, snapshot: Snapshot, split: str) -> Iterator[tuple[str, str]]:
    """The texts of each row; empty for one that is null."""
    paths, source = snapshot.checked_files(split), task.hub
    for file, line, at, record in hub_records(source, paths):
        expected = {source.index: at} if source.index else {}
        if split in source.unlabelled:
            expected[source.label] = UNLABELLED
        for name, value in expected.items():
            if record[name] != value:
                raise InputError(
                    f"{paths[file]}: row {line}: {name} is {record[name]}, expected {value}: these "
                    "are not the unlabelled rows; fetch them again"
                )
        first, second = (*(record[name] or "" for name in source.texts), "")[:2]
        yield first, second
