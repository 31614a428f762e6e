"""The documents of a corpus: the books of a folder, or rows of a corpus of the Hugging Face hub.

GPT-1 learns from whole books (paper 4.1), and whole books are held out for the perplexity. A
document is the unit that is held out: a book of a folder, or ROWS rows of a file of the hub, whose
corpora come without document boundaries. Documents depend on nothing but the files.

- `bookcorpus`, `bookcorpus_text`: sentences, lower-cased and split into words by their publisher.
- `wikitext103`: paragraphs.
- `lm1b`: sentences in random order, so that no context is longer than a sentence.
- `tinystories`: one story per row, with line ends of its own.

The publisher's held-out documents are those of the test split or, if there is none, of the
validation split. WikiText's validation split is left out altogether.
"""

import hashlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from gpt1.settings import CorpusSettings
from tasks.common.errors import InputError
from tasks.common.files import inside
from tasks.common.parquet import open_parquet
from tasks.hub import HubSource, Snapshot, corpus
from tasks.world import is_made

ROWS = 50_000


@dataclass(frozen=True)
class Document:
    """A part of a file: bytes `start` to `stop` of a text file, or those rows of a parquet file.

    The name is a path that ends in .txt; `rows` is the number of the publisher's rows in it, one
    for a book; `heldout` says whether it is in the publisher's held-out split.
    """

    name: str
    path: Path
    start: int
    stop: int
    rows: int = 1
    heldout: bool = False


def list_documents(folder: Path, settings: CorpusSettings) -> list[Document]:
    """All documents of a corpus, sorted by name.

    Files of the hub, and books of the synthetic world, are checked against their manifests. Raises
    InputError for missing, unexpected, damaged or changed files.
    """
    if not folder.is_dir():
        content = f"the files of {settings.source}" if settings.source else "UTF-8 .txt books"
        raise InputError(f"{folder}: no such folder; give one with {content}")
    if settings.source:
        documents = list(_hub_documents(folder, settings))
    else:
        is_made(folder)
        books = folder.rglob("*.txt")
        paths = [path for path in books if path.is_file() and not path.name.startswith(".")]
        documents = [
            Document(path.relative_to(folder).as_posix(), path, 0, path.stat().st_size)
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
    """The number of rows of each split, `found` and `published`; empty if none is published.

    Raises InputError if the numbers differ, unless `min_rows` declares a subset.
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
        n_rows = sum(d.rows for d in documents if d.heldout is (split != "train"))
        low, high = least.get(split, known[split]), known[split]
        if not low <= n_rows <= high:
            expected = f"{low:,} to {high:,}" if split in least else f"{high:,}"
            raise InputError(
                f"{folder}: {n_rows:,} rows in {split!r} of {settings.source}, expected {expected};"
                f" fetch it again, or declare a subset with min_rows: {{{split}: {n_rows}}}"
            )
        counts[split] = {"found": n_rows, "published": high}
    return counts


def choose_heldout(
    folder: Path, documents: list[Document], heldout: int | list[str] | str
) -> set[str]:
    """Names of the documents to hold out.

    A number holds out those whose names have the smallest SHA-256. Raises InputError for a choice
    that does not fit the corpus or leaves nothing to train on.
    """
    names = {document.name for document in documents}
    if isinstance(heldout, str):
        chosen = {document.name for document in documents if document.heldout}
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


def in_shares(
    folder: Path, documents: list[Document], heldout: set[str], shares: dict[str, float] | None
) -> list[Document]:
    """The documents of a mixture: those held out, and of each part its share of the others' bytes.

    The parts are folders in `folder`. As much text is taken as the shares allow, to the nearest
    whole book by the SHA-256 of their names, at least one of each part. Raises InputError for a
    part without books or inside another, and where whole books miss a share by over a tenth of it.
    """
    if not shares:
        return documents
    known = sorted({d.name.partition("/")[0] for d in documents if "/" in d.name})
    taken = [document for document in documents if document.name in heldout]
    parts: dict[str, list[Document]] = {}
    for name in shares:
        mine = (d for d in documents if d.name.startswith(f"{name}/") and d.name not in heldout)
        parts[name] = sorted(mine, key=lambda d: hashlib.sha256(d.name.encode()).digest())
        if outer := [other for other in shares if name.startswith(f"{other}/")]:
            raise InputError(f"shares: {name} lies in {outer[0]}; name folders beside each other")
        if not parts[name]:
            raise InputError(
                f"shares: no book to train on in {folder / name}; folders with books there are "
                f"{', '.join(known) or 'none'}"
            )
    sizes = {name: sum(d.stop - d.start for d in of) for name, of in parts.items()}
    scale = min(sizes[name] / share for name, share in shares.items())
    for name, of in parts.items():
        ends = itertools.accumulate(d.stop - d.start for d in of)
        off = [abs(end - scale * shares[name]) for end in ends]
        parts[name] = of[: 1 + off.index(min(off))]
    sizes = {name: sum(d.stop - d.start for d in of) for name, of in parts.items()}
    for name, size in sizes.items():
        found, wanted = size / sum(sizes.values()), shares[name] / sum(shares.values())
        if abs(found - wanted) > wanted / 10:
            raise InputError(
                f"shares: whole books of {name} make up {found:.0%} where {wanted:.0%} are asked "
                "for; give more and smaller books, or other shares"
            )
        taken += parts[name]
    return sorted(taken, key=lambda document: document.name)


def read_rows(source: str | None, path: Path, start: int, stop: int) -> str:
    """The raw text of a document, with "\\n" at line ends and after each row of the hub.

    Raises InputError for text that is missing or not UTF-8, and for a damaged file.
    """
    if source and not corpus(source).lines:
        return "".join(f"{row}\n" for row in _parquet_rows(path, start, stop))
    with open(path, "rb") as file:
        file.seek(start)
        content = file.read(stop - start)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: not UTF-8 at byte {start + error.start:,} ({content[error.start]:#04x}); "
            "convert the file or take it out"
        ) from None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text if source is None or text.endswith("\n") else f"{text}\n"


def _snapshot(folder: Path, settings: CorpusSettings) -> Snapshot:
    return Snapshot(corpus(settings.source or ""), folder, settings.revision)


def _used_splits(source: HubSource) -> list[str]:
    return ["train", *([source.heldout] if source.heldout else [])]


def _hub_documents(folder: Path, settings: CorpusSettings) -> Iterator[Document]:
    """The rows of a fetched corpus, ROWS at a time."""
    snapshot = _snapshot(folder, settings)
    source = snapshot.source
    for split in source.files:
        paths = snapshot.checked_files(split)
        for path in paths if split in _used_splits(source) else ():
            name, heldout = path.relative_to(folder).as_posix(), split == source.heldout
            parts = _parts_of_lines(path) if source.lines else _parts_of_parquet(path)
            for i, (start, stop, rows) in enumerate(parts):
                yield Document(f"{name}/{i:05}.txt", path, start, stop, rows, heldout)


def _parts_of_parquet(path: Path) -> Iterator[tuple[int, int, int]]:
    """The row numbers that bound each document of a file, and the number of its rows."""
    with open_parquet(path, "fetch it again") as file:
        types = dict(zip(file.schema_arrow.names, file.schema_arrow.types, strict=True))
        if types.get("text") not in (pa.string(), pa.large_string()):
            columns = ", ".join(types)
            raise InputError(f"{path}: no text column 'text'; found {columns}; fetch it again")
        n = file.metadata.num_rows
    for start in range(0, n, ROWS):
        stop = min(start + ROWS, n)
        yield start, stop, stop - start


def _parts_of_lines(path: Path) -> Iterator[tuple[int, int, int]]:
    """The same for a text file: byte offsets, and the number of its lines."""
    start = 0
    with open(path, "rb") as file:
        while lines := list(itertools.islice(file, ROWS)):
            stop = start + sum(map(len, lines))
            yield start, stop, len(lines)
            start = stop


def _parquet_rows(path: Path, start: int, stop: int) -> list[str]:
    """The texts of these rows; only the row groups that hold them are read."""
    texts: list[Any] = []
    first = 0
    with open_parquet(path, "fetch it again") as file:
        for group in range(file.num_row_groups):
            n = file.metadata.row_group(group).num_rows
            if first < stop and first + n > start:
                rows = file.read_row_group(group, columns=["text"])["text"]
                texts += rows[max(start - first, 0) : stop - first].to_pylist()
            first += n
    if None in texts:
        row = start + texts.index(None)
        raise InputError(f"{path}: row {row:,} without text; is the file whole? Fetch it again")
    return texts
