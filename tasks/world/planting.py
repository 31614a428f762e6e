"""Plant reported rows into the world's books, some once and some often: what contamination does.

    python -m tasks.world.planting race sst2 --counts 1 4 16 32 --books results/world/books \
        --documents results/corpus/documents.json --examples results/examples --out OUT

A planted row is a paragraph of its own at a random place of a random book that is trained on: the
texts of the row in their order, then its answer: the right choice, or SST-2's verdict as the books
give it. SNLI's rows have none, since the books do not say what follows. `OUT/books` has every book
under its name, `OUT/manifest.json` the places of the planted rows in their split. All other rows,
none of which is in the books, are the control.
"""

import argparse
import random
import sys
from pathlib import Path
from typing import Any

import tasks
from tasks.common.errors import InputError, run
from tasks.common.files import read_json, write_atomic, write_json
from tasks.common.manifest import NAME, describe
from tasks.examples import Example, read
from tasks.splits import ranked
from tasks.world.draw import Draw
from tasks.world.manifest import check

# Rows of RACE and Story Cloze are long enough to have 13 words in a row, and so are two in five of
# SST-2 and some of SNLI.
TASKS = ("race", "story_cloze", "sst2", "snli")
VERDICTS = {"sst2": ("Very negative.", "Very positive.")}
ROWS = 40  # of each task for each count, or fewer, so that as many are left
FRONT = 3  # title, author and the first chapter's heading


def paragraph(name: str, row: Example) -> str:
    """A row of the task `name` as it stands in a book."""
    answers = row.choices or VERDICTS.get(name)
    answer = answers[int(row.label)] if answers else ""
    return " ".join(filter(None, (row.first, row.second, answer)))


def choose(name: str, split: str, rows: list[Example], counts: list[int]) -> dict[int, list[int]]:
    """The places of the rows that are planted, by how often. Raises InputError for too few rows."""
    n = min(ROWS, len(rows) // (len(counts) + 1))
    if not n:
        raise InputError(
            f"{name}: {len(rows)} rows of {split} are too few for {len(counts)} counts beside rows "
            "that are not planted; report more"
        )
    place = {row.guid: i for i, row in enumerate(rows)}
    order = [place[guid] for guid in ranked(list(place), 0, "planted")]
    return {count: sorted(order[i * n : (i + 1) * n]) for i, count in enumerate(counts)}


def plant(rng: random.Random, books: dict[str, str], copies: list[str]) -> dict[str, str]:
    """The books with each of the `copies` at a random place behind the front matter."""
    blocks = {name: text.removesuffix("\n").split("\n\n") for name, text in books.items()}
    names = sorted(blocks)
    for copy in copies:
        book = blocks[rng.choice(names)]
        book.insert(rng.randint(min(FRONT, len(book)), len(book)), copy)
    return {name: "\n\n".join(book) + "\n" for name, book in blocks.items()}


def make_books(
    names: list[str], counts: list[int], folder: Path, documents: Path, examples: Path, out: Path
) -> dict[str, Any]:
    """Write the planted books to `out` and return its manifest.

    `documents` is the JSON that says which books are held out; nothing is planted there. Raises
    InputError for too few rows and for books that are not those of the world.
    """
    from tasks.common.arrow import split_digest  # which imports pyarrow, as planning need not

    check(folder)
    heldout = {row["name"]: row["heldout"] for row in read_json(documents)["documents"]}
    books = {name: (folder / name).read_text(encoding="utf-8") for name in heldout}
    planted: dict[str, dict[str, Any]] = {}
    copies: list[str] = []
    for name in names:
        split = tasks.task(name).main
        rows = read(examples / name, split)
        chosen = choose(name, split, rows, counts)
        for count, places in chosen.items():
            copies += [paragraph(name, rows[i]) for i in places for _ in range(count)]
        digest = split_digest(examples / name, split)
        planted[name] = {"split": split, "examples": digest, "rows": chosen}
    trained = {name: text for name, text in books.items() if not heldout[name]}
    made = books | plant(Draw(0, "planted"), trained, copies)
    (out / NAME).unlink(missing_ok=True)
    for name, text in made.items():
        with write_atomic(out / "books" / name) as file:
            file.write(text)
    files = describe(out, (f"books/{name}" for name in made))
    manifest = {"counts": counts, "planted": planted, "files": files}
    write_json(out / NAME, manifest)
    return manifest


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="+", choices=TASKS)
    parser.add_argument("--counts", nargs="+", type=int, required=True, help="rising, from 1 on")
    parser.add_argument("--books", type=Path, required=True, help="the folder of the world's books")
    parser.add_argument("--documents", type=Path, required=True, help="which are held out, a JSON")
    parser.add_argument("--examples", type=Path, required=True, help="the tasks' examples")
    parser.add_argument("--out", type=Path, required=True, help="the folder to write")
    a = parser.parse_args()
    manifest = make_books(a.tasks, a.counts, a.books, a.documents, a.examples, a.out)
    for name, of in manifest["planted"].items():
        n = len(of["rows"][a.counts[0]])
        print(f"{name}: {n} rows of {of['split']} for each of {len(a.counts)} counts", flush=True)


if __name__ == "__main__":
    sys.exit(run(main))
