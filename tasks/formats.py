"""Files as records by column: tab-separated values, CSV, JSON lines and Parquet.

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
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tasks.common.errors import InputError
from tasks.common.files import parse_json

Record = dict[str, Any]
WHOLE = re.compile(r"-?[0-9]+\.0")
LARGEST_CELL = 2**31 - 1  # in characters; by default 131,072, less than a long document
# The first bytes of gzip, zip, xz, bzip2 and zstd.
COMPRESSED = (b"\x1f\x8b", b"PK\x03\x04", b"\xfd7zXZ", b"BZh", b"\x28\xb5\x2f\xfd")
# An old one, or a zip file with these words in it.
SPREADSHEET = re.compile(rb"\xd0\xcf\x11\xe0|PK.*(\[Content_Types\]|opendocument\.sp)", re.DOTALL)


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
        yield from _parquet(path)
    elif kind == ".jsonl":
        yield from ((line, json_object(path, text, line)) for line, text in lines(path))
    else:
        rows = _csv(path) if kind == ".csv" else _tsv(path)
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


def _tsv(path: Path) -> Iterator[tuple[int, list[str]]]:
    return ((line, text.split("\t")) for line, text in lines(path))


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


def _parquet(path: Path) -> Iterator[tuple[int, Record]]:
    from pyarrow import ArrowException, parquet

    line = 0
    try:
        with parquet.ParquetFile(path) as opened:
            for batch in opened.iter_batches():
                for record in batch.to_pylist():
                    line += 1
                    yield line, record
    except (ArrowException, OSError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{path}: not a whole parquet file ({reason:.200})") from None


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
