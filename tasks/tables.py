"""Reading the published text files: tab-separated tables, CSV, JSON lines, plain lines.

The tab-separated files of these data sets know no quoting: a lone `"` is text, and a reader with
CSV quoting silently glues rows together (SciTail lost 499 training rows that way in a widely used
copy). A row ends at a newline and at nothing else: U+2028 or U+0085 inside a field is text, which
rules out `str.splitlines`. A byte order mark and CRLF are accepted.
"""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tasks.common.errors import InputError
from tasks.types import Flaw, Row


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, text without its line end), blank lines at the end left out."""
    blank = 0
    with open(path, "rb") as file:
        for number, raw in enumerate(file, start=1):
            if number == 1:
                raw = raw.removeprefix(b"\xef\xbb\xbf")
            raw = raw.removesuffix(b"\n").removesuffix(b"\r")
            if not raw:
                blank += 1
                continue
            for k in range(blank):
                yield number - blank + k, ""
            blank = 0
            try:
                yield number, raw.decode("utf-8")
            except UnicodeDecodeError as error:
                raise InputError(
                    f"{path}:{number}: not UTF-8 at byte {error.start} of the line; "
                    "save the file as UTF-8"
                ) from None


def cells(path: Path, columns: int) -> Iterator[tuple[int, list[str]] | Flaw]:
    """Yield (line number, cells) of a table without header and with a fixed number of columns."""
    for number, text in lines(path):
        yield _split(number, text, columns)


@dataclass(frozen=True)
class Table:
    """A parser of tab-separated rows by column names; `names` where the file has no header."""

    first: str
    label: str
    second: str = ""
    names: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return tuple(filter(None, (self.first, self.second, self.label)))

    def __call__(self, path: Path) -> Iterator[Row | Flaw]:
        numbered = lines(path)
        header = list(self.names) if self.names else _header(path, numbered)
        for column in self.columns:
            if column not in header:
                raise InputError(
                    f"{path}:1: no column {column!r}, found {_shown(header)}; "
                    "is this the labelled file of this task?"
                )
        width, a, y = len(header), header.index(self.first), header.index(self.label)
        b = header.index(self.second) if self.second else None
        for number, text in numbered:
            row = _split(number, text, width)
            if isinstance(row, Flaw):
                yield row
            else:
                values = row[1]
                yield Row(number, values[a], values[y], "" if b is None else values[b])


def first_line(path: Path) -> list[str]:
    """The cells of a table's first line, most often its column names."""
    return _header(path, lines(path))


def json_lines(path: Path, keys: tuple[str, ...]) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, values of `keys`) of a file with one JSON object a line."""
    for number, text in lines(path):
        record = load_json(path, text, number)
        yield number, [text_of(path, record, key, number) for key in keys]


def load_json(path: Path, text: str, number: int = 1) -> dict[str, Any]:
    """Parse one JSON object; `number` is the line at which `text` starts."""
    try:
        record = json.loads(text)
    except json.JSONDecodeError as error:
        where = number + error.lineno - 1
        raise InputError(
            f"{path}:{where}: not JSON ({error.msg} at column {error.colno}); "
            "the file may be cut off: get it again"
        ) from None
    if not isinstance(record, dict):
        kind = type(record).__name__
        raise InputError(f"{path}:{number}: a JSON object is needed, found {kind}")
    return record


def text_of(path: Path, record: dict[str, Any], key: str, number: int = 1) -> str:
    """The text under `key`, or an InputError that tells what is there instead."""
    value = record.get(key)
    if not isinstance(value, str):
        found = f"found {value!r:.60}" if key in record else f"the keys are {_shown(list(record))}"
        raise InputError(f"{path}:{number}: a text under {key!r} is needed, {found}")
    return value


def csv_rows(path: Path, columns: tuple[str, ...]) -> Iterator[tuple[int, dict[str, str]] | Flaw]:
    """Yield (line number, cells by name) of a real CSV file: quoting counts, a header is needed."""
    text = "\n".join(text for _, text in lines(path))
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, [])
        for column in columns:
            if column not in header:
                raise InputError(f"{path}:1: no column {column!r}, found {_shown(header)}")
        for row in reader:
            if len(row) == len(header):
                yield reader.line_num, dict(zip(header, row, strict=True))
            else:
                yield _width(reader.line_num, len(row), len(header))
    except csv.Error as error:
        raise InputError(
            f"{path}:{reader.line_num}: not CSV ({error}); export the sheet again"
        ) from None


def _header(path: Path, numbered: Iterator[tuple[int, str]]) -> list[str]:
    for _, text in numbered:
        return [name.strip() for name in text.split("\t")]
    raise InputError(f"{path}: the file is empty; get it again")


def _split(number: int, text: str, columns: int) -> tuple[int, list[str]] | Flaw:
    values = text.split("\t")
    return (number, values) if len(values) == columns else _width(number, len(values), columns)


def _width(number: int, found: int, wanted: int) -> Flaw:
    return Flaw(
        number,
        "wrong column count",
        f"{found} columns, {wanted} are needed; get the file again in its original layout",
    )


def _shown(names: list[str]) -> str:
    return " ".join(names)[:100] or "nothing"
