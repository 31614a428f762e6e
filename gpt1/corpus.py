"""A folder of books, first to cleaned text and word counts, then to memory-mapped token files.

GPT-1 learns from long stretches of contiguous text (paper 4.1), so the books of a split become one
stream. Cleaning (`gpt1.books`) is a step of its own: slow, and independent of the tokenizer.

    python -m gpt1.corpus clean --folder books --settings '{"heldout": 2}' --out corpus/clean
    python -m gpt1.corpus tokens --clean corpus/clean.json --tokenizer tokenizer --out corpus
"""

import argparse
import functools
import hashlib
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np

from gpt1.books import clean, read_clean
from gpt1.bpe import Tokenizer
from gpt1.parallel import Progress, each
from gpt1.tokens import DTYPE
from tasks.errors import InputError, run
from tasks.files import read_json, sha256_file, write_atomic, write_json

SPECIAL = 3  # start, delimiter, classify
SPLITS = ("train", "heldout")


def tokens(clean_path: Path, tokenizer: Path, out: Path, threads: int = 1) -> None:
    """Encode cleaned books to `train.bin` and `heldout.bin` (uint16, little endian), and tell of
    them in `corpus.json`.

    Books follow one another in the order of their names. Raises InputError if the vocabulary does
    not fit into 16 bits, or if a cleaned book is not the one that `clean_path` tells of.
    """
    facts = read_json(clean_path)
    try:
        folder, all_books = clean_path.parent / facts["folder"], facts["books"]
    except (KeyError, TypeError):
        raise InputError(f"{clean_path}: tells of no cleaned books; make it again") from None
    encoder = Tokenizer.load(tokenizer)
    if encoder.n_vocab + SPECIAL > np.iinfo(DTYPE).max:
        raise InputError(
            f"{tokenizer}: {encoder.n_vocab:,} pieces and {SPECIAL} special tokens are too many for"
            f" 16-bit token files (at most {np.iinfo(DTYPE).max:,}); train with fewer merges"
        )
    parts = out / ".parts"
    shutil.rmtree(parts, ignore_errors=True)
    parts.mkdir(parents=True)
    job = functools.partial(
        _encode_book, folder=folder, tokenizer=tokenizer, digest=encoder.digest, parts=parts
    )
    progress = Progress("encoded", len(all_books))
    try:
        for name in each(job, all_books, threads):
            progress.add((folder / name).stat().st_size)
        splits = {}
        for split in SPLITS:
            books = [book["name"] for book in all_books if book["heldout"] is (split == "heldout")]
            splits[split] = _join(books, parts, out / f"{split}.bin")
    finally:
        shutil.rmtree(parts, ignore_errors=True)
    found = {"splits": splits, "tokenizer": encoder.digest, "n_vocab": encoder.n_vocab}
    write_json(out / "corpus.json", {**found, "clean": sha256_file(clean_path)})
    print(", ".join(f"{split} {splits[split]['tokens']:,} tokens" for split in SPLITS), flush=True)


def _encode_book(
    book: dict[str, Any], folder: Path, tokenizer: Path, digest: str, parts: Path
) -> str:
    """Write one cleaned book's tokens to a file of its own; returns the book's name."""
    path = folder / book["name"]
    if not path.is_file() or sha256_file(path) != book["sha256"]:
        raise InputError(f"{path}: not the cleaned book it was; clean the corpus again")
    encoder = _load_tokenizer(tokenizer, digest)
    with open(_part(parts, book["name"]), "wb") as file:
        for block in read_clean(path):
            ids = encoder.encode_words(block.replace("\n", " \n ").split(" "))
            file.write(np.array(ids, dtype=DTYPE).tobytes())
    return book["name"]


@functools.lru_cache(maxsize=1)
def _load_tokenizer(folder: Path, digest: str) -> Tokenizer:
    """One tokenizer a process, with its cache of words."""
    encoder = Tokenizer.load(folder)
    if encoder.digest != digest:
        raise InputError(f"{folder}: the tokenizer changed meanwhile; start again")
    return encoder


def _join(names: list[str], parts: Path, path: Path) -> dict[str, Any]:
    """Write a split's books in a row; returns what `corpus.json` tells of it, offsets in tokens."""
    books, start = [], 0
    with write_atomic(path, "wb") as file:
        for name in names:
            length = _part(parts, name).stat().st_size // DTYPE.itemsize
            with open(_part(parts, name), "rb") as part:
                shutil.copyfileobj(part, file, 1 << 20)
            books.append({"name": name, "start": start, "tokens": length})
            start += length
    return {"file": path.name, "tokens": start, "sha256": sha256_file(path), "books": books}


def _part(parts: Path, name: str) -> Path:
    return parts / hashlib.sha256(name.encode()).hexdigest()


def _settings(argument: str) -> int | list[str]:
    try:
        settings = json.loads(argument)
    except json.JSONDecodeError as error:
        raise InputError(f"--settings {argument!r}: not JSON ({error.msg})") from None
    heldout = settings.get("heldout") if isinstance(settings, dict) else None
    names = isinstance(heldout, list) and all(isinstance(name, str) for name in heldout)
    if not (names or type(heldout) is int) or set(settings) != {"heldout"}:
        raise InputError(
            f'--settings {argument}: expected {{"heldout": a count or a list of names}}'
        )
    return heldout


def main() -> None:
    parser = argparse.ArgumentParser(description="Clean a folder of books and encode it.")
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("clean", help="books to cleaned text and word counts")
    command.add_argument("--folder", type=Path, required=True, help="folder of UTF-8 .txt books")
    command.add_argument("--settings", required=True, help='JSON: {"heldout": 2 or ["a.txt"]}')
    command.add_argument("--threads", type=int, default=1)
    command.add_argument("--out", type=Path, required=True, help="folder of the cleaned books")
    command = commands.add_parser("tokens", help="cleaned text to token files")
    command.add_argument("--clean", type=Path, required=True, help="the JSON that `clean` wrote")
    command.add_argument("--tokenizer", type=Path, required=True, help="folder of the two files")
    command.add_argument("--threads", type=int, default=1)
    command.add_argument("--out", type=Path, required=True, help="folder of the token files")
    args = parser.parse_args()
    if args.threads < 1:
        raise InputError(f"--threads {args.threads}: at least one is needed")
    if args.command == "clean":
        clean(args.folder, args.out, _settings(args.settings), args.threads)
    else:
        tokens(args.clean, args.tokenizer, args.out, args.threads)


if __name__ == "__main__":
    sys.exit(run(main))
