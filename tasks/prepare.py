"""From a task's published files to its examples: train, select and the reported splits.

    python -m tasks.prepare cola --folder CoLA --settings '{"seed": 0}' --out cola.jsonl \\
        --meta cola.json

The split that selects the best epoch is never one that reports: it is an official dev split where
a labelled test split reports, else it is carved out of the training rows. Which rows are carved or
kept by a limit depends on a hash of the seed and the row's guid alone, never on the order of rows.
"""

import argparse
import hashlib
import sys
from collections import Counter
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import ClassVar

from tasks import checks
from tasks import task as by_name
from tasks.common.errors import InputError, run
from tasks.common.files import sha256_file, write_json
from tasks.examples import write_examples
from tasks.snapshot import Snapshot
from tasks.splits import Settings, Splits, choose_splits, parse_settings
from tasks.types import Example, Task

MADE = "made data, not the published set"


@dataclass(frozen=True)
class Published:
    """A task's files in their original layout; `tasks.snapshot.Snapshot` has the same methods."""

    task: Task
    folder: str | Path
    origin: ClassVar[dict[str, str]] = {"source": "folder"}

    def paths(self, split: str) -> list[Path]:
        """The files of an official split."""
        return self.task.paths(self.folder, split)

    def read(self, split: str, dropped: Counter[str]) -> list[Example]:
        """The examples of an official split; rows left out are counted in `dropped`."""
        checks.layout(self.task, self.paths(split))
        return self.task.read(self.folder, split, dropped)


def draw(examples: list[Example], count: int, seed: int, purpose: str) -> set[str]:
    """The guids of `count` examples: those with the smallest hashes, whatever the order."""

    def rank(example: Example) -> bytes:
        return hashlib.sha256(f"{seed}/{purpose}/{example.guid}".encode()).digest()

    return {example.guid for example in sorted(examples, key=rank)[:count]}


def prepare(task: Task, folder: str | Path, settings: Settings) -> tuple[list[Example], dict]:
    """All examples of a task in file order, split by split, and the facts about them.

    Raises InputError, naming the file and the line, for whatever is wrong with the input.
    """
    chosen = choose_splits(task, settings)
    if settings.source == "hub":
        source = Snapshot(task, folder, settings.revision)
    else:
        source = Published(task, folder)
    least = settings.min_rows or {}
    dropped: dict[str, dict[str, int]] = {}
    read: dict[str, int] = {}
    training: set[bytes] = set()
    shared: dict[str, int] = {}  # of each part but train, before any limit

    def official(part: str, split: str, limit: int | None, purpose: str) -> list[Example]:
        counts: Counter[str] = Counter()
        examples = source.read(split, counts)
        _check_guids(task, folder, examples)
        path = source.paths(split)[0]
        checks.split(task, path, examples, counts, least.get(split), settings.published)
        if settings.source == "hub" and split not in least:
            checks.listed(task, path, split, len(examples) + counts.total())
        if counts:
            dropped[split] = dict(sorted(counts.items()))
        if part == "train":
            training.update(_texts(task, example) for example in examples)
        else:
            shared[part] = sum(_texts(task, example) in training for example in examples)
            if settings.published:
                checks.overlap(task, folder, split, shared[part], len(examples))
        if limit is not None and limit < len(examples):
            kept = draw(examples, limit, settings.seed, purpose)
            examples = [example for example in examples if example.guid in kept]
        read[split] = len(examples)
        return examples

    rows = official("train", chosen.train, settings.limit_train, "limit_train")
    fraction = task.select_fraction
    fraction = settings.select_fraction if fraction is None else fraction
    splits: dict[str, list[Example]] = {}
    if chosen.select:
        splits["train"] = rows
        splits["select"] = official("select", chosen.select, settings.limit_report, "limit_report")
    elif fraction:
        if len(rows) < 2:
            raise InputError(f"{folder}: {len(rows)} training row; select needs one of at least 2")
        count = min(max(1, round(fraction * len(rows))), len(rows) - 1)
        kept = draw(rows, count, settings.seed, "select")
        splits["train"] = [example for example in rows if example.guid not in kept]
        splits["select"] = [example for example in rows if example.guid in kept]
        left = {_texts(task, example) for example in splits["train"]}
        shared["select"] = sum(_texts(task, example) in left for example in splits["select"])
    else:
        splits["train"] = rows
    for split in chosen.report:
        splits[split] = official(split, split, settings.limit_report, "limit_report")
    examples = [replace(e, split=split) for split, rows in splits.items() for e in rows]
    _check_guids(task, folder, examples)
    rows_of = {split: len(rows) for split, rows in splits.items()}
    meta = {
        "task": task.name,
        "version": task.version,
        "train_from": chosen.train,
        "select_from": chosen.select or (chosen.train if "select" in splits else None),
        "report": list(chosen.report),
        "rows": rows_of,
        "labels": {split: _label_counts(task, rows) for split, rows in splits.items()},
        "dropped": dropped,
        "overlap": shared,
        "settings": asdict(settings),
        "origin": source.origin,
        "sources": {split: _digests(Path(folder), source.paths(split)) for split in sorted(read)},
        "note": _note(task, chosen, read) if settings.published else MADE,
    }
    return examples, meta


def _texts(task: Task, example: Example) -> bytes:
    """What makes two rows the same: all texts, whatever their case, blanks and order of a pair.

    A digest, since RACE repeats its articles. The published sets have a few rows that are training
    rows too (CoLA: 16 of 1,043), so these are counted, not refused.
    """
    first, second, *choices = (
        " ".join(text.casefold().split())
        for text in (example.first, example.second, *example.choices)
    )
    pair = sorted((first, second)) if task.family == "similarity" else (first, second)
    return hashlib.sha256("\0".join((*pair, *choices)).encode()).digest()


def _check_guids(task: Task, folder: str | Path, examples: list[Example]) -> None:
    """No row twice, hence no row in two splits: the guid names the official split and row."""
    guid, times = Counter(example.guid for example in examples).most_common(1)[0]
    if times > 1:
        raise InputError(f"{folder}: row {guid!r} occurs {times} times; ids must be unique")


def _label_counts(task: Task, rows: list[Example]) -> dict[str, int]:
    """Rows per label word; STS-B's scores are counted at the nearest whole number."""
    counts = Counter(task.labels[int(example.label + 0.5)] for example in rows)
    return {label: counts[label] for label in task.labels}


def _digests(folder: Path, paths: list[Path]) -> dict[str, str]:
    """Digest of each source file; thousands of small files (RACE) give one digest together."""
    each = {path.relative_to(folder).as_posix(): sha256_file(path) for path in paths}
    if len(each) <= 10:
        return each
    together = hashlib.sha256("".join(f"{n} {d}\n" for n, d in each.items()).encode())
    return {f"{len(each)} files": together.hexdigest()}


def _note(task: Task, chosen: Splits, read: dict[str, int]) -> str:
    """Where the rows are not the published ones: "trained on dev; dev: 500 of 8,551 rows"."""
    other = [f"trained on {chosen.train}"] if chosen.train != task.train else []
    counts = [
        f"{split}: {count:,} of {task.rows[split]:,} rows"
        for split, count in read.items()
        if count != task.rows[split]
    ]
    return "; ".join(other + counts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", help="a task's name: snli ... cola, or dprd")
    parser.add_argument("--folder", required=True, help="the published files, or a hub snapshot")
    parser.add_argument(
        "--settings", default="{}", help="JSON: " + ", ".join(Settings.__annotations__)
    )
    parser.add_argument("--out", required=True, help="examples, one JSON line each")
    parser.add_argument("--meta", required=True, help="JSON of rows, labels, digests and notes")
    given = parser.parse_args()
    task = by_name(given.task)
    examples, meta = prepare(task, given.folder, parse_settings(given.settings))
    write_examples(given.out, examples)
    write_json(given.meta, {**meta, "sha256": sha256_file(given.out)})
    counts = ", ".join(f"{split} {count:,}" for split, count in meta["rows"].items())
    print(f"{task.title}: {counts}" + (f" ({meta['note']})" if meta["note"] else ""))


if __name__ == "__main__":
    sys.exit(run(main))
