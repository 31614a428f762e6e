"""Reading files as rows: tab-separated values, CSV, JSON lines, Parquet and whole documents.

The tab-separated files of these data sets use no quoting: a lone `"` is text, and a reader with
CSV quoting silently merges rows (SciTail lost 499 training rows that way in a widely used copy). A
row ends at a newline and at nothing else: U+2028 or a carriage return inside a field is text. A
byte order mark and CRLF are accepted. This is why lines are split here: the `text` builder of
`datasets` also ends a line at a lone carriage return, and its `csv` builder pads rows that are too
short.
"""

import csv
import io
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tasks.common.errors import InputError
from tasks.common.files import parse_json
from tasks.common.parquet import open_parquet, parquet_records

Record = dict[str, Any]
WHOLE = re.compile(r"-?[0-9]+\.0")
LARGEST_CELL = 2**31 - 1  # in characters; by default 131,072, less than a long document
# The first bytes of gzip, zip, xz, bzip2 and zstd.
COMPRESSED = (b"\x1f\x8b", b"PK\x03\x04", b"\xfd7zXZ", b"BZh", b"\x28\xb5\x2f\xfd")
# An old one, or a zip file with these words in it.
SPREADSHEET = re.compile(rb"\xd0\xcf\x11\xe0|PK.*(\[Content_Types\]|opendocument\.sp)", re.DOTALL)
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
    """Files in one of a task's original layouts; `files` is their pattern, with `{split}`.

    In a task of the user's own, `files` has the name of each split's file instead.
    """

    files: str | Mapping[str, str]

    def pattern(self, split: str) -> str:
        """The pattern that the names of a split's files match."""
        if isinstance(self.files, str):
            return self.files.format(split=split)
        return self.files.get(split, "")

    def find(self, folder: Path, split: str) -> list[Path]:
        """The files of a split, sorted."""
        if not isinstance(self.files, str):
            path = folder / self.pattern(split)
            return [path] if path.is_file() else []
        paths = folder.glob(self.pattern(split))
        # macOS archives leave `._1.txt` resource forks beside the real files.
        return sorted(path for path in paths if not path.name.startswith("."))

    def rows(self, paths: list[Path]) -> Iterator[Row]:
        """The rows of these files.

        Raises InputError, naming file and line, for files that do not have this layout at all.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Documents(Layout):
    """Files that a function of their path turns into rows."""

    parse: Callable[[Path], Iterator[Row]]

    def rows(self, paths: list[Path]) -> Iterator[Row]:
        return (row for path in paths for row in self.parse(path))


@dataclass(frozen=True)
class Table(Layout):
    """A layout whose fields are read by column name or JSON key.

    `names` are the columns of a file without a header. `choices` are the columns of the choices, or
    the single column that holds a list of them; each row has `n_choices`. `kind` is the suffix to
    assume where a file's name does not show its format.
    """

    first: str
    label: str
    second: str = ""
    names: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    n_choices: int = 0
    kind: str = ""

    def rows(self, paths: list[Path]) -> Iterator[Row]:
        number = 0
        for path in paths:
            for line, record in records(path, self.kind, self.names):
                row = Row(path, line, str(number))
                if isinstance(record, str):
                    remedy = ORIGINAL if isinstance(self.files, str) else "correct the row"
                    yield row._replace(reason="wrong column count", flaw=f"{record}; {remedy}")
                else:
                    yield self._row(row, record)
                number += 1

    def _row(self, row: Row, record: Record) -> Row:
        read = (*filter(None, (self.first, self.second, self.label)), *self.choices)
        if missing := [column for column in read if column not in record]:
            own = not isinstance(self.files, str)
            remedy = _remedy(missing[0], [*record]) if own else OWN_ROWS
            what = f"no column {missing[0]!r}, found {shown(record)}; {remedy}"
            has_header = (self.kind or row.path.suffix) not in (".jsonl", ".parquet")
            raise wrong(row.path, 1 if has_header else row.line, what)
        choices = [record[column] for column in self.choices]
        choices = choices[0] if len(choices) == 1 else choices
        if not isinstance(choices, list) or len(choices) != self.n_choices:
            what = f"expected a list of {self.n_choices} choices, found {choices!r:.60}"
            raise wrong(row.path, row.line, f"{what}; give a name in labels for each choice")
        texts = {"first": self.first, "second": self.second, "label": self.label}
        for column in filter(None, texts.values()):
            if isinstance(record[column], list | dict):
                what = f"column {column!r} holds {record[column]!r:.60}; give one that holds text"
                raise wrong(row.path, row.line, what)
        words = {key: word(record[column]) for key, column in texts.items() if column}
        return Row(row.path, row.line, row.key, **words, choices=tuple(map(word, choices)))


def _remedy(column: str, names: list[str]) -> str:
    """What to do about a column that is not among the names that were found."""
    if near := [name for name in names if name.strip('"').lower() == column.lower()]:
        quoted = "name the file .csv, or write it without quotation marks"
        return quoted if '"' in near[0] else f"give {near[0]} in columns"
    if len(names) == 1 and (other := {",", ";"} & {*names[0]}):
        return f"columns are separated by {other.pop()!r}; give tabs, or name the file .csv"
    return "give its name in columns, or above the rows if the file has no names in line 1"


def word(value: Any) -> str:
    """A value as text, the same in all formats: 1.0 becomes `1`, None and NaN become empty."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None or value != value else str(value)


def as_read(text: str) -> str:
    """A boolean or whole float as `word` gives it, from text of pandas: `True`, `1.0`."""
    if WHOLE.fullmatch(text):
        return text.removesuffix(".0")
    return text.lower() if text in ("True", "False") else text


def records(
    path: Path, kind: str = "", names: Sequence[str] = ()
) -> Iterator[tuple[int, Record | str]]:
    """Each row's line and its record by column, or what is wrong with its number of columns.

    `kind` is a suffix that overrides the file's own, `names` are the columns of a table without a
    header. Any kind but CSV, JSON lines and Parquet is read as tab-separated. Raises InputError,
    naming the line where one can be named, for a file that is not of its kind.
    """
    kind = kind or path.suffix
    if kind == ".parquet":
        with open_parquet(path, "write it again") as file:
            yield from enumerate(parquet_records(file), start=1)
    elif kind == ".jsonl":
        yield from ((line, json_object(path, text, line)) for line, text in lines(path))
    else:
        tsv = ((line, text.split("\t")) for line, text in lines(path))
        rows = _csv(path) if kind == ".csv" else tsv
        if not names:
            names = [name.strip() for name in next(rows)[1]]
            if kind == ".csv" and len(names) == 1 and (other := {*names[0]} & {";", "\t"}):
                separator = other.pop()
                raise wrong(path, 1, f"columns are separated by {separator!r}; give commas")
            if len({*names}) < len(names):
                raise wrong(path, 1, f"a column occurs twice: {shown(names)}; give each a name")
        for line, cells in rows:
            is_whole = len(cells) == len(names)
            fault = f"expected {len(names)} columns, found {len(cells)}"
            yield line, dict(zip(names, cells, strict=True)) if is_whole else fault


def _csv(path: Path) -> Iterator[tuple[int, list[str]]]:
    csv.field_size_limit(LARGEST_CELL)
    text = "\n".join(text for _, text in lines(path))
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for cells in reader:
            if cells:
                yield reader.line_num, cells
    except csv.Error as error:
        raise wrong(path, reader.line_num, f"not CSV ({error}); export the file again") from None


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, text without its line end), but no blank lines at the end.

    Raises InputError if the file is compressed or empty and, naming the line, if it is not UTF-8.
    """
    blank, empty = 0, True
    with open(path, "rb") as file:
        for number, raw in enumerate(file, start=1):
            if number == 1:
                if SPREADSHEET.match(path.read_bytes() if raw.startswith(b"PK") else raw):
                    raise InputError(f"{path}: a spreadsheet; export it as CSV")
                if raw.startswith(b"PAR1"):
                    raise InputError(f"{path}: a Parquet file; name it .parquet")
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
        raise InputError(f"{path}: the file is empty; write it again")


def json_object(path: Path, text: str, line: int) -> dict[str, Any]:
    """The JSON object in a text. Raises InputError, naming file and line, for anything else."""
    try:
        record = parse_json(text)
    except json.JSONDecodeError as error:
        fault = f"{error.msg} at column {error.colno}"
        what = f"not JSON ({fault}); the file may be truncated: download it again"
        raise wrong(path, line + error.lineno - 1, what) from None
    if not isinstance(record, dict):
        found = type(record).__name__
        raise wrong(path, line, f"expected a JSON object, found {found}; give one in each line")
    return record


def wrong(path: Path, line: int, what: str) -> InputError:
    """The error that says what is wrong with a line of a file."""
    return InputError(f"{path}:{line}: {what}")


def shown(names: Iterable[str]) -> str:
    """Names for a message, cut to one line."""
    return " ".join(names)[:100] or "nothing"


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
