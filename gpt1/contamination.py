"""How many words in a row each reported example shares with what the language model was trained on.

An example that shares 13 of them counts as contaminated (`N`; Brown et al. 2020, appendix C). A run
of words lies within one text of an example and within one document; a story and each of its endings
are one text, DPRD's sentence is two, since the pronoun between them is not kept. Newlines are
skipped on both sides, so that it does not matter how a corpus breaks its lines.

    python -m gpt1.contamination rte cola --documents corpus/documents --examples examples \\
        --out contamination

One pass over the corpus looks for runs of 13 words. A shorter text cannot have one: for small
books, `--every-length` gives the length of the longest run, by a pass for each length from 5 on.
"""

import argparse
import functools
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from tasks.common.errors import importing, run

with importing(__name__):
    import numpy as np

    from gpt1.text import normalise
    from gpt1.text.documents import read_documents
    from gpt1.text.ngrams import SYMBOL, N, Search
    from tasks import examples as task_examples
    from tasks.common.arrow import split_names
    from tasks.common.files import sha256_file, write_json
    from tasks.examples import Example

SHORTEST = 5  # fewer words in a row stand in any book
Documents = Callable[[], Iterable[Iterable[np.ndarray]]]


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


def longest_match(
    rows: list[list[np.ndarray]], documents: Documents, lengths: Iterable[int]
) -> list[int]:
    """Of each row the greatest of the rising `lengths` that a text shares with a document, or 0.

    A row is texts of symbols [m], int32; `documents` gives the blocks of each document anew.
    """
    found = [0] * len(rows)
    left = list(range(len(rows)))
    for n in lengths:  # who shares n symbols shares n - 1
        search = Search(n)
        for row in left:
            search.add(row, rows[row])
        for blocks in documents():
            search.scan(blocks)
        left = [row for row in left if row in search.contaminated]
        for row in left:
            found[row] = n
        if not left:
            break
    return found


def contamination(
    names: list[str], documents: Path, examples: Path, out: Path, every_length: bool = False
) -> None:
    """Write `out`/TASK.json for every task of `names`.

    It has, for each reported split, the number of words of the longest text of each row (`words`)
    and the length of its longest run (`match`): 13 or 0, or any from 5 on if `every_length`. Raises
    InputError for a document or a row that changed.
    """
    numbers = WordNumbers()
    digests = {name: _reported(examples / name) for name in names}
    rows = {
        (name, split): [
            [numbers.of_text(text) for text in row_texts(row)]
            for row in task_examples.read(examples / name, split)
        ]
        for name, splits in digests.items()
        for split in splits
    }

    def books() -> Iterator[Iterator[np.ndarray]]:
        for _, text in read_documents(documents, "train"):
            yield numbers.of_corpus(text.to_pybytes().decode())

    lengths = itertools.count(SHORTEST) if every_length else [N]
    every = [row for of_split in rows.values() for row in of_split]
    matches = iter(longest_match(every, books, lengths))
    digest = sha256_file(documents.with_name(f"{documents.name}.json"))
    for name, splits in digests.items():
        found = {}
        for split in splits:
            words = [max(map(len, row)) for row in rows[name, split]]
            found[split] = {"words": words, "match": [next(matches) for _ in words]}
        facts = {"task": name, "documents": digest, "examples": splits, "splits": found}
        write_json(out / f"{name}.json", facts)
        counts = (
            f"{split} {len(of['match']):,} rows, contaminated {sum(n >= N for n in of['match']):,}"
            for split, of in found.items()
        )
        print(f"{name}: " + "; ".join(counts), flush=True)


def _reported(folder: Path) -> dict[str, str]:
    """The splits of a task's examples that are reported, and their digests."""
    facts = task_examples.read_facts(folder)
    others = ("train", "select", *facts["unlabelled"])
    splits = [split for split in split_names(folder) if split not in others]
    return {split: task_examples.check_split(folder, split, facts) for split in splits}


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="+")
    parser.add_argument("--documents", type=Path, required=True, help="the normalised documents")
    parser.add_argument("--examples", type=Path, required=True, help="the tasks' examples")
    parser.add_argument("--out", type=Path, required=True, help="folder of TASK.json to write")
    parser.add_argument("--every-length", action="store_true", help="runs from 5 words on")
    a = parser.parse_args()
    contamination(a.tasks, a.documents, a.examples, a.out, a.every_length)


if __name__ == "__main__":
    sys.exit(run(main))
