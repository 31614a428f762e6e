"""How many words in a row of each reported example stand in the books: its longest match.

A 13-gram says nothing of a shorter text; the longest match beside the length of the text does. Both
are in words, as `gpt1.contamination` counts them: within one text of an example and one document.

    python -m gpt1.longest_match race sst2 --documents corpus/documents --examples examples --out O
"""

import argparse
import sys
from pathlib import Path

from tasks.common.errors import importing, run

with importing(__name__):
    import numpy as np

    import tasks
    from gpt1.contamination import WordNumbers, row_texts
    from gpt1.text.documents import read_documents
    from gpt1.text.ngrams import Search
    from tasks import examples as task_examples
    from tasks.common.arrow import split_digest
    from tasks.common.files import sha256_file, write_json

SHORTEST = 5  # fewer words in a row stand in any book; a shorter match counts as none


def longest_match(
    rows: list[list[np.ndarray]], documents: list[list[np.ndarray]], shortest: int = SHORTEST
) -> list[int]:
    """Of each row the most symbols in a row that one of its texts shares with a document.

    Texts and the blocks of a document are symbols [m], int32. A match that is shorter than
    `shortest` is 0.
    """
    found = [0] * len(rows)
    left, n = list(range(len(rows))), shortest
    while left:  # who shares n symbols shares n - 1
        search = Search(n)
        for row in left:
            search.add(row, rows[row])
        for blocks in documents:
            search.scan(blocks)
        left = [row for row in left if row in search.contaminated]
        for row in left:
            found[row] = n
        n += 1
    return found


def match_tasks(names: list[str], documents: Path, examples: Path, out: Path) -> None:
    """Write `out`/TASK.json for every task of `names`.

    It has, of the task's main reported split, the number of words of the longest text of each row
    (`words`) and its longest match (`match`).
    """
    numbers = WordNumbers()
    rows = {
        name: [
            [
                numbers.of_row(text)
                for text in row_texts(row.first, row.second, row.choices, " ".join)
            ]
            for row in task_examples.read(examples / name, tasks.task(name).main)
        ]
        for name in names
    }
    every = [row for of_task in rows.values() for row in of_task]
    books = [
        list(numbers.of_corpus(text.to_pybytes().decode()))
        for _, text in read_documents(documents, "train")
    ]
    matches = iter(longest_match(every, books))
    digest = sha256_file(documents.with_name(f"{documents.name}.json"))
    for name, of_task in rows.items():
        split = tasks.task(name).main
        found = {
            "words": [max(len(text) for text in row) for row in of_task],
            "match": [next(matches) for _ in of_task],
        }
        facts = {"task": name, "split": split, "documents": digest}
        facts["examples"] = split_digest(examples / name, split)
        write_json(out / f"{name}.json", {**facts, **found})
        print(f"{name}: {split}, longest match {max(found['match'])} words", flush=True)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="+")
    parser.add_argument("--documents", type=Path, required=True, help="the normalised documents")
    parser.add_argument("--examples", type=Path, required=True, help="the tasks' examples")
    parser.add_argument("--out", type=Path, required=True, help="folder of TASK.json to write")
    a = parser.parse_args()
    match_tasks(a.tasks, a.documents, a.examples, a.out)


if __name__ == "__main__":
    sys.exit(run(main))
