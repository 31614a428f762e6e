"""Find the reported examples that share 13 words in a row with the training corpus.

Such an example counts as contaminated (`N`; Brown et al. 2020, appendix C). The run of words must
lie within one text of the example and within one document. A story joined with one of its endings
is one text; DPRD's sentence is two, since the pronoun between them is not kept. Newlines are
skipped on both sides, so that it does not matter how a corpus breaks its lines.

    python -m gpt1 contamination rte cola --documents corpus/documents --examples examples \\
        --out contamination

A text of fewer than 13 words cannot have such a run.

The search is exact, in one pass over the corpus. The rows' runs are kept in memory, and the corpus
is read in blocks. A hash table picks candidate places, which are then compared word by word, so a
hash collision costs time but never makes a match.
"""

import argparse
import functools
from collections.abc import Hashable, Iterable, Iterator
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from gpt1.records import Marks, N, SplitMarks
from gpt1.text import normalise
from tasks.common.arrow import read_documents, split_names
from tasks.common.files import sha256_file
from tasks.common.records import facts_path
from tasks.examples import ExamplesFacts, check_split, read
from tasks.spec import Example

SYMBOL = np.int32  # a word's number
HASH_BASE = np.uint64(0xD1342543DE82EF95)  # odd; otherwise arbitrary
HASH_BITS = 26  # a table of 64 MB


class Search:
    """Rows with their n-grams, and the rows that scans have found.

    `contaminated`: the rows that share an n-gram with what has been scanned so far.
    """

    def __init__(self, n: int = N) -> None:
        self.n = n
        self.contaminated: set[Hashable] = set()
        self._rows: dict[bytes, list[Hashable]] = {}  # by n-gram, for n-grams not found yet

    def add(self, row: Hashable, texts: Iterable[np.ndarray]) -> None:
        """Add a row with its texts (symbols [m]). Add all rows before the first scan."""
        arrays = [np.asarray(text, SYMBOL) for text in texts]
        ngrams = {a[i : i + self.n].tobytes() for a in arrays for i in range(len(a) - self.n + 1)}
        for ngram in ngrams:
            self._rows.setdefault(ngram, []).append(row)

    def scan(self, blocks: Iterable[np.ndarray]) -> None:
        """Search a stream, given as consecutive blocks of symbols [m]."""
        before = np.empty(0, SYMBOL)
        for block in blocks:
            symbols = np.concatenate((before, block.astype(SYMBOL, copy=False)))
            before = symbols[max(len(symbols) - self.n + 1, 0) :]
            if len(symbols) >= self.n:
                hashes = self._hashes(sliding_window_view(symbols, self.n))
                for i in np.flatnonzero(self._table[hashes]).tolist():
                    ngram = symbols[i : i + self.n].tobytes()
                    self.contaminated.update(self._rows.pop(ngram, ()))

    @cached_property
    def _table(self) -> np.ndarray:
        """For each hash, whether an n-gram of the rows has it: bool [2**HASH_BITS]."""
        table = np.zeros(1 << HASH_BITS, bool)
        symbols = np.frombuffer(b"".join(self._rows), SYMBOL)
        table[self._hashes(symbols.reshape(-1, self.n))] = True
        return table

    def _hashes(self, ngrams: np.ndarray) -> np.ndarray:
        """The upper bits of the sum of ngrams[:, j] * HASH_BASE**j modulo 2**64, int64 [m]."""
        sums = ngrams.astype(np.uint64) @ HASH_BASE ** np.arange(self.n, dtype=np.uint64)
        return (sums >> np.uint64(64 - HASH_BITS)).astype(np.int64)


class WordNumbers:
    """Numbers the words of the rows from 1; every other word of the corpus is 0."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def of_text(self, text: str) -> np.ndarray:
        """The numbers of a raw text's words without newlines, int32 [m]."""
        words = (word for word in _words(text) if word != normalise.NEWLINE)
        return np.array(
            [self._numbers.setdefault(w, len(self._numbers) + 1) for w in words], SYMBOL
        )

    def of_corpus(self, text: str) -> Iterator[np.ndarray]:
        """The same for a normalised document, in blocks."""
        for block in normalise.cut(text):
            yield np.array([self._numbers.get(word, 0) for word in block.split()], SYMBOL)


# Neighbouring examples share premises and documents.
_words = functools.lru_cache(maxsize=256)(normalise.words)


def row_texts(row: Example) -> list[str]:
    """The texts of a row: its own, or a story joined with each ending."""
    if row.choices and not row.second:
        return [f"{row.first} {ending}" for ending in row.choices]
    return [row.first, row.second, *row.choices]


def contamination(names: list[str], documents: Path, examples: Path, out: Path) -> None:
    """Write `out`/TASK.json for every task of `names`.

    The file has, for each reported split, the number of words of each row's longest text (`words`)
    and the length of the run that the row shares (`match`): 13 or 0. Raises InputError for a
    document or a row that has changed.
    """
    numbers, search = WordNumbers(), Search()
    digests = {name: _reported(examples / name) for name in names}
    words: dict[tuple[str, str], list[int]] = {}  # by row, those of its longest text
    for name, splits in digests.items():
        for split in splits:
            rows = map(row_texts, read(examples / name, split))
            texts = [[*map(numbers.of_text, row)] for row in rows]
            words[name, split] = [max(map(len, row)) for row in texts]
            for i, row in enumerate(texts):
                search.add((name, split, i), row)
    for _, text in read_documents(documents, "train"):
        search.scan(numbers.of_corpus(text.to_pybytes().decode()))
    digest = sha256_file(facts_path(documents))
    for name, splits in digests.items():
        marks = {}
        for split in splits:
            own = words[name, split]
            marked = [(name, split, i) in search.contaminated for i in range(len(own))]
            marks[split] = SplitMarks(words=own, match=[N if one else 0 for one in marked])
        record = Marks(task=name, documents=digest, examples=splits, splits=marks)
        record.write(out / f"{name}.json")
        counts = (
            f"{split} {len(of.match):,} rows, contaminated {sum(n >= N for n in of.match):,}"
            for split, of in marks.items()
        )
        print(f"{name}: " + "; ".join(counts), flush=True)


def _reported(folder: Path) -> dict[str, str]:
    """The reported splits of a task's examples, with their digests."""
    facts = ExamplesFacts.read(facts_path(folder))
    others = ("train", "select", *facts.unlabelled)
    splits = [split for split in split_names(folder) if split not in others]
    return {split: check_split(folder, split, facts) for split in splits}


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="+")
    parser.add_argument("--documents", type=Path, required=True, help="the normalised documents")
    parser.add_argument("--examples", type=Path, required=True, help="the tasks' examples")
    parser.add_argument("--out", type=Path, required=True, help="folder of TASK.json to write")
    a = parser.parse_args()
    contamination(a.tasks, a.documents, a.examples, a.out)
