"""Raw text to cleaned text and word counts: the slow part of making a corpus, done once per piece.

GPT-1's corpus is whole books (paper 4.1), and whole books are what is held out for the perplexity;
the corpora of the hub come in pieces in place of books (`gpt1.text.sources`). Cleaning does not
depend
on the tokenizer, so it is a step of its own. A small record beside each cleaned book tells from
which text and by which code it was made, and a book whose record still fits is not cleaned again,
also after a run that was killed. Sharding rests on that: a shard cleans its share of the books and
nothing else, and the whole run after the shards finds every book done.

The layout: `clean.json` tells of the books, in the order in which they become tokens; each is a
file `clean/NAME` of UTF-8 text, words with one space between, a newline where a line ends.
"""

import functools
import hashlib
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from gpt1.text import normalise as text
from gpt1.text import sources
from gpt1.text import word_splitter as splitter
from gpt1.text.counts import WordCounts
from gpt1.text.parallel import Progress, Share, each
from gpt1.text.sources import FOLDER, OFFICIAL, TOKENISED, Piece
from tasks.common.errors import InputError
from tasks.common.files import read_json, sha256_file, sha256_json, write_atomic, write_json


def clean(
    folder: Path,
    out: Path,
    heldout: int | list[str] | str,
    threads: int = 1,
    source: str = FOLDER,
    revision: str | None = None,
    min_rows: dict[str, int] | None = None,
) -> None:
    """Clean all books of `folder` into `out`; write `<out>.json` and `words.tsv` beside it.

    A cleaned book holds words joined by single spaces; a newline is the newline word, and ends the
    book. Word counts are those of the training books, without the newline. `heldout` is a number of
    books, picked by the digest of their names, or a list of names, or `official`: the split that
    the publisher of the source set apart. A corpus of the hub is at `revision` (None: that of the
    catalogue) and has the published rows, or at least `min_rows` of a split.

    Raises InputError for a missing or empty folder, files that are not as they were fetched, other
    numbers of rows, text that is not UTF-8, wrong held-out books, and a corpus without words.
    """
    pieces = _pieces(source, folder, out)
    origin = sources.origin(source, folder, revision, whole=True)
    rows = sources.rows(source, folder, pieces, min_rows or {})
    for split, n in rows.items():
        print(f"{source} {split}: {n['found']:,} rows of {n['published']:,} published", flush=True)
    held = _choose(pieces, heldout, folder)
    jobs = [(piece, *sources.digest(piece)) for piece in pieces]
    _remove_stale(out, pieces)
    progress = Progress("cleaned", len(pieces))
    books = []
    with WordCounts(out.with_name(".counts")) as counts:
        job = functools.partial(_clean_and_count, out=out, cleaning=_cleaning(), held=held)
        for book, found in each(job, jobs, threads):
            books.append(book)
            counts.add(found)
            progress.add(book["source_bytes"])
        books.sort(key=lambda book: book["name"])
        for kind in (True, False):
            if not any(book["words"] for book in books if book["heldout"] is kind):
                what = "held-out" if kind else "training"
                raise InputError(f"{folder}: the {what} books have no words in them; give others")
        n_types = counts.write(out.with_name("words.tsv"))

    facts = {"folder": out.name, "source": source, "rows": rows, "books": books}
    facts |= origin
    facts |= {"cleaning": _cleaning(), "word_types": n_types}
    write_json(out.with_name(f"{out.name}.json"), facts)
    running = sum(book["words"] for book in books)
    print(f"{len(books):,} books ({len(held):,} held out), {running:,} words", flush=True)


def clean_share(
    folder: Path,
    out: Path,
    share: Share,
    threads: int = 1,
    source: str = FOLDER,
    revision: str | None = None,
) -> None:
    """Clean a share of the books of `folder` into `out`, for the `clean` that comes after.

    Several may run at once, each with a share of its own; what was fetched is read as a whole by
    `clean` alone, here its size is enough. Raises InputError as `clean` does.
    """
    pieces = share.of(_pieces(source, folder, out))
    sources.origin(source, folder, revision, whole=False)
    progress = Progress("cleaned", len(pieces))
    jobs = [(piece, *sources.digest(piece)) for piece in pieces]
    job = functools.partial(_clean, out=out, cleaning=_cleaning())
    for size in each(job, jobs, threads):
        progress.add(size)
    print(f"{len(pieces):,} books", flush=True)


def read_clean(path: Path) -> Iterator[str]:
    """A cleaned book in blocks of bounded length, each ending between two words."""
    with open(path, encoding="utf-8", newline="") as file:
        yield from text.blocks(file)


def _pieces(source: str, folder: Path, out: Path) -> list[Piece]:
    """The books of the source, sorted by name."""
    found = sources.pieces(source, folder)
    if out.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"--out {out}: lies in the folder of the books; choose another place")
    return found


def _choose(pieces: list[Piece], heldout: int | list[str] | str, folder: Path) -> set[str]:
    """Names of the books that are held out."""
    official = {piece.name for piece in pieces if piece.heldout}
    if (heldout == OFFICIAL) != bool(official):
        raise InputError(
            f"heldout: {heldout!r} does not fit {folder}; "
            + (
                "what its publisher set apart is held out: give official"
                if official
                else "nothing in it was set apart by its publisher: give a number"
            )
        )
    names = [piece.name for piece in pieces]
    if official:
        held = official
    elif isinstance(heldout, list):
        for name in heldout:
            if name not in names:
                raise InputError(f"heldout: {name!r} is not a book of {folder}; name a file there")
        held = set(heldout)
    else:
        digests = {name: hashlib.sha256(name.encode()).hexdigest() for name in names}
        held = set(sorted(names, key=digests.__getitem__)[: max(heldout, 0)])
    if not held:
        raise InputError(f"heldout: {heldout!r} holds out no book; hold out at least one")
    if len(held) == len(names):
        raise InputError(
            f"heldout: {heldout!r} leaves none of the {len(names)} books of {folder} to train on; "
            "hold out fewer"
        )
    return held


def _cleaning() -> str:
    """Digest of all that decides a cleaned book besides its source."""
    versions = {name: version(name) for name in ("ftfy", "spacy")}
    code = [sha256_file(module.__file__) for module in (text, splitter)]
    return sha256_json({**versions, "code": code})


def _clean(job: tuple[Piece, str, int], out: Path, cleaning: str) -> int:
    """Clean one book, given with its digest and bytes, unless that was done before; its bytes."""
    piece, digest, size = job
    target, record_path = _paths(out, piece)
    key = {"source_sha256": digest, "cleaning": cleaning}
    if not _is_done(target, record_path, key):
        with write_atomic(target) as file:
            file.writelines(text.clean(sources.blocks(piece), piece.source in TOKENISED))
        write_json(record_path, {**key, "sha256": sha256_file(target)})
    return size


def _clean_and_count(
    job: tuple[Piece, str, int], out: Path, cleaning: str, held: set[str]
) -> tuple[dict[str, Any], Counter[str]]:
    """Clean one book; returns what the corpus' JSON tells of it and, for a training book, its word
    counts."""
    piece, digest, size = job
    _clean(job, out, cleaning)
    target, _ = _paths(out, piece)
    counts: Counter[str] = Counter()
    words = lines = 0
    for block in read_clean(target):
        found = block.split()
        words += len(found)
        lines += block.count("\n")
        if piece.name not in held:
            counts.update(found)
    record = {
        "name": piece.name,
        "heldout": piece.name in held,
        "source_sha256": digest,
        "source_bytes": size,
        "sha256": sha256_file(target),
        "words": words,
        "lines": lines,
    }
    return record, counts


def _paths(out: Path, piece: Piece) -> tuple[Path, Path]:
    """The cleaned book, and its record."""
    return out / piece.name, out / f"{piece.name}.json"


def _is_done(target: Path, record_path: Path, key: dict[str, str]) -> bool:
    try:
        record = read_json(record_path)
    except InputError:
        return False
    return target.is_file() and record == {**key, "sha256": sha256_file(target)}


def _remove_stale(out: Path, pieces: list[Piece]) -> None:
    """Remove cleaned books whose source is gone, and half-written ones of a run that was killed."""
    known = {out / f"{piece.name}.json" for piece in pieces}
    for record_path in set(out.rglob("*.txt.json")) - known:
        record_path.with_suffix("").unlink(missing_ok=True)
        record_path.unlink()
    for half in out.rglob(".*.txt*"):
        half.unlink()
