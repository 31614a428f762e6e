"""The test rows of GLUE, whose labels are not public: to the same examples, all labelled -1.

    python -m tasks.hidden cola --folder CoLA --out cola.jsonl

Every row is kept, in the file's order, for the server wants an answer to each; a guid ends in the
row's official index. MNLI's file also has the diagnostic set (`ax`), where that is there.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tasks import task as by_name
from tasks.catalogue import entry
from tasks.common.errors import InputError, run
from tasks.examples import write_examples
from tasks.snapshot import Snapshot, records, texts_of
from tasks.tables import first_line, lines
from tasks.types import Example, Task

NAMES = ("cola", "mnli", "mrpc", "qnli", "qqp", "rte", "sst2", "stsb")
TEST = {"test": ("test.tsv",)}
FILES = {
    "mnli": {
        "test_matched": ("test_matched.tsv",),
        "test_mismatched": ("test_mismatched.tsv",),
        # GLUE has it in a folder of its own, or it was put beside the others.
        "ax": ("diagnostic.tsv", "../diagnostic/diagnostic.tsv"),
    }
}
MAY_LACK = ("ax",)
LABEL = -1
INDEX = ("index", "id")  # QQP's column is `id`


def official(name: str, split: str) -> int:
    """How many rows the server expects."""
    return entry(name).rows[split]


def files(name: str, folder: str | Path) -> dict[str, Path]:
    """The unlabelled files that a task's folder has, by split."""
    found = {}
    for split, places in FILES.get(name, TEST).items():
        path = next((Path(folder) / p for p in places if (Path(folder) / p).is_file()), None)
        if path is not None:
            found[split] = path
    return found


def are_there(name: str, folder: str | Path) -> bool:
    """Whether a folder in the original layout has all unlabelled files that the task needs."""
    wanted = set(FILES.get(name, TEST)) - set(MAY_LACK)
    return name in NAMES and wanted <= set(files(name, folder))


def needed(name: str) -> list[str]:
    """The names of those files."""
    return [places[0] for s, places in FILES.get(name, TEST).items() if s not in MAY_LACK]


def read(task: Task, folder: str | Path) -> list[Example]:
    """All unlabelled rows of a folder in the original layout.

    Raises InputError, naming file and line, for a missing file or column, and for rows that are not
    numbered from 0 on.
    """
    if not are_there(task.name, folder):
        raise InputError(f"{folder}: {' and '.join(needed(task.name))} needed; {task.source}")
    found = []
    for split, path in files(task.name, folder).items():
        rows = list(_rows(task, path))
        found += [_example(task, split, at, texts) for at, texts in enumerate(rows)]
        if not rows:
            raise InputError(f"{path}: no rows; {task.source}")
    return found


def check_counts(task: Task, folder: str | Path, examples: list[Example]) -> None:
    """As many rows as the server expects, else InputError: a cut-off file, or another one."""
    counts = Counter(example.split for example in examples)
    for split, count in counts.items():
        if count != official(task.name, split):
            raise InputError(
                f"{folder}: {count:,} unlabelled rows in {split!r}, the server expects "
                f"{official(task.name, split):,}; get the file again"
            )


def _rows(task: Task, path: Path) -> Iterator[list[str]]:
    """The texts of each row. Of a broken row of QQP, which has some in other files, nothing."""
    header = first_line(path)
    index = next((name for name in INDEX if name in header), INDEX[0])
    columns = [name for name in (task.parse.first, task.parse.second) if name]
    for column in (index, *columns):
        if column not in header:
            raise InputError(
                f"{path}:1: no column {column!r}, found {' '.join(header):.100}; is this the "
                "unlabelled file of this task?"
            )
    places, broken = [header.index(column) for column in columns], 0
    numbered = lines(path)
    next(numbered)
    for count, (number, text) in enumerate(numbered):
        cells = text.split("\t")
        whole = len(cells) == len(header)
        found = cells[header.index(index)] if whole else ""
        if whole and found != str(count):
            raise InputError(
                f"{path}:{number}: {index} is {found!r}, expected {count}; rows are missing or "
                "moved: get the file again"
            )
        broken += not whole
        if broken > max(3, task.tolerated * (count + 1)) or (broken and not task.tolerated):
            raise InputError(
                f"{path}:{number}: {len(cells)} columns, {len(header)} needed; get the file again"
            )
        yield [cells[at] for at in places] if whole else [""] * len(places)


def read_snapshot(task: Task, snapshot: Snapshot) -> list[Example]:
    """All unlabelled rows of a snapshot of the hub: the same as of the original files."""
    found = []
    for split in FILES.get(task.name, TEST):
        at = 0
        for path in snapshot.checked(split):
            for line, record in records(path, entry(task.name)):
                # MRPC's `idx` counts on over train, dev and test.
                if task.name != "mrpc" and record["idx"] != at:
                    raise InputError(f"{path}: row {line}: idx is {record['idx']}, expected {at}")
                if task.name != "mrpc" and record["label"] != LABEL:  # MRPC's are public
                    raise InputError(
                        f"{path}: row {line}: label is {record['label']}, expected {LABEL}: these "
                        "are not the unlabelled rows; fetch them again"
                    )
                texts = [record[name] or "" for name in texts_of(entry(task.name))]
                found.append(_example(task, split, at, texts))
                at += 1
        if not at:
            raise InputError(f"{snapshot.folder}: no rows in {split!r}; fetch it again")
    return found


def _example(task: Task, split: str, at: int, texts: list[str]) -> Example:
    first, second = (*(text.strip() for text in texts), "")[:2]
    return Example(split, f"{task.name}/{split}/{at}", first, second, (), LABEL)


def index_of(example: Example) -> int:
    """The official index of a row that `read` gave."""
    return int(example.guid.rpartition("/")[2])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", choices=NAMES)
    parser.add_argument("--folder", required=True, help="the published files, or a hub snapshot")
    parser.add_argument("--source", choices=("folder", "hub"), default="folder")
    parser.add_argument("--revision", help="of the snapshot; else the catalogue's")
    parser.add_argument("--published", action="store_true", help="refuse any but the official rows")
    parser.add_argument("--out", required=True, help="examples, one JSON line each")
    a = parser.parse_args()
    task = by_name(a.task)
    if a.source == "hub":
        examples = read_snapshot(task, Snapshot(task, a.folder, a.revision))
    else:
        examples = read(task, a.folder)
    if a.published:
        check_counts(task, a.folder, examples)
    write_examples(a.out, examples)
    counts = Counter(example.split for example in examples)
    told = [
        f"{split} {count:,}"
        + (f" of {official(task.name, split):,}" if count != official(task.name, split) else "")
        for split, count in counts.items()
    ]
    print(f"{task.title}, without labels: {', '.join(told)} rows", flush=True)


if __name__ == "__main__":
    sys.exit(run(main))
