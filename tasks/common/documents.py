"""The normalised documents of a corpus, as `gpt1.corpus documents` saved them."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from tasks.common.arrow import read_split
from tasks.common.errors import InputError, make_again
from tasks.common.files import read_json


def read_documents(folder: Path, split: str) -> Iterator[tuple[str, pa.Buffer]]:
    """Name and normalised text (UTF-8) of each document of a split, memory-mapped.

    Raises InputError for a document that is not the one described in `<folder>.json`.
    """
    path = folder.with_name(f"{folder.name}.json")
    facts = read_json(path)
    try:
        digests = {document["name"]: document["sha256"] for document in facts["documents"]}
    except TypeError:
        raise InputError(f"{path}: describes no documents; {make_again(path)}") from None
    table = read_split(folder, split)
    for name, text in zip(table["name"].to_pylist(), table["text"], strict=True):
        buffer = text.as_buffer()
        if digests.get(name) != hashlib.sha256(buffer).hexdigest():
            raise InputError(
                f"{folder}: {name} is not the document described in {path.name}; "
                f"{make_again(folder)}"
            )
        yield name, buffer
