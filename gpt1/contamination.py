"""Which reported examples have a 13-gram that the language model was trained on.

One pass over the corpus for all tasks, once as BPE tokens (the training split's token file) and
once as words (the normalised training documents). Newlines are skipped on both sides, so that it
does not matter how a corpus breaks its lines. An n-gram lies within one text of an example (a story
and each of its endings are one text; DPRD's sentence is two, since the pronoun between them is
not kept); a text with fewer symbols cannot match, and an example without a longer one is too short
to tell. Words of two documents never join; the token file has its documents in a row, as training
reads it, so an n-gram of tokens may reach from one document into the next.

    python -m gpt1.contamination rte cola --corpus corpus/corpus.json \\
        --documents corpus/documents --examples examples --encoded encoded --out contamination
"""

import argparse
import functools
import sys
import time
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from gpt1.text import ngrams, normalise
from gpt1.text.documents import read_documents
from gpt1.text.ngrams import Grams, Run, Search
from gpt1.text.tokens import DTYPE, open_tokens
from gpt1.training.encoded import EncodedSplit
from gpt1.training.encoded import load as load_encoded
from tasks import examples as task_examples
from tasks.common.arrow import split_digest
from tasks.common.errors import InputError, run
from tasks.common.files import read_json, sha256_file, write_json
from tasks.examples import Example

SYMBOLS = ("tokens", "words")


class Rows:
    """The n-grams of all reported rows in one kind of symbol; rows are numbered as added."""

    def __init__(self, n: int) -> None:
        self.grams = Grams(n)
        self.long = array("b")  # of each row: whether it has an n-gram at all
        self.row_of, self.gram_of = array("q"), array("q")

    def add(self, texts: Iterable[Run]) -> None:
        """Add a row with these texts."""
        numbers = {number for text in texts for number in self.grams.add(text)}
        self.row_of.extend([len(self.long)] * len(numbers))
        self.gram_of.extend(numbers)
        self.long.append(bool(numbers))

    def contaminated(self, search: Search) -> np.ndarray:
        """Whether one of a row's n-grams was seen: bool [rows]."""
        contaminated = np.zeros(len(self.long), bool)
        seen = search.seen[np.array(self.gram_of, np.int64)]
        contaminated[np.array(self.row_of, np.int64)[seen]] = True
        return contaminated


@dataclass(frozen=True)
class ReportedSplit:
    """A reported split of a task: its rows `start` to `stop` among all, its examples' digest."""

    task: str
    name: str
    start: int
    stop: int
    digest: str


def contamination(
    names: list[str],
    corpus: Path,
    documents: Path,
    examples: Path,
    encoded: Path,
    out: Path,
    n: int = ngrams.N,
) -> None:
    """Write `out`/TASK.json for every task of `names`.

    It has, for each reported split, the number of rows and, by tokens and by words, which of its
    rows (numbered in the examples' order) are contaminated and which are too short to tell. Raises
    InputError where files do not belong together.
    """
    facts = read_json(corpus)
    stream = open_tokens(corpus, "train")
    rows = {symbol: Rows(n) for symbol in SYMBOLS}
    splits: list[ReportedSplit] = []
    for name in names:
        splits += _add_task(name, examples / name, encoded / name, facts, rows)
    searches = {symbol: Search(rows[symbol].grams) for symbol in SYMBOLS}

    start = time.monotonic()
    ngrams.scan_tokens(searches["tokens"], stream, _newline(facts))
    _report_speed("tokens", len(stream) * DTYPE.itemsize, start)
    start = time.monotonic()
    size = 0
    for _, text in read_documents(documents, "train"):  # each by itself
        ngrams.scan_words(searches["words"], ngrams.word_blocks(pa.BufferReader(text)))
        size += text.size
    _report_speed("words", size, start)

    contaminated = {symbol: rows[symbol].contaminated(searches[symbol]) for symbol in SYMBOLS}
    short = {symbol: ~np.array(rows[symbol].long, bool) for symbol in SYMBOLS}
    description = {"n": n, "corpus": facts["splits"]["train"]["sha256"]}
    description["documents"] = sha256_file(documents.with_name(f"{documents.name}.json"))
    for name in names:
        marks: dict[str, dict[str, Any]] = {}
        of_task = [split for split in splits if split.task == name]
        for split in of_task:
            here = slice(split.start, split.stop)
            marks[split.name] = {"rows": split.stop - split.start} | {
                symbol: {
                    "contaminated": np.flatnonzero(contaminated[symbol][here]).tolist(),
                    "too_short": np.flatnonzero(short[symbol][here]).tolist(),
                }
                for symbol in SYMBOLS
            }
        digests = {split.name: split.digest for split in of_task}
        facts_of_task = {"task": name, "splits": marks, "examples": digests, **description}
        write_json(out / f"{name}.json", facts_of_task)
        print(f"{name}: " + "; ".join(_line(*item) for item in marks.items()), flush=True)


def _newline(facts: dict[str, Any]) -> int:
    """Id of the newline word, the last of every vocabulary."""
    return facts["n_vocab"] - 1


def _add_task(
    name: str, examples: Path, encoded: Path, facts: dict[str, Any], rows: dict[str, Rows]
) -> list[ReportedSplit]:
    """Add a task's reported rows."""
    encoding = load_encoded(encoded)
    splits = []
    for split in encoding.named("report"):
        digest = split_digest(examples, split)
        if encoding.facts.splits[split].examples != digest:
            other = f"other examples than {examples}/{split}"
        elif encoding.tokenizer != facts["tokenizer"]:
            other = "another tokenizer than the corpus"
        else:
            other = ""
        if other:
            raise InputError(f"{encoded}: made with {other}; encode the task again")
        start = len(rows["words"].long)
        for at, example in enumerate(task_examples.read(examples, split)):
            ids = _token_texts(encoding.splits[split], at, _newline(facts))
            rows["tokens"].add(map(ngrams.of_tokens, ids))
            rows["words"].add(map(_words, _texts(example)))
        splits.append(ReportedSplit(name, split, start, len(rows["words"].long), digest))
    return splits


def _texts(example: Example) -> list[str]:
    """The texts of one row: its own, or a story with each ending."""
    if example.choices and not example.second:
        return [f"{example.first} {choice}" for choice in example.choices]
    return [example.first, example.second, *example.choices]


def _token_texts(split: EncodedSplit, at: int, newline: int) -> list[np.ndarray]:
    """The same texts as tokens."""
    first, second, choices = split.first[at], split.second[at], split.choices[at]
    if choices and not len(second):
        texts = [np.concatenate((first, choice)) for choice in choices]
    else:
        texts = [first, second, *choices]
    return [ngrams.without(ids, newline) for ids in texts]


@functools.lru_cache(maxsize=256)  # neighbouring examples share premises and documents
def _words(text: str) -> Run:
    return ngrams.of_words(" ".join(normalise.words(text)).encode())


def _report_speed(symbol: str, size: int, start: float) -> None:
    seconds = time.monotonic() - start
    rate = size / 1e6 / max(seconds, 1e-9)
    print(f"{symbol}: {size / 1e6:,.1f} MB of corpus, {rate:,.0f} MB/s", flush=True)


def _line(split: str, marks: dict[str, Any]) -> str:
    counts = (f"{len(marks[symbol]['contaminated']):,} by {symbol}" for symbol in SYMBOLS)
    return f"{split} {marks['rows']:,} rows, contaminated {', '.join(counts)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="+")
    parser.add_argument("--corpus", type=Path, required=True, help="corpus.json")
    parser.add_argument("--documents", type=Path, required=True, help="the normalised documents")
    parser.add_argument(
        "--examples", type=Path, required=True, help="folder of the tasks' examples"
    )
    parser.add_argument("--encoded", type=Path, required=True, help="the same, encoded")
    parser.add_argument("--out", type=Path, required=True, help="folder of TASK.json to write")
    a = parser.parse_args()
    contamination(a.tasks, a.corpus, a.documents, a.examples, a.encoded, a.out)


if __name__ == "__main__":
    sys.exit(run(main))
