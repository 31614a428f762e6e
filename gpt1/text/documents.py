"""Normalised documents of a corpus: making them, counting their words, reading them.

They are rows of an Arrow folder, which `datasets.load_from_disk` opens as well: `name` and `text`,
words joined by one space, a newline where a line ends. Word counts and digests of the texts stand
beside the folder, in `<folder>.json`.
"""

import glob
import hashlib
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from gpt1.text import normalise
from gpt1.text.sources import Document, RawFile, check_utf8, is_lines
from tasks.common.arrow import read_split
from tasks.common.errors import InputError
from tasks.common.files import read_json

if TYPE_CHECKING:
    from datasets import Dataset

TOKENISED = ("bookcorpus", "bookcorpus_text")  # split into words by their publisher
WRITER_BATCH = 8  # documents, of a few MB each, that a process holds before it writes them
_MARKS = re.compile(r" @([-,.])@ ")  # WikiText's, around signs within words and numbers


def normalise_documents(
    documents: list[Document], source: str | None, cache: Path, threads: int
) -> "Dataset":
    """A row per document, in their order, normalised by `threads` processes.

    Columns: name, text, words, lines, source_bytes (UTF-8, a line end counted as one byte) and the
    text's sha256. Temporary files go to `cache`. Raises InputError for text that cannot be read.
    """
    import datasets

    files = list(dict.fromkeys(document.file for document in documents))
    first = dict(zip(files, itertools.accumulate((f.rows for f in files), initial=0), strict=False))
    places = {
        "name": [d.name for d in documents],
        "start": [first[d.file] + d.start for d in documents],
        "stop": [first[d.file] + d.stop for d in documents],
    }
    value = datasets.Value
    features = dict(name=value("string"), text=value("string"), words=value("int64"))
    features |= dict(lines=value("int64"), source_bytes=value("int64"), sha256=value("string"))
    return parallel_map(
        datasets.Dataset.from_dict(places),
        _normalise,
        threads,
        cache / "normalised.arrow",
        fn_kwargs={"rows": _raw_rows(files, source, cache), "source": source},
        remove_columns=["start", "stop"],
        features=datasets.Features(features),
        writer_batch_size=WRITER_BATCH,
    )


def count_words(documents: "Dataset", cache: Path, threads: int) -> Counter[str]:
    """How often each word occurs in the texts; newlines are not counted."""
    counts = parallel_map(
        documents.select_columns(["text"]),
        _count_words,
        threads,
        cache / "counts.arrow",
        batched=True,
        batch_size=WRITER_BATCH,
        remove_columns=["text"],
    )
    total: Counter[str] = Counter()
    for batch in counts.iter(100_000):
        for word, count in zip(batch["word"], batch["count"], strict=True):
            total[word] += count
    return total


def parallel_map(
    rows: "Dataset", function: Callable[..., Any], threads: int, cache_file: Path, **options: Any
) -> "Dataset":
    """`rows.map` in at most `threads` processes. Raises InputError if one of them is killed."""
    processes = min(threads, len(rows))
    try:
        return rows.map(
            function,
            num_proc=processes if processes > 1 else None,
            cache_file_name=str(cache_file),
            **options,
        )
    except RuntimeError as error:
        if "abruptly died" not in str(error):
            raise
        raise InputError(
            f"--threads {threads}: a worker was killed, most likely for want of memory; use fewer"
        ) from None


def read_documents(folder: Path, split: str) -> Iterator[tuple[str, pa.Buffer]]:
    """Name and normalised text (UTF-8) of each document of a split, memory-mapped.

    Raises InputError for a document that is not the one described in `<folder>.json`.
    """
    digests = document_digests(folder)
    table = read_split(folder, split)
    for name, text in zip(table["name"].to_pylist(), table["text"], strict=True):
        check_document(folder, name, text.as_buffer(), digests)
        yield name, text.as_buffer()


def document_digests(folder: Path) -> dict[str, str]:
    """SHA-256 of each document's text, as `<folder>.json` has it."""
    path = folder.with_name(f"{folder.name}.json")
    facts = read_json(path)
    try:
        return {document["name"]: document["sha256"] for document in facts["documents"]}
    except TypeError:
        raise InputError(f"{path}: describes no documents; make it again") from None


def check_document(
    folder: Path, name: str, text: bytes | pa.Buffer, digests: dict[str, str]
) -> None:
    """Raise InputError unless the text has the digest of the document of that name."""
    if digests.get(name) != hashlib.sha256(text).hexdigest():
        raise InputError(
            f"{folder}: {name} is not the document described in {folder.name}.json; make the "
            "documents again"
        )


def _raw_rows(files: list[RawFile], source: str | None, cache: Path) -> "Dataset":
    """All rows of the files, in their order, as Arrow files in `cache`."""
    from datasets import Dataset, concatenate_datasets

    paths = [file.path.resolve() for file in files]
    if source is None:
        for path in paths:
            check_utf8(path)
        return _load(Dataset.from_text, paths, cache, sample_by="document")
    if is_lines(source):
        return concatenate_datasets([_load(Dataset.from_text, [path], cache) for path in paths])
    columns = ["text"]
    return concatenate_datasets(
        [_load(Dataset.from_parquet, [path], cache, columns=columns) for path in paths]
    )


def _load(
    builder: Callable[..., "Dataset"], paths: list[Path], cache: Path, **options: Any
) -> "Dataset":
    """The files read by a builder of `datasets`, which takes names as patterns unless escaped."""
    from datasets.exceptions import DatasetGenerationError

    names = [glob.escape(str(path)) for path in paths]
    try:
        return builder(names, cache_dir=str(cache), **options)
    except (DatasetGenerationError, pa.ArrowException, OSError, UnicodeError) as error:
        where = paths[0] if len(paths) == 1 else paths[0].parent
        raise InputError(
            f"{where}: cannot be read ({_short(error.__cause__ or error)}); fetch it again"
        ) from None


def _normalise(place: dict[str, Any], rows: "Dataset", source: str | None) -> dict[str, Any]:
    """One row of `normalise_documents`."""
    try:
        texts = rows[place["start"] : place["stop"]]["text"]
    except UnicodeDecodeError as error:
        raise InputError(f"{place['name']}: not UTF-8 ({_short(error)}); fetch it again") from None
    if None in texts:
        raise InputError(f"{place['name']}: a row without text; is the file whole? Fetch it again")
    raw = texts[0] if source is None else "".join(f"{text}\n" for text in texts)
    source_bytes = len(raw.encode())
    if source == "wikitext103":
        raw = _MARKS.sub(r"\1", raw)
    text = "".join(normalise.normalise(normalise.cut(raw), tokenised=source in TOKENISED))
    return {
        "text": text,
        "words": len(text.split()),
        "lines": text.count("\n"),
        "source_bytes": source_bytes,
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
    }


def _count_words(batch: dict[str, list[str]]) -> dict[str, list[Any]]:
    counts = Counter(itertools.chain.from_iterable(text.split() for text in batch["text"]))
    return {"word": list(counts), "count": list(counts.values())}


def _short(error: BaseException) -> str:
    return " ".join(str(error).split())[:80]
