"""The examples file of a task: one JSON line an example, written by `tasks.prepare`."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from tasks.common.errors import InputError
from tasks.common.files import write_atomic
from tasks.tables import lines, load_json
from tasks.types import Example

KEYS = ("split", "guid", "first", "second", "choices", "label", "group")


def write_examples(path: str | Path, examples: Iterable[Example]) -> None:
    """Write the examples, whole or not at all. Equal examples give equal bytes."""
    with write_atomic(path) as file:
        for example in examples:
            # ASCII only, so that no reader can take U+2028 in a text for the end of a line.
            file.write(json.dumps({key: getattr(example, key) for key in KEYS}) + "\n")


def read_examples(path: str | Path) -> list[Example]:
    """Read what `write_examples` wrote. Raises InputError if the file is missing or damaged."""
    return list(each_example(path))


def each_example(path: str | Path) -> Iterator[Example]:
    """The same one by one, for whoever does not need all of them at once."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file; make it with `python -m tasks.prepare`")
    for number, text in lines(path):
        record = load_json(path, text, number)
        if tuple(record) != KEYS:
            raise InputError(f"{path}:{number}: not an example; delete the file and make it again")
        if not all(isinstance(record[key], str) for key in ("split", "guid", "first", "second")):
            raise InputError(f"{path}:{number}: not an example; delete the file and make it again")
        if isinstance(record["label"], bool) or not isinstance(record["label"], int | float):
            raise InputError(
                f"{path}:{number}: label {record['label']!r} is no number; make it again"
            )
        yield Example(**{**record, "choices": tuple(record["choices"])})
