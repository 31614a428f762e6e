"""Fetched corpora of the hub with given rows."""

from pathlib import Path

import pyarrow
from pyarrow import parquet

from tasks.common.files import sha256_file, write_json
from tests.facts import DOCUMENTS


def write_parquet(path: Path, rows: list, group: int = 2, column: str = "text") -> None:
    """A parquet file of one column, with row groups of `group` rows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pyarrow.table({column: rows}), path, row_group_size=group)


def write_words(folder: Path, text: str) -> Path:
    """Word counts and the facts beside them; returns the folder of the documents they are of."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "words.tsv").write_text(text, encoding="utf-8")
    digest = sha256_file(folder / "words.tsv")
    write_json(folder / "documents.json", {**DOCUMENTS, "words_sha256": digest})
    return folder / "documents"
