"""A corpus, first to cleaned text and word counts, then to memory-mapped token files.

GPT-1 learns from long stretches of contiguous text (paper 4.1), so the books of a split become one
stream. Cleaning (`gpt1.text.books`) is a step of its own: slow, and independent of the tokenizer.
Both
steps can be cut into shards, which do a share of the books each beforehand, and both go on where
they were stopped.

    python -m gpt1.corpus clean --folder books --settings '{"heldout": 2}' --out corpus/clean
    python -m gpt1.corpus tokens --clean corpus/clean.json --tokenizer tokenizer --out corpus
"""

import argparse
import functools
import json
import shutil
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from gpt1.text import tokenizer as bpe
from gpt1.text.books import clean, clean_share, read_clean
from gpt1.text.parallel import Progress, Share, each
from gpt1.text.sources import FOLDER, OFFICIAL
from gpt1.text.tokenizer import Tokenizer
from gpt1.text.tokens import DTYPE
from tasks.common.errors import InputError, run
from tasks.common.files import read_json, sha256_file, sha256_json, write_atomic, write_json

SPECIAL = 3  # start, delimiter, classify
SPLITS = ("train", "heldout")
PARTS = ".parts"  # each book's tokens, until they are joined


def tokens(clean_path: Path, tokenizer: Path, out: Path, threads: int = 1) -> None:
    """Encode cleaned books to `train.bin` and `heldout.bin` (uint16, little endian), and tell of
    them in `corpus.json`.

    Books follow one another in the order of their names. Raises InputError if the vocabulary does
    not fit into 16 bits, or if a cleaned book is not the one that `clean_path` tells of.
    """
    books, encoder, parts = _books(clean_path), _encoder(tokenizer), out / PARTS
    _encode(books, tokenizer, encoder.digest, parts, threads)
    splits = {}
    for split in SPLITS:
        of_split = [book for book in books if book["heldout"] is (split == "heldout")]
        splits[split] = _join(of_split, parts, encoder.digest, out / f"{split}.bin")
    found = {"splits": splits, "tokenizer": encoder.digest, "n_vocab": encoder.n_vocab}
    write_json(out / "corpus.json", {**found, "clean": sha256_file(clean_path)})
    shutil.rmtree(parts, ignore_errors=True)
    print(", ".join(f"{split} {splits[split]['tokens']:,} tokens" for split in SPLITS), flush=True)


def tokens_share(
    clean_path: Path, tokenizer: Path, out: Path, share: Share, threads: int = 1
) -> None:
    """Encode a share of the cleaned books, for the `tokens` that comes after.

    Several may run at once, each with a share of its own. Raises InputError as `tokens` does.
    """
    books = share.of(_books(clean_path))
    _encode(books, tokenizer, _encoder(tokenizer).digest, out / PARTS, threads)
    print(f"{len(books):,} books", flush=True)


def _books(clean_path: Path) -> list[dict[str, Any]]:
    facts = read_json(clean_path)
    try:
        folder = clean_path.parent / facts["folder"]
        return [{**book, "path": str(folder / book["name"])} for book in facts["books"]]
    except (KeyError, TypeError):
        raise InputError(f"{clean_path}: tells of no cleaned books; make it again") from None


def _encoder(tokenizer: Path) -> Tokenizer:
    encoder = Tokenizer.load(tokenizer)
    if encoder.n_vocab + SPECIAL > np.iinfo(DTYPE).max:
        raise InputError(
            f"{tokenizer}: {encoder.n_vocab:,} pieces and {SPECIAL} special tokens are too many for"
            f" 16-bit token files (at most {np.iinfo(DTYPE).max:,}); train with fewer merges"
        )
    return encoder


def _encode(
    books: list[dict[str, Any]], tokenizer: Path, digest: str, parts: Path, threads: int
) -> None:
    """Write each book's tokens to a part of its own, unless it is there."""
    parts.mkdir(parents=True, exist_ok=True)
    job = functools.partial(_encode_book, tokenizer=tokenizer, digest=digest, parts=parts)
    progress = Progress("encoded", len(books))
    for size in each(job, books, threads):
        progress.add(size)


def _encode_book(book: dict[str, Any], tokenizer: Path, digest: str, parts: Path) -> int:
    """Write one cleaned book's tokens to its part, unless it is there; returns the book's bytes."""
    path = Path(book["path"])
    if not path.is_file() or sha256_file(path) != book["sha256"]:
        raise InputError(f"{path}: not the cleaned book it was; clean the corpus again")
    part = _part(parts, book, digest)
    if not part.exists():
        encoder = _load_tokenizer(tokenizer, digest)
        with write_atomic(part, "wb") as file:
            for block in read_clean(path):
                ids = encoder.encode_words(block.replace("\n", " \n ").split(" "))
                file.write(np.array(ids, dtype=DTYPE).tobytes())
    return path.stat().st_size


@functools.lru_cache(maxsize=1)
def _load_tokenizer(folder: Path, digest: str) -> Tokenizer:
    """One tokenizer a process, with its cache of words."""
    encoder = Tokenizer.load(folder)
    if encoder.digest != digest:
        raise InputError(f"{folder}: the tokenizer changed meanwhile; start again")
    return encoder


def _join(books: list[dict[str, Any]], parts: Path, digest: str, path: Path) -> dict[str, Any]:
    """Write a split's books in a row; returns what `corpus.json` tells of it, offsets in tokens."""
    told, start = [], 0
    with write_atomic(path, "wb") as file:
        for book in books:
            with open(_part(parts, book, digest), "rb") as part:
                shutil.copyfileobj(part, file, 1 << 20)
                length = part.tell() // DTYPE.itemsize
            told.append({"name": book["name"], "start": start, "tokens": length})
            start += length
    return {"file": path.name, "tokens": start, "sha256": sha256_file(path), "books": told}


def _part(parts: Path, book: dict[str, Any], digest: str) -> Path:
    """Where a book's tokens lie; the name says what they were made of, so that it cannot be old."""
    return parts / sha256_json({"book": book["sha256"], "tokenizer": digest, "code": _code()})


@functools.cache
def _code() -> list[str]:
    return [sha256_file(bpe.__file__), version("tokenizers")]


def _settings(argument: str) -> dict[str, Any]:
    """What is held out, the source, its commit and the least rows of its splits."""
    try:
        settings = json.loads(argument)
    except json.JSONDecodeError as error:
        raise InputError(f"--settings {argument!r}: not JSON ({error.msg})") from None
    if not isinstance(settings, dict):
        settings = {}
    heldout = settings.get("heldout")
    names = isinstance(heldout, list) and all(isinstance(name, str) for name in heldout)
    known = type(heldout) is int or heldout == OFFICIAL or names
    kinds = {"source": str, "revision": str | None, "min_rows": dict | None}
    fits = all(isinstance(settings[key], kinds[key]) for key in kinds.keys() & settings.keys())
    if not known or not fits or settings.keys() - {"heldout", *kinds}:
        raise InputError(
            f'--settings {argument}: expected {{"heldout": a count, a list of names or '
            f'"{OFFICIAL}", "source": "{FOLDER}" or a corpus of the catalogue, "revision": its '
            'commit, "min_rows": {split: a count}}'
        )
    return {"source": FOLDER, **settings}


def _share(argument: str) -> Share:
    number, _, n = argument.partition("/")
    if not (number.isdecimal() and n.isdecimal() and 1 <= int(number) <= int(n)):
        raise InputError(f"--share {argument}: expected a number and how many, such as 3/16")
    return Share(int(number), int(n))


def main() -> None:
    parser = argparse.ArgumentParser(description="Clean a corpus and encode it.")
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("clean", help="raw text to cleaned text and word counts")
    command.add_argument("--folder", type=Path, required=True, help="folder of the raw text")
    command.add_argument(
        "--settings", required=True, help='JSON: {"heldout": 2 or ["a.txt"], "source": "folder"}'
    )
    command.add_argument("--out", type=Path, required=True, help="folder of the cleaned books")
    _add_common(command)
    command = commands.add_parser("tokens", help="cleaned text to token files")
    command.add_argument("--clean", type=Path, required=True, help="the JSON that `clean` wrote")
    command.add_argument("--tokenizer", type=Path, required=True, help="folder of the two files")
    command.add_argument("--out", type=Path, required=True, help="folder of the token files")
    _add_common(command)
    args = parser.parse_args()
    if args.threads < 1:
        raise InputError(f"--threads {args.threads}: at least one is needed")
    share = args.share and _share(args.share)
    if args.command == "clean":
        settings = _settings(args.settings)
        if share:
            of = settings["source"], settings.get("revision")
            clean_share(args.folder, args.out, share, args.threads, *of)
        else:
            clean(args.folder, args.out, threads=args.threads, **settings)
    elif share:
        tokens_share(args.clean, args.tokenizer, args.out, share, args.threads)
    else:
        tokens(args.clean, args.tokenizer, args.out, args.threads)


def _add_common(command: argparse.ArgumentParser) -> None:
    command.add_argument("--threads", type=int, default=1)
    command.add_argument("--share", help="3/16: do the third of 16 shares beforehand, no more")


if __name__ == "__main__":
    sys.exit(run(main))
