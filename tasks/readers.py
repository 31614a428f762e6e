"""Reading the published files: tables, JSON lines and other documents become rows.

A row (`Row`) has its texts, the file's own word for the label, and its file and line. Rows from the
hub are made in `tasks.hub_records`.
"""

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tasks.formats import Record, json_object, lines, records, shown, word, wrong

NAMES: dict[type, str] = {str: "a text", list: "a list"}
ORIGINAL = "download the file again in its original layout"
OWN_ROWS = "of rows of your own make a task of your own (docs/own-data.md)"


class Row(NamedTuple):
    """One row of a file: `path` is the file, `line` its line, from 1.

    `key` is the row's name within its split. `flaw` says what is wrong with a row that some task
    may tolerate; such rows are counted by `reason`. Faults that no task tolerates are raised
    instead (`wrong`).
    """

    path: Path
    line: int
    key: str = ""
    label: str = ""
    first: str = ""
    second: str = ""
    choices: tuple[str, ...] | list[str] = ()
    group: str = ""
    reason: str = ""
    flaw: str = ""


@dataclass(frozen=True)
class Layout:
    """Files in one of a task's original layouts; `files` is their pattern, with `{split}`."""

    files: str

    def pattern(self, split: str) -> str:
        """The pattern that the names of a split's files match."""
        return self.files.format(split=split)

    def find(self, folder: Path, split: str) -> list[Path]:
        """The files of a split, sorted."""
        found = folder.glob(self.pattern(split))
        # macOS archives leave `._1.txt` resource forks beside the real files.
        return sorted(path for path in found if not path.name.startswith("."))

    def rows(self, paths: list[Path]) -> Iterator[Row]:
        """The rows of these files.

        Raises InputError, naming file and line, for files that do not have this layout at all.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Documents(Layout):
    """Files that a function of their path and text turns into rows."""

    parse: Callable[[Path, str], Iterable[Row]]

    def rows(self, paths: list[Path]) -> Iterator[Row]:
        for path in paths:
            yield from self.parse(path, "\n".join(text for _, text in lines(path)))


@dataclass(frozen=True)
class Table(Layout):
    """A layout whose fields are read by column name or JSON key.

    `names` are the columns of a file without a header. `choices` are the columns of the choices, or
    the single column that holds a list of them; each row has `n_choices`. `kind` is the suffix to
    assume where a file's name does not show its format. Where the files are named one by one, in
    `named`, `files` is empty.
    """

    first: str
    label: str
    second: str = ""
    names: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    n_choices: int = 0
    kind: str = ""
    named: Mapping[str, str] = field(default_factory=dict)

    def pattern(self, split: str) -> str:
        return self.named.get(split, "") if self.named else super().pattern(split)

    def find(self, folder: Path, split: str) -> list[Path]:
        path = folder / self.pattern(split)
        return ([path] if path.is_file() else []) if self.named else super().find(folder, split)

    def rows(self, paths: list[Path]) -> Iterator[Row]:
        every = ((path, *of) for path in paths for of in records(path, self.kind, self.names))
        for number, (path, line, record) in enumerate(every):
            row = Row(path, line, str(number))
            if isinstance(record, str):
                remedy = "correct the row" if self.named else ORIGINAL
                yield row._replace(reason="wrong column count", flaw=f"{record}; {remedy}")
            else:
                yield self._row(row, record)

    def _row(self, row: Row, record: Record) -> Row:
        read = (*filter(None, (self.first, self.second, self.label)), *self.choices)
        if missing := [column for column in read if column not in record]:
            remedy = _remedy(missing[0], [*record]) if self.named else OWN_ROWS
            what = f"no column {missing[0]!r}, found {shown(record)}; {remedy}"
            has_header = (self.kind or row.path.suffix) not in (".jsonl", ".parquet")
            raise wrong(row.path, 1 if has_header else row.line, what)
        choices = [record[column] for column in self.choices]
        choices = choices[0] if len(choices) == 1 else choices
        if not isinstance(choices, list) or len(choices) != self.n_choices:
            what = f"expected a list of {self.n_choices} choices, found {choices!r:.60}"
            raise wrong(row.path, row.line, f"{what}; give a name in labels for each choice")
        for column in filter(None, (self.first, self.second, self.label)):
            if isinstance(record[column], list | dict):
                what = f"column {column!r} holds {record[column]!r:.60}; give one that holds text"
                raise wrong(row.path, row.line, what)
        second = word(record[self.second]) if self.second else ""
        label, first = word(record[self.label]), word(record[self.first])
        return row._replace(
            label=label, first=first, second=second, choices=tuple(map(word, choices))
        )


def _remedy(column: str, names: list[str]) -> str:
    """What to do about a column that is not among the names that were found."""
    if near := [name for name in names if name.strip('"').lower() == column.lower()]:
        quoted = "name the file .csv, or write it without quotation marks"
        return quoted if '"' in near[0] else f"give {near[0]} in columns"
    if len(names) == 1 and (other := {",", ";"} & {*names[0]}):
        return f"columns are separated by {other.pop()!r}; give tabs, or name the file .csv"
    return "give its name in columns, or above the rows if the file has no names in line 1"


def json_values(path: Path, text: str, types: Mapping[str, type], line: int = 1) -> list[Any]:
    """The values of a JSON object under the keys of `types`; its text starts at `line` of its file.

    Raises InputError, naming file and line, for anything but a JSON object, and for values that are
    missing or of other types.
    """
    record = json_object(path, text, line)
    for key, expected in types.items():
        value = record.get(key)
        if not isinstance(value, expected):
            what = f"found {value!r:.60}" if key in record else f"the keys are {shown(record)}"
            raise wrong(path, line, f"expected {NAMES[expected]} under {key!r}, {what}")
    return [record[key] for key in types]


def is_blank(text: str) -> bool:
    """Whether a text has nothing to read: only blanks, control and zero-width characters."""
    return all(char.isspace() or unicodedata.category(char) in ("Cc", "Cf") for char in text)


def unquoted(text: str) -> str:
    """`text` without its CSV quoting; unchanged unless CSV could have written it.

    CSV encloses a text that contains quotation marks in two more, and doubles those inside.
    """
    inner = text[1:-1]
    if len(text) < 2 or not text[0] == text[-1] == '"' or '""' not in inner:
        return text
    return text if '"' in inner.replace('""', "") else inner.replace('""', '"')
