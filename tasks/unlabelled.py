"""The test rows of GLUE, whose labels are not public: further splits of the same examples.

Every row is kept, in the file's order, because the server wants an answer to each; a guid ends in
the row's official index. MNLI has the diagnostic set (`ax`) too, where its file exists.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from tasks.common.errors import InputError
from tasks.common.files import inside
from tasks.examples import Example
from tasks.hub import Snapshot
from tasks.readers import Row, unquoted
from tasks.task import UNLABELLED, Source, Task


def read(task: Task, source: Source) -> dict[str, list[Example]]:
    """All rows without public labels, by split; every label is -1.

    Raises InputError, naming file and line, for a missing file or column, and for rows that are not
    numbered from 0 on.
    """
    if not isinstance(source, Snapshot) and (missing := task.missing_unlabelled(source)):
        raise InputError(f"{source}: {' and '.join(missing)} needed; {task.obtain}")
    return {split: _examples(task, source, split) for split in _splits(task, source)}


def files(task: Task, source: Source, split: str) -> list[Path]:
    """The files of a split without public labels."""
    if isinstance(source, Snapshot):
        return source.files(split)
    path = task.unlabelled_files(source)[split]
    return inside(path.parent, [path])


def check_counts(task: Task, source: Source, splits: dict[str, list[Example]]) -> None:
    """Raise InputError unless there are as many rows as the server expects."""
    for split, rows in splits.items():
        if len(rows) != task.unlabelled_rows[split]:
            raise InputError(
                f"{files(task, source, split)[0]}: {len(rows):,} unlabelled rows in {split!r}, the "
                f"server expects {task.unlabelled_rows[split]:,}; download the file again"
            )


def _splits(task: Task, source: Source) -> list[str]:
    return [*(task.unlabelled if isinstance(source, Snapshot) else task.unlabelled_files(source))]


def _rows(task: Task, source: Source, split: str, paths: list[Path]) -> Iterator[Row]:
    """The rows of a split, each with its official number in place of the label."""
    if isinstance(source, Snapshot):
        for row in task.hub_rows(task.hub, source.checked_files(split)):
            hidden = row.label.removesuffix(".0") == str(UNLABELLED)
            known = split not in task.hub.unlabelled  # MRPC's are
            yield row._replace(label=row.key if hidden or known else f"labelled {row.label}")
    else:
        assert task.table, f"{task.name} has no table"
        yield from replace(task.table, label=task.unlabelled_index, names=()).rows(paths)


def _examples(task: Task, source: Source, split: str) -> list[Example]:
    """The examples; without text for a malformed row of QQP, whose other files have a few."""
    paths, mend = files(task, source, split), unquoted if task.csv_quoted else str
    examples: list[Example] = []
    malformed = 0
    for at, row in enumerate(_rows(task, source, split, paths)):
        place = f"{paths[row.file]}:{row.line}"
        malformed += bool(row.flaw)
        if row.flaw and (not task.tolerated or malformed > max(3, task.tolerated * (at + 1))):
            raise InputError(f"{place}: {row.flaw}")
        if not row.flaw and row.label != str(at):
            raise InputError(
                f"{place}: {task.unlabelled_index} is {row.label!r}, expected {at}; rows are "
                "missing, moved or labelled: download the file again"
            )
        first, second = mend(row.first.strip()), mend(row.second.strip())
        examples.append(Example(f"{task.name}/{split}/{at}", first, second, (), UNLABELLED))
    if not examples:
        raise InputError(f"{paths[0]}: no rows; {task.obtain}")
    return examples
