"""Find the reported examples that share 13 words in a row with the training corpus.

Such an example counts as contaminated (`N`; Brown et al. 2020, appendix C). The run of words must
lie within one text of the example and within one document. A story joined with one of its endings
is one text; DPRD's sentence is two, since the pronoun between them is not kept. Newlines are
skipped on both sides, so that it does not matter how a corpus breaks its lines.

    python -m gpt1 contamination rte cola --documents corpus/documents --examples examples \\
        --out contamination

A text of fewer than 13 words cannot have such a run.
"""

import argparse
import functools
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from gpt1.records import Marks, SplitMarks
from gpt1.text import normalise
from gpt1.text.ngrams import SYMBOL, N, Search
from tasks.common.arrow import read_documents, split_names
from tasks.common.files import sha256_file
from tasks.common.records import facts_path
from tasks.examples import ExamplesFacts, check_split, read
from tasks.spec import Example


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
    numbers = WordNumbers()
    digests = {name: _reported(examples / name) for name in names}
    rows = {
        (name, split): [
            [numbers.of_text(text) for text in row_texts(row)]
            for row in read(examples / name, split)
        ]
        for name, splits in digests.items()
        for split in splits
    }
    search = Search(N)
    for (name, split), of_split in rows.items():
        for i, texts in enumerate(of_split):
            search.add((name, split, i), texts)
    for _, text in read_documents(documents, "train"):
        search.scan(numbers.of_corpus(text.to_pybytes().decode()))
    digest = sha256_file(facts_path(documents))
    for name, splits in digests.items():
        marks = {}
        for split in splits:
            words = [max(map(len, row)) for row in rows[name, split]]
            marked = [(name, split, i) in search.contaminated for i in range(len(words))]
            marks[split] = SplitMarks(words=words, match=[N if one else 0 for one in marked])
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
