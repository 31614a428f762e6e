"""Normalised documents of a corpus: making them, counting their words, reading them.

They are rows of an Arrow folder, which `datasets.load_from_disk` opens as well: `name` and `text`,
words joined by one space, a newline where a line ends.
"""

import hashlib
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from gpt1.text import normalise
from gpt1.text.sources import Document, RawFile, check_utf8, is_lines
from tasks.common.arrow import read_split
from tasks.common.errors import InputError, make_again
from tasks.common.files import read_json

if TYPE_CHECKING:  # takes a second to import, which programs that only read need not wait for
    from datasets import Dataset

TOKENISED = ("bookcorpus", "bookcorpus_text")  # split into words by their publisher
COLUMNS = {  # of normalised documents, and their types
    **{"name": "string", "text": "string", "words": "int64", "lines": "int64"},
    **{"source_bytes": "int64", "sha256": "string"},
}
AT_ONCE = 8  # documents, of a few MB each, that a process holds in memory
LINES = 10_000  # of a text file that are read at once
RAW = pa.schema({"text": pa.string()})
_MARKS = re.compile(r" @([-,.])@ ")  # WikiText's, around signs within words and numbers


def normalise_documents(
    documents: list[Document], source: str | None, cache: Path, threads: int
) -> "Dataset":
    """A row for each document, in their order, made by `threads` processes.

    Columns: name, text, words, lines, source_bytes (as UTF-8, a line end being one byte), and
    sha256, the text's. Temporary files go to `cache`. Raises InputError for text that cannot be
    read.
    """
    from datasets import Dataset, Features, Value

    features = Features({column: Value(dtype) for column, dtype in COLUMNS.items()})
    if not documents:  # a shard more than there are documents
        return Dataset.from_dict({column: [] for column in COLUMNS}, features=features)
    files = list(dict.fromkeys(document.file for document in documents))
    first = dict(zip(files, itertools.accumulate((f.rows for f in files), initial=0), strict=False))
    places = {
        "name": [d.name for d in documents],
        "start": [first[d.file] + d.start for d in documents],
        "stop": [first[d.file] + d.stop for d in documents],
    }
    return parallel_map(
        Dataset.from_dict(places),
        _normalise,
        threads,
        cache / "normalised.arrow",
        fn_kwargs={"rows": _raw_rows(files, source, cache), "source": source},
        remove_columns=["start", "stop"],
        features=features,
        writer_batch_size=AT_ONCE,
    )


def count_words(documents: "Dataset") -> Counter[str]:
    """How often each word occurs in the texts; newlines are not counted."""
    total: Counter[str] = Counter()
    for table in documents.with_format("arrow").iter(AT_ONCE):
        for text in table["text"].chunks:
            counts = pc.value_counts(pc.split_pattern_regex(text, "[ \n]").flatten())
            words, numbers = counts.flatten()
            total.update(dict(zip(words.to_pylist(), numbers.to_pylist(), strict=True)))
    del total[""]  # after the last newline of a text
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
            # Otherwise a hash of the function and all that it refers to; nothing reads it.
            new_fingerprint=f"{cache.stem}-{len(rows)}",
            **options,
        )
    except RuntimeError as error:
        if "abruptly died" not in str(error):
            raise
        raise InputError(
            f"--threads {threads}: a worker was killed, most likely out of memory; use fewer"
        ) from None


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


def _raw_rows(files: list[RawFile], source: str | None, cache: Path) -> "Dataset":
    """All rows of the files, in their order, as one Arrow file in `cache`.

    The readers of `datasets` would lock their cache, which not every file system can do.
    """
    from datasets import Dataset

    path = cache / "raw.arrow"
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, RAW) as writer:
        for file in files:
            for batch in _batches(file.path, source):
                writer.write_batch(batch)
    return Dataset.from_file(str(path))


def _batches(path: Path, source: str | None) -> Iterator[pa.RecordBatch]:
    """The rows of one file. Raises InputError, naming it, if it cannot be read."""
    try:
        if source is None:
            check_utf8(path)
            yield _batch([path.read_text(encoding="utf-8")])
        elif is_lines(source):
            with open(path, encoding="utf-8") as file:
                while lines := list(itertools.islice(file, LINES)):
                    yield _batch([line.removesuffix("\n") for line in lines])
        else:
            for batch in parquet.ParquetFile(path).iter_batches(columns=["text"]):
                rows = batch.cast(RAW)
                rows.validate(full=True)  # texts are UTF-8
                yield rows
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{path}: cannot be read ({reason:.120}); get it again") from None


def _batch(texts: list[str]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array(texts, pa.string())], schema=RAW)


def _normalise(place: dict[str, Any], rows: "Dataset", source: str | None) -> dict[str, Any]:
    """One row of `normalise_documents`."""
    texts = rows[place["start"] : place["stop"]]["text"]
    if None in texts:
        raise InputError(f"{place['name']}: a row without text; is the file whole? Fetch it again")
    raw = texts[0] if source is None else "".join(f"{text}\n" for text in texts)
    marked = source == "wikitext103"
    blocks = normalise.cut(_MARKS.sub(r"\1", raw) if marked else raw)
    text = "".join(normalise.normalise(blocks, tokenised=source in TOKENISED))
    return {
        "text": text,
        "words": len(text.split()),
        "lines": text.count("\n"),
        "source_bytes": len(raw.encode()),
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
    }
