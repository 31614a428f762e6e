"""Where a corpus comes from: a folder of books, or one of the corpora of the hub, in pieces.

A piece is what one process cleans at once, what a restart does not clean again, and what is held
out as a whole. In a folder of books it is a book. The corpora of the hub have rows without the
books' borders; there a piece is ROWS rows of a parquet file, or the lines of BYTES bytes of a text
file, and rows become lines. Pieces depend on nothing but the files.

- `bookcorpus`, `bookcorpus_text`: sentences, lower-cased and split into words before they were
  published. They take the cleaning of tokenised text (`gpt1.text.normalise.clean`).
- `wikitext103`: paragraphs; the marks of its tokenizer within words (" @-@ ") are taken back.
- `lm1b`: sentences in random order, so that no context is longer than a sentence.
- `tinystories`: a story a row, with line ends of its own.

What the publisher set apart is held out: the test split, or the validation split where there is no
other. WikiText's validation split is then left out altogether.
"""

import codecs
import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gpt1.text import normalise as text
from tasks import catalogue
from tasks.common.errors import InputError
from tasks.fetched import Fetched

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

FOLDER = "folder"  # the source that is a folder of .txt books
OFFICIAL = "official"  # the setting of `heldout` for a corpus with a split of its own
TOKENISED = ("bookcorpus", "bookcorpus_text")

ROWS = 50_000
BYTES = 4 << 20
LONGEST_LINE = 1 << 24
BLOCK = 1 << 16  # characters
_PART = re.compile(r"-(\d{5})-of-(\d{5})")
_MARKS = re.compile(r" @([-,.])@ ")  # WikiText's, around signs within words and numbers


@dataclass(frozen=True)
class Piece:
    """A book, or the rows (text file: the bytes) `start` to `stop` of a file."""

    name: str  # of its cleaned text, a path that ends in .txt
    path: Path
    source: str = FOLDER
    heldout: bool = False  # by the publisher
    start: int = 0
    stop: int = 0


def pieces(source: str, folder: Path) -> list[Piece]:
    """All pieces of a source, sorted by name. Raises InputError for missing or unfit files."""
    if not folder.is_dir():
        wanted = "UTF-8 .txt books" if source == FOLDER else f"the files of {source}"
        raise InputError(f"{folder}: no such folder; give one with {wanted}")
    found = list(_books(folder) if source == FOLDER else _of_catalogue(source, folder))
    if not found and source == FOLDER:
        raise InputError(f"{folder}: no .txt file in it; the corpus is a folder of .txt books")
    return sorted(found, key=lambda piece: piece.name)


def origin(source: str, folder: Path, revision: str | None, whole: bool) -> dict[str, str]:
    """Repository and commit of a corpus of the hub; of a folder of books nothing is known.

    `revision` None is the catalogue's. Raises InputError for a file that is not as it was fetched;
    only the sizes are compared where `whole` is False.
    """
    if source == FOLDER:
        return {}
    fetched = Fetched(source, folder, revision)
    told = fetched.origin
    for split in catalogue.entry(source).files:
        fetched.check(fetched.paths(split), whole)
    return {key: told[key] for key in ("repo", "revision")}


def rows(
    source: str, folder: Path, pieces: list[Piece], least: dict[str, int]
) -> dict[str, dict[str, int]]:
    """Rows of each split, `found` and `published`; empty where no published number is known.

    Raises InputError where they differ, unless the corpus is stated to be a subset with `least`
    rows of the split.
    """
    entry = None if source == FOLDER else catalogue.entry(source)
    known = entry.rows if entry else {}
    for split in least:
        if split not in known:
            raise InputError(
                f"min_rows: no published number of rows of {split!r} of {source}; known are those "
                f"of {', '.join(known) or 'none'}"
            )
    if not known:
        return {}
    counted = {
        split: {
            "found": sum(p.stop - p.start for p in pieces if p.heldout is (split != "train")),
            "published": entry.rows[split],
        }
        for split in entry.files
        if split in ("train", entry.heldout)
    }
    for split, n in counted.items():
        low = least.get(split, n["published"])
        if not low <= n["found"] <= n["published"]:
            expected = f"{low:,} to {n['published']:,}" if split in least else f"{low:,}"
            raise InputError(
                f"{folder}: {n['found']:,} rows in {split!r} of {source}, expected {expected}; "
                f"fetch it again, or state a subset with min_rows: {{{split}: {n['found']}}}"
            )
    return counted


def blocks(piece: Piece) -> Iterator[str]:
    """The raw text of a piece, in blocks of whole lines and bounded length."""
    if piece.source == FOLDER:
        with open(piece.path, encoding="utf-8", newline="") as book:
            yield from text.blocks(book)
        return
    rows = _lines(piece) if _is_text(piece.source) else _rows(piece)
    if piece.source == "wikitext103":
        rows = (_MARKS.sub(r"\1", row) for row in rows)
    yield from _joined(rows)


def digest(piece: Piece) -> tuple[str, int]:
    """SHA-256 and bytes of a piece's raw text. Raises InputError at what is not UTF-8."""
    if piece.source == FOLDER:
        return _check_utf8(piece.path), piece.path.stat().st_size
    total, size = hashlib.sha256(piece.source.encode() + b"\0"), 0
    for block in blocks(piece):
        encoded = block.encode()
        total.update(encoded)
        size += len(encoded)
    return total.hexdigest(), size


def _books(folder: Path) -> Iterator[Piece]:
    for path in folder.rglob("*.txt"):
        if path.is_file() and not path.name.startswith("."):
            yield Piece(path.relative_to(folder).as_posix(), path)


def _of_catalogue(source: str, folder: Path) -> Iterator[Piece]:
    entry = catalogue.entry(source)
    for split in ("train", entry.heldout) if entry.heldout else ("train",):
        for pattern in entry.files[split]:
            paths = sorted(path for path in folder.glob(pattern) if path.is_file())
            _check_whole(folder / pattern, paths)
            for path in paths:
                size, step = _size(path, source)
                name = path.relative_to(folder).as_posix()
                for i, start in enumerate(range(0, size, step)):
                    stop = min(start + step, size)
                    piece = f"{name}/{i:05}.txt"
                    yield Piece(piece, path, source, split == entry.heldout, start, stop)


def _check_whole(pattern: Path, paths: list[Path]) -> None:
    """A file `train-00000-of-00002.parquet` tells how many there are."""
    if not paths:
        raise InputError(f"{pattern}: no such file; fetch the corpus again")
    parts = [_PART.search(path.name) for path in paths]
    told = {int(part[2]) for part in parts if part}
    if told and (len(told) > 1 or len(paths) != max(told)):
        raise InputError(
            f"{pattern}: {len(paths)} files where their names tell of {max(told)}; "
            "fetch the corpus again"
        )


def _size(path: Path, source: str) -> tuple[int, int]:
    """The extent of a file, and that of a piece: in rows, or in bytes of a text file."""
    if _is_text(source):
        return path.stat().st_size, BYTES
    return _parquet(path, source).metadata.num_rows, ROWS


def _is_text(source: str) -> bool:
    return catalogue.entry(source).text == "line"


def _parquet(path: Path, source: str) -> "ParquetFile":
    """An open parquet file with the source's column of text."""
    import pyarrow
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20)
    except (pyarrow.ArrowInvalid, OSError) as error:
        raise InputError(
            f"{path}: not a whole parquet file ({_short(error)}); fetch it again"
        ) from None
    column, schema = catalogue.entry(source).text, file.schema_arrow
    types = (pyarrow.string(), pyarrow.large_string())
    if column not in schema.names or schema.field(column).type not in types:
        raise InputError(
            f"{path}: no column {column!r} of text; found {', '.join(schema.names)}; is this "
            f"{source}?"
        )
    return file


def _rows(piece: Piece) -> Iterator[str]:
    """The rows of a piece; only the row groups that it touches are read, in small batches."""
    import pyarrow

    file, column = _parquet(piece.path, piece.source), catalogue.entry(piece.source).text
    first = 0
    for group in range(file.num_row_groups):
        count = file.metadata.row_group(group).num_rows
        if first < piece.stop and first + count > piece.start:
            row = first
            try:
                for batch in file.iter_batches(1000, [group], [column], use_threads=False):
                    last = row + len(batch)
                    if row < piece.stop and last > piece.start:
                        wanted = slice(max(piece.start - row, 0), piece.stop - row)
                        yield from _texts(batch.column(0).to_pylist()[wanted], piece)
                    row = last
            except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
                raise InputError(
                    f"{piece.path}: damaged after row {row:,} ({_short(error)}); fetch it again"
                ) from None
        first += count


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:80]


def _texts(found: list[str | None], piece: Piece) -> list[str]:
    if None in found:
        raise InputError(f"{piece.path}: a row without text near {piece.name}; is the file whole?")
    return found


def _lines(piece: Piece) -> Iterator[str]:
    """The lines that begin between two bytes of a text file."""
    with open(piece.path, "rb") as file:
        if piece.start:
            file.seek(piece.start - 1)
            file.readline()  # the rest of a line that began before, or its end
        while (place := file.tell()) < piece.stop:
            line = file.readline(LONGEST_LINE)
            if len(line) == LONGEST_LINE:
                raise InputError(f"{piece.path}: a line of over {LONGEST_LINE >> 20} MB; not lines")
            try:
                yield line.decode("utf-8").rstrip("\n")
            except UnicodeDecodeError as error:
                raise InputError(_not_utf8(piece.path, place + error.start, error)) from None


def _joined(rows: Iterable[str]) -> Iterator[str]:
    held: list[str] = []
    size = 0
    for row in rows:
        held.append(f"{row}\n")
        size += len(row)
        if size >= BLOCK:
            yield "".join(held)
            held, size = [], 0
    if held:
        yield "".join(held)


def _check_utf8(path: Path) -> str:
    """SHA-256 of a book; raises InputError with the place of the first byte that is not UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    total = hashlib.sha256()
    done = 0
    with open(path, "rb") as file:
        while True:
            read = file.read(1 << 20)
            start = done - len(decoder.getstate()[0])
            try:
                decoder.decode(read, final=not read)
            except UnicodeDecodeError as error:
                raise InputError(_not_utf8(path, start + error.start, error)) from None
            if not read:
                return total.hexdigest()
            total.update(read)
            done += len(read)


def _not_utf8(path: Path, place: int, error: UnicodeDecodeError) -> str:
    return (
        f"{path}: not UTF-8 at byte {place:,} ({error.object[error.start]:#04x}); "
        "convert the book or take it out"
    )
