"""Books to cleaned text and word counts: the slow part of making a corpus, done once per book.

GPT-1's corpus is whole books (paper 4.1), and whole books are what is held out for the perplexity.
Cleaning does not depend on the tokenizer, so it is a step of its own. A small record beside each
cleaned book tells from which source and by which code it was made, and a book whose record still
fits is not cleaned again, also after a run that was killed.
"""

import codecs
import functools
import hashlib
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from gpt1 import splitter, text
from gpt1.parallel import Progress, each
from tasks.errors import InputError
from tasks.files import read_json, sha256_file, sha256_json, write_atomic, write_json


def clean(folder: Path, out: Path, heldout: int | list[str], threads: int = 1) -> None:
    """Clean every `.txt` below `folder` into `out`; write `<out>.json` and `words.tsv` beside it.

    A cleaned book holds words joined by single spaces; a newline is the newline word, and ends the
    book. Word counts are those of the training books, without the newline. `heldout` is a number of
    books, picked by the digest of their names, or a list of names. Raises InputError for a missing
    or empty folder, a book that is not UTF-8, wrong held-out books, and a corpus without words.
    """
    names = _books(folder, out)
    held = _choose(names, heldout, folder)
    cleaning = _cleaning()
    sources = [(name, _check_utf8(folder / name)) for name in names]
    _remove_stale(out, names)
    job = functools.partial(_clean_book, folder=folder, out=out, cleaning=cleaning, held=held)
    progress = Progress("cleaned", len(names))
    counts: Counter[str] = Counter()
    books = []
    for book, found in each(job, sources, threads):
        books.append(book)
        counts.update(found)
        progress.add(book["source_bytes"])
    books.sort(key=lambda book: book["name"])
    for kind in (True, False):
        if not any(book["words"] for book in books if book["heldout"] is kind):
            what = "held-out" if kind else "training"
            raise InputError(f"{folder}: the {what} books have no words in them; give others")

    rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    with write_atomic(out.parent / "words.tsv") as file:
        file.writelines(f"{word}\t{count}\n" for word, count in rows)
    facts = {"folder": out.name, "books": books, "cleaning": cleaning, "word_types": len(rows)}
    write_json(out.with_name(f"{out.name}.json"), facts)
    running = sum(book["words"] for book in books)
    print(f"{len(books):,} books ({len(held):,} held out), {running:,} words", flush=True)


def read_clean(path: Path) -> Iterator[str]:
    """A cleaned book in blocks of bounded length, each ending between two words."""
    with open(path, encoding="utf-8", newline="") as file:
        yield from text.blocks(file)


def _books(folder: Path, out: Path) -> list[str]:
    """Names of the books, relative to the folder, sorted."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; give one with UTF-8 .txt books")
    if out.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"--out {out}: lies in the folder of the books; choose another place")
    paths = (path.relative_to(folder) for path in folder.rglob("*.txt") if path.is_file())
    names = sorted(path.as_posix() for path in paths if not path.name.startswith("."))
    if not names:
        raise InputError(f"{folder}: no .txt file in it; the corpus is a folder of .txt books")
    return names


def _choose(names: list[str], heldout: int | list[str], folder: Path) -> set[str]:
    if isinstance(heldout, list):
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


def _clean_book(
    source: tuple[str, str], folder: Path, out: Path, cleaning: str, held: set[str]
) -> tuple[dict[str, Any], Counter[str]]:
    """Clean one book, given its name and digest, unless that was done before.

    Returns what the corpus' JSON tells of the book and, for a training book, its word counts.
    """
    name, digest = source
    path, target, record_path = folder / name, out / name, out / f"{name}.json"
    key = {"source_sha256": digest, "cleaning": cleaning}
    if not _is_done(target, record_path, key):
        with open(path, encoding="utf-8", newline="") as book, write_atomic(target) as file:
            file.writelines(text.clean(text.blocks(book)))
        write_json(record_path, {**key, "sha256": sha256_file(target)})
    counts: Counter[str] = Counter()
    words = lines = 0
    for block in read_clean(target):
        found = block.split()
        words += len(found)
        lines += block.count("\n")
        if name not in held:
            counts.update(found)
    record = {
        "name": name,
        "heldout": name in held,
        "source_sha256": digest,
        "source_bytes": path.stat().st_size,
        "sha256": sha256_file(target),
        "words": words,
        "lines": lines,
    }
    return record, counts


def _is_done(target: Path, record_path: Path, key: dict[str, str]) -> bool:
    try:
        record = read_json(record_path)
    except InputError:
        return False
    return target.is_file() and record == {**key, "sha256": sha256_file(target)}


def _check_utf8(path: Path) -> str:
    """SHA-256 of a book; raises InputError with the place of the first byte that is not UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    digest = hashlib.sha256()
    done = 0
    with open(path, "rb") as file:
        while True:
            read = file.read(1 << 20)
            start = done - len(decoder.getstate()[0])
            try:
                decoder.decode(read, final=not read)
            except UnicodeDecodeError as error:
                raise InputError(
                    f"{path}: not UTF-8 at byte {start + error.start:,} "
                    f"({error.object[error.start]:#04x}); convert the book or take it out"
                ) from None
            if not read:
                return digest.hexdigest()
            digest.update(read)
            done += len(read)


def _remove_stale(out: Path, names: list[str]) -> None:
    """Remove cleaned books whose source is gone, and half-written ones of a run that was killed."""
    known = {out / f"{name}.json" for name in names}
    for record_path in set(out.rglob("*.txt.json")) - known:
        record_path.with_suffix("").unlink(missing_ok=True)
        record_path.unlink()
    for half in out.rglob(".*.txt*"):
        half.unlink()
