"""Reading the published files: tables, JSON lines and other documents become rows.

A row (`Row`) has its texts, the file's own word for the label, and its file and line. Rows of the
hub are made in `tasks.hub_records`.

The tab-separated files of these data sets use no quoting: a lone `"` is text, and a reader with
CSV quoting silently merges rows (SciTail lost 499 training rows that way in a widely used copy). A
row ends at a newline and at nothing else: U+2028 or a carriage return inside a field is text. A
byte order mark and CRLF are accepted. So lines are split here: the `text` builder of `datasets`
ends a line at a lone carriage return too, and its `csv` builder pads a row that is too short.
"""

import json
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tasks.common.errors import InputError
from tasks.common.files import parse_json

# The first bytes of gzip, zip, xz, bzip2 and zstd.
COMPRESSED = (b"\x1f\x8b", b"PK\x03\x04", b"\xfd7zXZ", b"BZh", b"\x28\xb5\x2f\xfd")
NAMES: dict[type, str] = {str: "a text", list: "a list"}
ORIGINAL = "download the file again in its original layout"


class Row(NamedTuple):
    """One row of a file: `path` is the file, `line` its line, from 1.

    `key` is the row's name within its split. `flaw` says what is wrong with a row that some task
    may tolerate; such rows are counted by `reason`. Whatever no task tolerates is raised (`wrong`).
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


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, text without its line end), but no blank lines at the end.

    Raises InputError if the file is compressed or empty and, naming the line, if it is not UTF-8.
    """
    blank, empty = 0, True
    with open(path, "rb") as file:
        for number, raw in enumerate(file, start=1):
            if number == 1:
                if raw.startswith(COMPRESSED):
                    raise InputError(f"{path}: compressed; unpack it")
                raw = raw.removeprefix(b"\xef\xbb\xbf")
            raw = raw.removesuffix(b"\n").removesuffix(b"\r")
            if not raw:
                blank += 1
                continue
            for k in range(blank):
                yield number - blank + k, ""
            blank, empty = 0, False
            try:
                yield number, raw.decode("utf-8")
            except UnicodeDecodeError as error:
                what = f"not UTF-8 at byte {error.start} of the line; save the file as UTF-8"
                raise wrong(path, number, what) from None
    if empty:
        raise InputError(f"{path}: the file is empty; download it again")


@dataclass(frozen=True)
class Layout:
    """Files in one of a task's original layouts; `files` is their pattern for a `{split}`."""

    files: str

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
    """Tab-separated rows by column names; `names` where the file has no header."""

    first: str
    label: str
    second: str = ""
    names: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return tuple(filter(None, (self.first, self.second, self.label)))

    def rows(self, paths: list[Path]) -> Iterator[Row]:
        (path,) = paths
        numbered, names = lines(path), list(self.names)
        start = 1
        if not names:
            _, header = next(numbered)
            names = [name.strip() for name in header.split("\t")]
            start = 2
        for column in self.columns:
            if column not in names:
                what = f"no column {column!r}, found {shown(names)}; is it this task's file?"
                raise wrong(path, 1, what)
        cell_of = {name: i for i, name in enumerate(names)}
        for line, text in numbered:
            cells = text.split("\t")
            if len(cells) == len(names):
                label, first = cells[cell_of[self.label]], cells[cell_of[self.first]]
                second = cells[cell_of[self.second]] if self.second else ""
                yield Row(path, line, str(line - start), label, first, second)
            else:
                flaw = f"expected {len(names)} columns, found {len(cells)}; {ORIGINAL}"
                yield Row(path, line, reason="wrong column count", flaw=flaw)


@dataclass(frozen=True)
class JsonLines(Layout):
    """One JSON object per line."""

    first: str = "sentence1"
    second: str = "sentence2"
    label: str = "gold_label"

    def rows(self, paths: list[Path]) -> Iterator[Row]:
        (path,) = paths
        for line, text in lines(path):
            values = json_values(
                path, text, dict.fromkeys((self.label, self.first, self.second), str), line
            )
            yield Row(path, line, str(line - 1), *values)


def json_values(path: Path, text: str, types: Mapping[str, type], line: int = 1) -> list[Any]:
    """The values under these keys of the JSON object in a text, which starts at `line` of its file.

    Raises InputError, naming file and line, for what is no JSON object and for values of other
    types.
    """
    try:
        record = parse_json(text)
    except json.JSONDecodeError as error:
        fault = f"{error.msg} at column {error.colno}"
        what = f"not JSON ({fault}); the file may be truncated: download it again"
        raise wrong(path, line + error.lineno - 1, what) from None
    if not isinstance(record, dict):
        raise wrong(path, line, f"expected a JSON object, found {type(record).__name__}")
    for key, expected in types.items():
        value = record.get(key)
        if not isinstance(value, expected):
            what = f"found {value!r:.60}" if key in record else f"the keys are {shown(record)}"
            raise wrong(path, line, f"expected {NAMES[expected]} under {key!r}, {what}")
    return [record[key] for key in types]


def wrong(path: Path, line: int, what: str) -> InputError:
    """The error that says what is wrong with a line of a file."""
    return InputError(f"{path}:{line}: {what}")


def is_blank(text: str) -> bool:
    """Whether a text has nothing to read: blanks, and marks of no width such as U+200B."""
    return all(char.isspace() or unicodedata.category(char) in ("Cc", "Cf") for char in text)


def unquoted(text: str) -> str:
    """`text` without its CSV quoting; unchanged if it is not what CSV would write.

    CSV puts a text that has quotation marks between two more, and doubles those in the text.
    """
    inner = text[1:-1]
    if len(text) < 2 or not text[0] == text[-1] == '"' or '""' not in inner:
        return text
    return text if '"' in inner.replace('""', "") else inner.replace('""', '"')


def shown(names: Iterable[str]) -> str:
    """Names for a message, cut to one line."""
    return " ".join(names)[:100] or "nothing"
