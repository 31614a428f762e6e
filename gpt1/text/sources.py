"""The documents of a corpus: the books of a folder, or rows of a corpus of the Hugging Face hub.

GPT-1 learns from whole books (paper 4.1), and whole books are held out for the perplexity. A
document is what is held out as a whole: a book of a folder, or ROWS rows of a file of the hub,
whose corpora have lost the borders of their books. Documents depend on nothing but the files.

- `bookcorpus`, `bookcorpus_text`: sentences, lower-cased and split into words by their publisher.
- `wikitext103`: paragraphs.
- `lm1b`: sentences in random order, so that no context is longer than a sentence.
- `tinystories`: one story per row, with line ends of its own.

What the publisher set apart is held out: the test split, or the validation split where there is no
other. WikiText's validation split is then left out altogether.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from gpt1.text.settings import CorpusSettings
from tasks import catalogue
from tasks.common.errors import InputError
from tasks.fetched import Fetched

ROWS = 50_000
LONGEST_LINE = 1 << 24  # characters
_PART = re.compile(r"-(\d{5})-of-(\d{5})")


@dataclass(frozen=True)
class RawFile:
    """A file of raw text with `rows` rows: one, the whole book, or a row per sentence or so."""

    path: Path
    rows: int
    heldout: bool = False  # by its publisher


@dataclass(frozen=True)
class Document:
    """The rows `start` to `stop` of a file; its name is a path that ends in .txt."""

    name: str
    file: RawFile
    start: int = 0
    stop: int = 1


def list_documents(folder: Path, settings: CorpusSettings, whole: bool = True) -> list[Document]:
    """All documents of a corpus, sorted by name.

    Files of the hub are compared with the manifest of what was fetched, by their sizes alone unless
    `whole`. Raises InputError for missing, unexpected, damaged or changed files.
    """
    if not folder.is_dir():
        content = f"the files of {settings.source}" if settings.source else "UTF-8 .txt books"
        raise InputError(f"{folder}: no such folder; give one with {content}")
    if settings.source:
        documents = list(_hub_documents(folder, settings.source, settings.revision, whole))
    else:
        paths = [path for path in folder.rglob("*.txt") if path.is_file()]
        documents = [
            Document(path.relative_to(folder).as_posix(), RawFile(path, rows=1))
            for path in paths
            if not path.name.startswith(".")
        ]
        if not documents:
            raise InputError(f"{folder}: no .txt file in it; the corpus is a folder of .txt books")
    return sorted(documents, key=lambda document: document.name)


def origin(folder: Path, settings: CorpusSettings) -> dict[str, str]:
    """Repository and commit of a corpus of the hub; nothing is known of a folder of books."""
    if not settings.source:
        return {}
    fetched = Fetched(settings.source, folder, settings.revision).origin
    return {key: fetched[key] for key in ("repo", "revision")}


def count_rows(
    folder: Path, settings: CorpusSettings, documents: list[Document]
) -> dict[str, dict[str, int]]:
    """Rows of each split, `found` and `published`; empty where no published number is known.

    Raises InputError where they differ, unless the settings state a subset with `min_rows`.
    """
    entry = catalogue.entry(settings.source) if settings.source else None
    known, least = entry.rows if entry else {}, settings.min_rows or {}
    for split in least:
        if split not in known:
            raise InputError(
                f"min_rows: no published number of rows of {split!r} of {settings.source}; known "
                f"are those of {', '.join(known) or 'none'}"
            )
    counts = {}
    for split in ("train", entry.heldout) if entry and known else ():
        if split:
            heldout = split != "train"
            found = sum(d.stop - d.start for d in documents if d.file.heldout is heldout)
            counts[split] = {"found": found, "published": known[split]}
    for split, n in counts.items():
        low = least.get(split, n["published"])
        if not low <= n["found"] <= n["published"]:
            expected = f"{low:,} to {n['published']:,}" if split in least else f"{low:,}"
            raise InputError(
                f"{folder}: {n['found']:,} rows in {split!r} of {settings.source}, expected "
                f"{expected}; fetch it again, or state a subset with min_rows: "
                f"{{{split}: {n['found']}}}"
            )
    return counts


def is_lines(source: str) -> bool:
    """Whether a corpus of the hub is published as text files with one row per line."""
    return catalogue.entry(source).text == "line"


def choose_heldout(
    documents: list[Document], heldout: int | list[str] | str, folder: Path
) -> set[str]:
    """Names of the documents that are held out.

    A number takes those whose names have the smallest SHA-256. Raises InputError for a choice that
    does not fit the corpus or leaves nothing to train on.
    """
    names = {document.name for document in documents}
    official = {document.name for document in documents if document.file.heldout}
    if (heldout == "official") != bool(official):
        raise InputError(
            f"heldout: {heldout!r} does not fit {folder}; "
            + (
                "what its publisher set apart is held out: give official"
                if official
                else "its publisher set nothing apart: give a number"
            )
        )
    if isinstance(heldout, str):
        chosen = official
    elif isinstance(heldout, list):
        for name in heldout:
            if name not in names:
                raise InputError(f"heldout: {name!r} is not a book of {folder}; name a file there")
        chosen = set(heldout)
    else:
        by_digest = sorted(names, key=lambda name: hashlib.sha256(name.encode()).digest())
        chosen = set(by_digest[:heldout])
    if chosen == names:
        raise InputError(
            f"heldout: {heldout!r} leaves none of the {len(names)} books of {folder} to train on; "
            "hold out fewer"
        )
    return chosen


def _hub_documents(
    folder: Path, source: str, revision: str | None, whole: bool
) -> Iterator[Document]:
    """The rows of a fetched corpus, ROWS at a time."""
    entry, fetched = catalogue.entry(source), Fetched(source, folder, revision)
    _ = fetched.origin  # refuses another repository or commit
    for split in entry.files:
        paths = fetched.paths(split)
        _check_parts(folder, paths)
        fetched.check(paths, whole)
        for path in paths if split in ("train", entry.heldout) else ():
            rows = _count_lines(path) if is_lines(source) else _parquet_rows(path, source)
            file = RawFile(path, rows, heldout=split == entry.heldout)
            name = path.relative_to(folder).as_posix()
            for i, start in enumerate(range(0, rows, ROWS)):
                yield Document(f"{name}/{i:05}.txt", file, start, min(start + ROWS, rows))


def _check_parts(folder: Path, paths: list[Path]) -> None:
    """A file `train-00000-of-00002.parquet` says how many there are in its folder."""
    parts = [_PART.search(path.name) for path in paths]
    numbers = {int(part[2]) for part in parts if part}
    if numbers and (len(numbers) > 1 or len(paths) != max(numbers)):
        raise InputError(
            f"{folder}: {len(paths)} files such as {paths[0].name} where their names say "
            f"{max(numbers)}; fetch the corpus again"
        )


def _parquet_rows(path: Path, source: str) -> int:
    """The number of rows of a parquet file that has the source's column of text."""
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            f"{path}: not a whole parquet file ({' '.join(str(error).split()):.80}); fetch it again"
        ) from None
    schema = file.schema_arrow
    types = (pa.string(), pa.large_string())
    if "text" not in schema.names or schema.field("text").type not in types:
        raise InputError(
            f"{path}: no column 'text' of text; found {', '.join(schema.names)}; is this {source}?"
        )
    return file.metadata.num_rows


def _count_lines(path: Path) -> int:
    """The number of lines of a UTF-8 file."""
    check_utf8(path)
    lines = 0
    with open(path, encoding="utf-8") as file:
        while line := file.readline(LONGEST_LINE):
            if len(line) == LONGEST_LINE:
                raise InputError(
                    f"{path}: a line of over {LONGEST_LINE >> 20} MB; is it a text of lines?"
                )
            lines += 1
    return lines


def check_utf8(path: Path) -> None:
    """Raise InputError with the place of the first byte that is not UTF-8."""
    place = 0
    with open(path, "rb") as file:
        for line in file:
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                raise InputError(
                    f"{path}: not UTF-8 at byte {place + error.start:,} "
                    f"({line[error.start]:#04x}); convert the file or take it out"
                ) from None
            place += len(line)
