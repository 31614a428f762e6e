"""Normalise the documents of a corpus, and count their words.

Documents are rows of an Arrow folder, which `datasets.load_from_disk` opens as well, with columns
`name` and `text`: words joined by single spaces, with a newline at the end of each line.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpt1.text import normalise
from gpt1.text.sources import Document, read_rows
from tasks.common.errors import InputError

if TYPE_CHECKING:  # takes a second to import; programs that only read need not wait for it
    from datasets import Dataset

TOKENISED = ("bookcorpus", "bookcorpus_text")  # split into words by their publisher
AT_ONCE = 8  # documents, of a few MB each, that a process holds in memory
_MARKS = re.compile(r" @([-,.])@ ")  # WikiText's, around punctuation within words and numbers


def normalise_documents(
    documents: list[Document], source: str | None, cache: Path, threads: int
) -> "Dataset":
    """Normalise each document to a row, in the given order, with `threads` processes.

    Columns: name, text, words, lines, source_bytes (as UTF-8, a line end being one byte), and
    sha256 (of the text). Temporary files go to `cache`. Raises InputError for text that cannot be
    read.
    """
    from datasets import Dataset, Features, Value

    types = {"name": "string", "text": "string", "words": "int64", "lines": "int64"}
    types |= {"source_bytes": "int64", "sha256": "string"}
    parts = [{**asdict(document), "path": str(document.path)} for document in documents]
    return parallel_map(
        Dataset.from_list(parts).select_columns(["name", "path", "start", "stop"]),
        _normalise,
        threads,
        cache / "normalised.arrow",
        fn_kwargs={"source": source},
        remove_columns=["path", "start", "stop"],
        features=Features({column: Value(kind) for column, kind in types.items()}),
        writer_batch_size=AT_ONCE,
    )


def count_words(documents: "Dataset") -> Counter[str]:
    """How often each word occurs in the texts; newlines are not counted."""
    total: Counter[str] = Counter()
    for text in documents["text"]:
        total.update(text.split())
    return total


def parallel_map(
    rows: "Dataset", function: Callable[..., Any], threads: int, cache: Path, **options: Any
) -> "Dataset":
    """`rows.map` in at most `threads` processes. Raises InputError if one of them is killed."""
    processes = min(threads, len(rows))
    try:
        return rows.map(
            function,
            num_proc=processes if processes > 1 else None,
            cache_file_name=str(cache),
            # The default hashes the function and all that it refers to; nothing reads it.
            new_fingerprint=f"{cache.stem}-{len(rows)}",
            **options,
        )
    except RuntimeError as error:
        if "abruptly died" not in str(error):
            raise
        raise InputError(
            f"--threads {threads}: a worker was killed, most likely out of memory; use fewer"
        ) from None


def _normalise(part: dict[str, Any], source: str | None) -> dict[str, Any]:
    """One row of `normalise_documents`."""
    raw = read_rows(source, Path(part["path"]), part["start"], part["stop"])
    unmarked = _MARKS.sub(r"\1", raw) if source == "wikitext103" else raw
    text = normalise.normalise(unmarked, tokenised=source in TOKENISED)
    return {
        "text": text,
        "words": len(text.split()),
        "lines": text.count("\n"),
        "source_bytes": len(raw.encode()),
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
    }
