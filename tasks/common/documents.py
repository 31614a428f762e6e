"""The normalised documents of a corpus, as `gpt1.corpus documents` saved them."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from tasks.common.arrow import read_split
from tasks.common.errors import InputError, make_again
from tasks.common.records import Counts, Record, facts_path


class DocumentFacts(Record):
    """A document's counts of words, lines and raw bytes; `sha256` is of the normalised text."""

    name: str
    words: int
    lines: int
    source_bytes: int
    sha256: str
    heldout: bool


class DocumentsFacts(Record):
    """`<folder>.json`, beside the folder of documents; `rows` and `origin` describe a hub source.

    `words.tsv` has `word_types` different words, and its digest is `words_sha256`.
    """

    source: str
    origin: dict[str, str]
    rows: dict[str, Counts]
    versions: dict[str, str]
    word_types: int
    words_sha256: str
    documents: list[DocumentFacts]
    made: bool = False  # the books of a synthetic world


def read_documents(folder: Path, split: str) -> Iterator[tuple[str, pa.Buffer]]:
    """Name and normalised text (UTF-8) of each document of a split, memory-mapped.

    Raises InputError for a document that is not the one described in `<folder>.json`.
    """
    path = facts_path(folder)
    digests = {of.name: of.sha256 for of in DocumentsFacts.read(path, make_again(path)).documents}
    table = read_split(folder, split)
    for name, text in zip(table["name"].to_pylist(), table["text"], strict=True):
        buffer = text.as_buffer()
        if digests.get(name) != hashlib.sha256(buffer).hexdigest():
            raise InputError(
                f"{folder}: {name} is not the document described in {path.name}; "
                f"{make_again(folder)}"
            )
        yield name, buffer
