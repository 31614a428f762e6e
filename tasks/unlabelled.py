"""The test rows of GLUE, whose labels are not public, as further splits of a task's examples.

Every row is kept, in the file's order, because the server expects an answer to each; a guid ends in
the row's official index. MNLI also has the diagnostic set (`ax`), where its file exists.
"""

from tasks.common.errors import InputError
from tasks.example import Example
from tasks.hub import Snapshot
from tasks.readers import Row, unquoted, wrong
from tasks.task import UNLABELLED, Source, Task


def read(task: Task, source: Source) -> dict[str, list[Example]]:
    """All rows without public labels, by split; every label is -1.

    Raises InputError, naming file and line, for a missing file or column, and for rows that are not
    numbered from 0 on.
    """
    if isinstance(source, Snapshot):
        return {split: _examples(task, source, split) for split in task.unlabelled}
    if missing := task.missing_unlabelled(source):
        raise InputError(
            f"{source}: {' and '.join(missing)} needed; {task.obtain}, or set "
            "experiment.submission to false"
        )
    return {split: _examples(task, source, split) for split in task.unlabelled_files(source)}


def check_counts(task: Task, source: Source, splits: dict[str, list[Example]]) -> None:
    """Raise InputError unless there are as many rows as the server expects."""
    for split, rows in splits.items():
        if len(rows) != task.unlabelled_rows[split]:
            raise InputError(
                f"{task.files(source, split)[0]}: {len(rows):,} unlabelled rows in {split!r}, the "
                f"server expects {task.unlabelled_rows[split]:,}; download the file again"
            )


def _examples(task: Task, source: Source, split: str) -> list[Example]:
    """The examples; a malformed row of QQP, whose other files have a few, gets empty texts."""
    mend = unquoted if task.csv_quoted else str
    examples: list[Example] = []
    malformed = 0
    for at, row in enumerate(task.read_rows(source, split)):
        malformed += bool(row.flaw)
        if row.flaw and (not task.tolerated or malformed > max(3, task.tolerated * (at + 1))):
            raise wrong(row.path, row.line, row.flaw)
        number = _number(task, row, split) if isinstance(source, Snapshot) else row.label
        if not row.flaw and number != str(at):
            numbering = f"{task.unlabelled_index} is {number!r}, expected {at}"
            remedy = "rows are missing, moved or labelled: download the file again"
            raise wrong(row.path, row.line, f"{numbering}; {remedy}")
        first, second = mend(row.first).strip(), mend(row.second).strip()
        examples.append(Example(f"{task.name}/{split}/{at}", first, second, (), UNLABELLED))
    if not examples:
        raise InputError(f"{task.files(source, split)[0]}: no rows; {task.obtain}")
    return examples


def _number(task: Task, row: Row, split: str) -> str:
    """The official number of a hub row, or its label if it has one where none is public."""
    known = split not in task.hub.unlabelled  # as for MRPC
    hidden = known or row.label.removesuffix(".0") == str(UNLABELLED)
    return row.key if hidden else f"labelled {row.label}"
