"""Which reported examples have a 13-gram that the language model was trained on.

One pass over the corpus for all tasks, once as BPE pieces (the training books' token file) and once
as words (the cleaned training books). Newlines are passed over on both sides, so that it does not
matter how a corpus breaks its lines. An n-gram lies within one text of an example (a story and each
of its endings are one text; DPRD's sentence is two, since the pronoun between them is not kept); a
text with fewer symbols cannot match, and an example that has no longer one is too short to tell.
The words of two books never join; the token file has its books in a row, as training reads it, so
an n-gram of pieces may reach from one book into the next.

    python -m gpt1.contamination rte cola --corpus corpus/corpus.json --clean corpus/clean.json \\
        --examples examples --encoded encoded --out contamination
"""

import argparse
import functools
import hashlib
import sys
import time
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gpt1.text import ngrams
from gpt1.text import normalise as text
from gpt1.text.ngrams import Grams, Run, Search
from gpt1.text.tokens import DTYPE, open_tokens
from gpt1.training.encoded import TEXTS, EncodedSplit
from gpt1.training.encoded import load as load_encoded
from tasks.common.errors import InputError, run
from tasks.common.files import read_json, sha256_file, write_json
from tasks.examples import each_example
from tasks.types import Example

NOT_REPORTED = ("train", "select")
KINDS = ("pieces", "words")


class Rows:
    """The n-grams of all reported rows in one kind of symbol; rows are numbered as added."""

    def __init__(self, n: int) -> None:
        self.grams = Grams(n)
        self.long = array("b")  # of each row: whether it has an n-gram at all
        self.row_of, self.gram_of = array("q"), array("q")

    def add(self, texts: Iterable[Run]) -> None:
        """One more row with these texts."""
        found = {number for each in texts for number in self.grams.add(each)}
        self.row_of.extend([len(self.long)] * len(found))
        self.gram_of.extend(found)
        self.long.append(bool(found))

    def contaminated(self, search: Search) -> np.ndarray:
        """Of each row [rows]: whether one of its n-grams was seen."""
        found = np.zeros(len(self.long), bool)
        seen = search.seen[np.array(self.gram_of, np.int64)]
        found[np.array(self.row_of, np.int64)[seen]] = True
        return found


def contamination(
    names: list[str],
    corpus: Path,
    clean: Path,
    examples: Path,
    encoded: Path,
    out: Path,
    n: int = ngrams.N,
) -> None:
    """Write `out`/TASK.json for every task of `names`.

    Each split tells its number of rows and, for pieces and for words, which of its rows (numbered
    in their order in the examples' file) are contaminated and which are too short to tell. Raises
    InputError where files do not belong together.
    """
    facts = read_json(corpus)
    tokens = open_tokens(corpus, "train")
    rows = {kind: Rows(n) for kind in KINDS}
    splits, digests = {}, {}
    for name in names:
        splits[name], digests[name] = _add_task(name, examples, encoded, facts, rows)
    searches = {kind: Search(rows[kind].grams) for kind in KINDS}

    start = time.monotonic()
    ngrams.scan_pieces(searches["pieces"], tokens, _newline(facts))
    _tell("pieces", len(tokens) * DTYPE.itemsize, start)
    start = time.monotonic()
    size = _scan_books(searches["words"], clean)
    _tell("words", size, start)

    marks = {kind: rows[kind].contaminated(searches[kind]) for kind in KINDS}
    short = {kind: ~np.array(rows[kind].long, bool) for kind in KINDS}
    first = 0
    for name in names:
        told = {}
        for split, count in splits[name].items():
            here = slice(first, first + count)
            told[split] = {"rows": count} | {
                kind: {
                    "contaminated": np.flatnonzero(marks[kind][here]).tolist(),
                    "too_short": np.flatnonzero(short[kind][here]).tolist(),
                }
                for kind in KINDS
            }
            first += count
        sources = {"corpus": facts["splits"]["train"]["sha256"], "clean": sha256_file(clean)}
        found = {"task": name, "n": n, "splits": told, "examples": digests[name], **sources}
        write_json(out / f"{name}.json", found)
        print(f"{name}: " + "; ".join(_line(*item) for item in told.items()), flush=True)


def _newline(facts: dict[str, Any]) -> int:
    """The newline word, the last of every vocabulary."""
    return facts["n_vocab"] - 1


def _add_task(
    name: str, examples: Path, encoded: Path, facts: dict[str, Any], rows: dict[str, Rows]
) -> tuple[dict[str, int], str]:
    """Add a task's reported rows; returns the rows of each split and the examples' digest."""
    path = examples / f"{name}.jsonl"
    texts: dict[str, list[Example]] = {}
    for example in each_example(path):
        if example.split not in NOT_REPORTED:
            texts.setdefault(example.split, []).append(example)
    digest = sha256_file(path)
    encoding = load_encoded(encoded / f"{name}.npz")
    if encoding.data != digest or encoding.tokenizer != facts["tokenizer"]:
        what = "examples" if encoding.data != digest else "tokenizer"
        raise InputError(
            f"{encoded / f'{name}.npz'}: made with another {what} than {path} and the corpus; "
            "encode the task again"
        )
    counts = {}
    for split, pieces in encoding.splits.items():
        if split in NOT_REPORTED:
            continue
        counts[split] = len(pieces.guids)
        for at in range(counts[split]):
            rows["pieces"].add(map(ngrams.of_pieces, _pieces(pieces, at, _newline(facts))))
            rows["words"].add(map(_words, _texts(texts[split][at])))
    return counts, digest


def _texts(example: Example) -> list[str]:
    """The texts of one row: its own, or a story with each ending."""
    if example.choices and not example.second:
        return [f"{example.first} {choice}" for choice in example.choices]
    return [example.first, example.second, *example.choices]


def _pieces(split: EncodedSplit, at: int, newline: int) -> list[np.ndarray]:
    """The same texts as pieces."""
    first, second, choices = (getattr(split, name)[at] for name in TEXTS)
    if choices and not len(second):
        found = [np.concatenate((first, choice)) for choice in choices]
    else:
        found = [first, second, *choices]
    return [ngrams.without(ids, newline) for ids in found]


@functools.lru_cache(maxsize=256)  # neighbouring examples share premises and documents
def _words(raw: str) -> Run:
    return ngrams.of_words(" ".join(text.words(raw)).encode())


def _scan_books(search: Search, clean: Path) -> int:
    """Search the cleaned training books, each for itself; returns their bytes."""
    facts, size = read_json(clean), 0
    for book in facts["books"]:
        if book["heldout"]:
            continue
        path = clean.parent / facts["folder"] / book["name"]
        if not path.is_file():
            raise InputError(f"{path}: no such file; clean the corpus again")
        digest = hashlib.sha256()
        ngrams.scan_words(search, _blocks(path, digest))
        if digest.hexdigest() != book["sha256"]:
            raise InputError(f"{path}: not the cleaned book it was; clean the corpus again")
        size += path.stat().st_size
    return size


def _blocks(path: Path, digest: Any) -> Iterator[bytes]:
    """A book's blocks, which go into `digest` as well."""
    with open(path, "rb") as file:
        for block in ngrams.word_blocks(file):
            digest.update(block)
            yield block


def _tell(kind: str, size: int, start: float) -> None:
    seconds = time.monotonic() - start
    rate = size / 1e6 / max(seconds, 1e-9)
    print(f"{kind}: {size / 1e6:,.1f} MB of corpus, {rate:,.0f} MB/s", flush=True)


def _line(split: str, told: dict[str, Any]) -> str:
    counts = (f"{len(told[kind]['contaminated']):,} by {kind}" for kind in KINDS)
    return f"{split} {told['rows']:,} rows, contaminated {', '.join(counts)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="+")
    parser.add_argument("--corpus", type=Path, required=True, help="the JSON beside the tokens")
    parser.add_argument("--clean", type=Path, required=True, help="the JSON of the cleaned books")
    parser.add_argument("--examples", type=Path, required=True, help="folder of TASK.jsonl")
    parser.add_argument("--encoded", type=Path, required=True, help="folder of TASK.npz")
    parser.add_argument("--out", type=Path, required=True, help="folder of TASK.json to write")
    a = parser.parse_args()
    contamination(a.tasks, a.corpus, a.clean, a.examples, a.encoded, a.out)


if __name__ == "__main__":
    sys.exit(run(main))
