"""The documents of a corpus: the books of a folder, or rows of a corpus of the Hugging Face hub.

GPT-1 learns from whole books (paper 4.1), and whole books are held out for the perplexity. A
document is what is held out as a whole: a book of a folder, or ROWS rows of a file of the hub,
whose corpora come without document boundaries. Documents depend on nothing but the files.

- `bookcorpus`, `bookcorpus_text`: sentences, lower-cased and split into words by their publisher.
- `wikitext103`: paragraphs.
- `lm1b`: sentences in random order, so that no context is longer than a sentence.
- `tinystories`: one story per row, with line ends of its own.

What the publisher set apart is held out: the test split, or the validation split where there is no
other. WikiText's validation split is then left out altogether.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from gpt1.text.settings import CorpusSettings
from tasks.common.errors import InputError
from tasks.common.files import inside
from tasks.corpora import corpus
from tasks.hub import HubSource, Snapshot
from tasks.world import manifest

ROWS = 50_000


@dataclass(frozen=True)
class RawFile:
    """A file of raw text with `rows` rows; a book is one row."""

    path: Path
    rows: int = 1
    heldout: bool = False  # by its publisher


@dataclass(frozen=True)
class Document:
    """The rows `start` to `stop` of a file; the name is a path that ends in .txt."""

    name: str
    file: RawFile
    start: int = 0
    stop: int = 1


def list_documents(folder: Path, settings: CorpusSettings, whole: bool = True) -> list[Document]:
    """All documents of a corpus, sorted by name.

    Files of the hub are compared with the manifest of what was fetched; by their sizes alone unless
    `whole`. Raises InputError for missing, unexpected, damaged or changed files.
    """
    if not folder.is_dir():
        content = f"the files of {settings.source}" if settings.source else "UTF-8 .txt books"
        raise InputError(f"{folder}: no such folder; give one with {content}")
    if settings.source:
        documents = list(_hub_documents(folder, settings, whole))
    else:
        manifest.check(folder)
        books = folder.rglob("*.txt")
        paths = [path for path in books if path.is_file() and not path.name.startswith(".")]
        documents = [
            Document(path.relative_to(folder).as_posix(), RawFile(path))
            for path in inside(folder, paths)
        ]
        if not documents:
            raise InputError(f"{folder}: no .txt file in it; the corpus is a folder of .txt books")
    return sorted(documents, key=lambda document: document.name)


def origin(folder: Path, settings: CorpusSettings) -> dict[str, str]:
    """Repository and commit of a corpus of the hub; empty for a folder of books."""
    if not settings.source:
        return {}
    fetched = _snapshot(folder, settings).origin
    return {key: fetched[key] for key in ("repo", "revision")}


def count_rows(
    folder: Path, settings: CorpusSettings, documents: list[Document]
) -> dict[str, dict[str, int]]:
    """Rows of each split, `found` and `published`; empty where no published number is known.

    Raises InputError where the numbers differ, unless `min_rows` states a subset.
    """
    source = corpus(settings.source) if settings.source else None
    known, least = source.rows if source else {}, settings.min_rows or {}
    if unknown := sorted(least.keys() - known):
        raise InputError(
            f"min_rows: no published number of rows of {unknown[0]!r} of {settings.source}; known "
            f"are those of {', '.join(known) or 'none'}"
        )
    counts = {}
    for split in _used_splits(source) if source and known else ():
        found = sum(d.stop - d.start for d in documents if d.file.heldout is (split != "train"))
        low, high = least.get(split, known[split]), known[split]
        if not low <= found <= high:
            expected = f"{low:,} to {high:,}" if split in least else f"{high:,}"
            raise InputError(
                f"{folder}: {found:,} rows in {split!r} of {settings.source}, expected {expected}; "
                f"fetch it again, or declare a subset with min_rows: {{{split}: {found}}}"
            )
        counts[split] = {"found": found, "published": high}
    return counts


def choose_heldout(
    folder: Path, documents: list[Document], heldout: int | list[str] | str
) -> set[str]:
    """Names of the documents that are held out.

    A number takes those whose names have the smallest SHA-256. Raises InputError for a choice that
    does not fit the corpus or leaves nothing to train on.
    """
    names = {document.name for document in documents}
    official = {document.name for document in documents if document.file.heldout}
    if (heldout == "official") != bool(official):
        fitting = (
            "has a published held-out split; use 'official'"
            if official
            else "has no published held-out split; give a number"
        )
        raise InputError(f"heldout: found {heldout!r}, but {folder} {fitting}")
    if isinstance(heldout, str):
        chosen = official
    elif isinstance(heldout, int):
        chosen = set(sorted(names, key=lambda n: hashlib.sha256(n.encode()).digest())[:heldout])
    else:
        chosen = set(heldout)
        if unknown := sorted(chosen - names):
            raise InputError(
                f"heldout: {unknown[0]!r} is not a book of {folder}; name a file there"
            )
    if chosen == names:
        raise InputError(
            f"heldout: {heldout!r} leaves none of the {len(names)} books of {folder} to train on; "
            "hold out fewer"
        )
    return chosen


def is_lines(source: str) -> bool:
    """Whether a corpus of the hub is published as text files with a row per line."""
    return corpus(source).lines


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


def _snapshot(folder: Path, settings: CorpusSettings) -> Snapshot:
    return Snapshot(corpus(settings.source or ""), folder, settings.revision)


def _used_splits(source: HubSource) -> list[str]:
    return ["train", *([source.heldout] if source.heldout else [])]


def _hub_documents(folder: Path, settings: CorpusSettings, whole: bool) -> Iterator[Document]:
    """The rows of a fetched corpus, ROWS at a time."""
    snapshot = _snapshot(folder, settings)
    source = snapshot.source
    _ = snapshot.origin  # refuses another repository or commit
    for split in source.files:
        paths = snapshot.files(split)
        snapshot.check(paths, whole)
        for path in paths if split in _used_splits(source) else ():
            rows = _count_lines(path) if is_lines(source.name) else _count_parquet_rows(path)
            file = RawFile(path, rows, heldout=split == source.heldout)
            name = path.relative_to(folder).as_posix()
            for i, start in enumerate(range(0, rows, ROWS)):
                yield Document(f"{name}/{i:05}.txt", file, start, min(start + ROWS, rows))


def _count_parquet_rows(path: Path) -> int:
    try:
        file = parquet.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())
        raise InputError(
            f"{path}: not a whole parquet file ({reason:.80}); fetch it again"
        ) from None
    types = dict(zip(file.schema_arrow.names, file.schema_arrow.types, strict=True))
    if types.get("text") not in (pa.string(), pa.large_string()):
        raise InputError(f"{path}: no text column 'text'; found {', '.join(types)}; fetch it again")
    return file.metadata.num_rows


def _count_lines(path: Path) -> int:
    check_utf8(path)
    with open(path, encoding="utf-8") as file:
        return sum(1 for _ in file)
