"""Which reported examples have a 13-gram that the language model was trained on.

One pass over the corpus for all tasks, once as BPE tokens (the training split's token file) and
once as words (the normalised training documents). Newlines are skipped on both sides, so that it
does not matter how a corpus breaks its lines. An n-gram lies within one text of an example (a story
and each of its endings are one text; DPRD's sentence is two, since the pronoun between them is
not kept); a text with fewer symbols cannot match, and an example without a longer one is too short
to tell. Word n-grams never span documents; the token file is one stream, so token n-grams may.

    python -m gpt1.contamination rte cola --corpus corpus/corpus.json \\
        --documents corpus/documents --examples examples --encoded encoded --out contamination
"""

import argparse
import functools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tasks.common.errors import InputError, importing, run

with importing(__name__):
    import numpy as np

    from gpt1.text import normalise
    from gpt1.text.documents import read_documents
    from gpt1.text.ngrams import SYMBOL, N, Search
    from gpt1.text.tokens import open_tokens
    from gpt1.training.encoded import EncodedTask, SplitFacts
    from gpt1.training.encoded import load as load_encoded
    from tasks import examples as task_examples
    from tasks.common.arrow import split_digest
    from tasks.common.files import read_json, sha256_file, write_json

SYMBOLS = ("tokens", "words")
BLOCK = 1 << 16  # tokens


class WordNumbers:
    """Numbers the words of the rows from 1; every other word of the corpus is 0."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def of_row(self, text: str) -> np.ndarray:
        """The numbers of a raw text's words without newlines, int32 [m]."""
        words = (word for word in _words(text) if word != normalise.NEWLINE)
        return np.array(
            [self._numbers.setdefault(w, len(self._numbers) + 1) for w in words], SYMBOL
        )

    def of_corpus(self, text: str) -> Iterator[np.ndarray]:
        """The same of a normalised document, in blocks."""
        for block in normalise.cut(text):
            yield np.array([self._numbers.get(word, 0) for word in block.split()], SYMBOL)


# Neighbouring examples share premises and documents.
_words = functools.lru_cache(maxsize=256)(normalise.words)


def contamination(
    names: list[str],
    corpus: Path,
    documents: Path,
    examples: Path,
    encoded: Path,
    out: Path,
    n: int = N,
) -> None:
    """Write `out`/TASK.json for every task of `names`.

    It has, for each reported split, the number of rows and, by tokens and by words, which of its
    rows (numbered in the examples' order) are contaminated and which are too short to tell. Raises
    InputError where files do not belong together.
    """
    facts = read_json(corpus)
    stream, newline = open_tokens(corpus, "train"), facts["n_vocab"] - 1
    numbers, searches = WordNumbers(), {symbol: Search(n) for symbol in SYMBOLS}
    reported: dict[str, dict[str, SplitFacts]] = {}
    for name in names:
        task = load_encoded(encoded / name)
        _check(task, examples / name, encoded / name, facts)
        reported[name] = {split: task.facts.splits[split] for split in task.named("report")}
        for split in reported[name]:
            ids = task.splits[split]
            for i, row in enumerate(task_examples.read(examples / name, split)):
                texts = row_texts(row.first, row.second, row.choices, " ".join)
                searches["words"].add((name, split, i), map(numbers.of_row, texts))
                arrays = row_texts(ids.first[i], ids.second[i], ids.choices[i], np.concatenate)
                searches["tokens"].add((name, split, i), (a[a != newline] for a in arrays))

    blocks = (stream[at : at + BLOCK] for at in range(0, len(stream), BLOCK))
    searches["tokens"].scan(block[block != newline] for block in blocks)
    for _, text in read_documents(documents, "train"):  # each by itself
        searches["words"].scan(numbers.of_corpus(text.to_pybytes().decode()))

    description = {"n": n, "corpus": facts["splits"]["train"]["sha256"]}
    description["documents"] = sha256_file(documents.with_name(f"{documents.name}.json"))
    for name in names:
        splits: dict[str, dict[str, Any]] = {}
        for split, split_facts in reported[name].items():
            splits[split] = {"rows": split_facts.rows}
            for symbol, search in searches.items():
                keys = {i: (name, split, i) for i in range(split_facts.rows)}
                splits[split][symbol] = {
                    "contaminated": [i for i, key in keys.items() if key in search.contaminated],
                    "too_short": [i for i, key in keys.items() if key in search.too_short],
                }
        digests = {split: split_facts.examples for split, split_facts in reported[name].items()}
        facts_of_task = {"task": name, "splits": splits, "examples": digests}
        write_json(out / f"{name}.json", facts_of_task | description)
        print(f"{name}: " + "; ".join(_line(*item) for item in splits.items()), flush=True)


def _check(task: EncodedTask, examples: Path, encoded: Path, corpus: dict[str, Any]) -> None:
    """Raise InputError unless the task was encoded from these examples as the corpus was."""
    if task.tokenizer != corpus["tokenizer"]:
        raise InputError(
            f"{encoded}: made with another tokenizer than the corpus; encode the task again"
        )
    for split in task.named("report"):
        if task.facts.splits[split].examples != split_digest(examples, split):
            raise InputError(
                f"{encoded}: made with other examples than {examples}/{split}; encode the task "
                "again"
            )


def row_texts(first: Any, second: Any, choices: Any, join: Callable[[Any], Any]) -> list[Any]:
    """The texts of a row: its own, or a story joined with each ending."""
    if len(choices) and not len(second):
        return [join((first, choice)) for choice in choices]
    return [first, second, *choices]


def _line(split: str, marks: dict[str, Any]) -> str:
    counts = (
        f"{len(marks[symbol]['contaminated']):,} by {symbol}" for symbol in ("tokens", "words")
    )
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
