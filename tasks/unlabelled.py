"""The test rows of GLUE, whose labels are not public: further splits of the same examples.

Every row is kept, in the file's order, for the server wants an answer to each; a guid ends in the
row's official index. MNLI's files also hold the diagnostic set (`ax`), where that is there.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from tasks import readers
from tasks.common.errors import InputError
from tasks.examples import Example, to_dataset
from tasks.hub import Snapshot
from tasks.task import UNLABELLED, Source, Task

if TYPE_CHECKING:
    from datasets import Dataset


def load(task: Task, source: Source) -> dict[str, "Dataset"]:
    """All rows without public labels, by split; every label is -1.

    Raises InputError, naming file and line, for a missing file or column, and for rows that are not
    numbered from 0 on.
    """
    if isinstance(source, Snapshot):
        texts = {split: _hub_texts(task, source, split) for split in task.unlabelled}
    else:
        if missing := task.missing_unlabelled(source):
            raise InputError(f"{source}: {' and '.join(missing)} needed; {task.obtain}")
        found = task.unlabelled_files(source)
        texts = {split: _table_texts(task, path) for split, path in found.items()}
    for split, rows in texts.items():
        if not rows:
            remedy = "fetch it again" if isinstance(source, Snapshot) else task.obtain
            raise InputError(f"{files(task, source, split)[0]}: no rows in {split!r}; {remedy}")
    return {split: _examples(task, split, rows) for split, rows in texts.items()}


def files(task: Task, source: Source, split: str) -> list[Path]:
    """The files of a split without public labels."""
    if isinstance(source, Snapshot):
        return source.files(split)
    return [task.unlabelled_files(source)[split]]


def check_counts(task: Task, source: Source, splits: dict[str, "Dataset"]) -> None:
    """As many rows as the server expects, else InputError: a cut-off file, or another one."""
    for split, rows in splits.items():
        if len(rows) != task.unlabelled_rows[split]:
            raise InputError(
                f"{files(task, source, split)[0]}: {len(rows):,} unlabelled rows in {split!r}, the "
                f"server expects {task.unlabelled_rows[split]:,}; get the file again"
            )


def _table_texts(task: Task, path: Path) -> list[list[str]]:
    """The texts of each row. Of a broken row of QQP, which has some in other files, empty ones."""
    table = task.table
    assert table, f"{task.name} has no table"
    index, columns = task.unlabelled_index, [c for c in (table.first, table.second) if c]
    records = readers.table(path, (index, *columns), (), "unlabelled")
    broken, texts = 0, []
    cells = (records[name][:] for name in ("line", "flaw", index, *columns))
    for at, (line, flaw, number, *row) in enumerate(zip(*cells, strict=True)):
        broken += bool(flaw)
        if flaw and broken > max(3, task.tolerated * (at + 1)) or flaw and not task.tolerated:
            raise InputError(f"{path}:{line}: {flaw}")
        if not flaw and number != str(at):
            raise InputError(
                f"{path}:{line}: {index} is {number!r}, expected {at}; rows are missing or moved: "
                "get the file again"
            )
        texts.append(row)
    return texts


def _hub_texts(task: Task, snapshot: Snapshot, split: str) -> list[list[str]]:
    paths, source = snapshot.checked_files(split), task.hub
    records = readers.hub_records(source, paths)
    expected = {source.index: list(range(len(records)))} if source.index else {}
    if split in source.unlabelled:
        expected[source.label] = [UNLABELLED] * len(records)
    for column, values in expected.items():
        for at, (found, value) in enumerate(zip(records[column][:], values, strict=True)):
            if found != value:
                path, line = paths[records[at]["file"]], records[at]["line"]
                raise InputError(
                    f"{path}: row {line}: {column} is {found}, expected {value}: these are not the "
                    "unlabelled rows; fetch them again"
                )
    columns = ([text or "" for text in records[name]] for name in source.texts)
    return [list(row) for row in zip(*columns, strict=True)]


def _examples(task: Task, split: str, texts: list[list[str]]) -> "Dataset":
    examples = []
    for at, row in enumerate(texts):
        first, second = (*(text.strip() for text in row), "")[:2]
        examples.append(Example(f"{task.name}/{split}/{at}", first, second, (), UNLABELLED))
    return to_dataset(examples, task.label_names)
