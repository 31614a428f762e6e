"""The folder of a task's examples that `tasks.prepare` saves.

It is a `datasets.DatasetDict`, so that anybody can look at it with `load_from_disk`; the suite's
programs read it with pyarrow only.
"""

from pathlib import Path

from tasks.common.errors import InputError
from tasks.common.records import Counts, Record, facts_path
from tasks.settings import PrepareSettings
from tasks.spec import Example

COLUMNS = ("guid", "first", "second", "choices", "label", "group")


class ExamplesFacts(Record):
    """`examples/TASK.json`, beside the folder `TASK`; most of it is by split.

    `train_from` and `select_from` are the official splits that the training and selection rows
    come from. `rows` counts labelled rows, `overlap` those that are also training rows,
    `half_known` those that share a text with one. `note` says how the rows differ from the
    published ones. `sources` and `sha256` are digests of the files read and written.
    """

    task: str
    train_from: str
    select_from: str | None
    report: list[str]
    rows: Counts
    labels: dict[str, Counts]
    unlabelled: list[str]
    dropped: dict[str, Counts]
    unquoted: Counts
    overlap: Counts
    half_known: Counts
    settings: PrepareSettings
    origin: dict[str, str]
    sources: dict[str, dict[str, str]]
    note: str
    alarms: list[str] = []  # about a user's own rows; they are in the note, too
    sha256: dict[str, str]


def write(folder: str | Path, splits: dict[str, list[Example]], labels: tuple[str, ...]) -> None:
    """Save the examples of each split; `labels` are the classes' names, none for scores."""
    from datasets import ClassLabel, Dataset, Features, List, Value

    from tasks.common import hf_datasets

    text = Value("string")
    label = ClassLabel(names=list(labels)) if labels else Value("float64")
    types = {"guid": text, "first": text, "second": text, "choices": List(text)}
    features = Features({**types, "label": label, "group": text})
    columns = {
        split: {name: [getattr(row, name) for row in rows] for name in COLUMNS}
        for split, rows in splits.items()
    }
    hf_datasets.save(folder, {s: Dataset.from_dict(c, features) for s, c in columns.items()})


def facts_of(task: str, folder: Path) -> ExamplesFacts:
    """The facts of a task's examples. Raises InputError for those of another task."""
    facts = ExamplesFacts.read(facts_path(folder))
    if facts.task != task:
        raise InputError(
            f"{folder}.json: examples of {facts.task}, not {task}; give the right folder"
        )
    return facts


def check_split(folder: str | Path, split: str, facts: ExamplesFacts) -> str:
    """The digest of a split's files. Raises InputError unless it is the one in the facts."""
    from tasks.common import arrow

    digest = arrow.split_digest(folder, split)
    if digest != facts.sha256.get(split):
        raise InputError(
            f"{folder}/{split}: not what {folder}.json describes; prepare {facts.task} again"
        )
    return digest


def read(folder: str | Path, split: str) -> list[Example]:
    """The examples of one split. Raises InputError if the folder is missing or damaged."""
    from tasks.common import arrow  # which imports pyarrow

    table = arrow.read_split(folder, split)
    if tuple(table.column_names) != COLUMNS:
        raise InputError(
            f"{folder}: columns {' '.join(table.column_names):.80} are not those of examples; "
            "delete the folder and rerun `python -m tasks prepare`"
        )
    columns = table.to_pydict()
    columns["choices"] = [tuple(choices) for choices in columns["choices"]]
    return [Example(*row) for row in zip(*columns.values(), strict=True)]


def read_labelled(task: str, folder: Path) -> dict[str, list[Example]]:
    """The examples of a task's splits with labels.

    Raises InputError for the examples of another task and for damaged files.
    """
    facts = facts_of(task, folder)
    for split in facts.rows:
        check_split(folder, split, facts)
    return {split: read(folder, split) for split in facts.rows}
