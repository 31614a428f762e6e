"""From a task's published files to its examples: train, select and the reported splits.

    python -m tasks.prepare cola --folder CoLA --settings '{"seed": 0}' --out examples/cola \\
        --facts examples/cola.json

The split that selects the best epoch is never one that reports: it is an official dev split where
a labelled test split reports, else it is carved out of the training rows. Which rows are carved or
kept by a limit depends on a hash of the seed and the row's guid alone, never on the order of rows.
"""

import argparse
import hashlib
import os
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tasks import checks, unlabelled
from tasks import task as task_named
from tasks.common.arrow import split_digest
from tasks.common.errors import InputError, run
from tasks.common.files import sha256_file, write_json
from tasks.common.hf_datasets import save
from tasks.hub import Snapshot
from tasks.settings import PrepareSettings
from tasks.task import Source, Task

if TYPE_CHECKING:
    from datasets import Dataset

MADE = "made data, not the published set"


@dataclass(frozen=True)
class Roles:
    """Which official split trains, selects (None: carved from the training rows) and reports."""

    train: str
    select: str | None
    report: tuple[str, ...]


def choose_splits(task: Task, settings: PrepareSettings) -> Roles:
    """The official splits and their roles. Raises InputError if one would have two roles."""
    train = settings.train_from or task.train
    report = task.report if settings.report_on is None else tuple(settings.report_on)
    labelled = ", ".join(task.rows)
    subset = tuple(settings.min_rows or ())
    for key, names in (("train_from", (train,)), ("report_on", report), ("min_rows", subset)):
        for name in names:
            if name not in task.rows:
                raise InputError(
                    f"{task.name}: {key}: no labelled split {name!r}; it has {labelled}"
                )
    for name in report:
        if name in (train, "train"):
            raise InputError(
                f"{task.name}: split {name!r} holds training rows and cannot be reported; "
                f"name others of {labelled} under report_on"
            )
    official = train == task.train and task.select not in report
    return Roles(train, task.select if official else None, report)


def draw(guids: list[str], count: int, seed: int, purpose: str) -> set[str]:
    """The `count` guids with the smallest hashes, whatever their order."""

    def rank(guid: str) -> bytes:
        return hashlib.sha256(f"{seed}/{purpose}/{guid}".encode()).digest()

    return set(sorted(guids, key=rank)[:count])


@dataclass
class Preparation:
    """Reads and checks a task's official splits one by one, training rows first, and keeps count.

    `dropped`: rows left out of an official split, by reason. `rows`: rows of an official split, a
    limit applied. `overlap`: rows of a split that are training rows too, before any limit.
    """

    task: Task
    source: Source
    settings: PrepareSettings
    dropped: dict[str, dict[str, int]] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    overlap: dict[str, int] = field(default_factory=dict)
    training: set[bytes] = field(default_factory=set)

    @property
    def folder(self) -> Path:
        """The folder of the task's files or of its snapshot."""
        return Path(self.source.folder if isinstance(self.source, Snapshot) else self.source)

    def official(self, role: str, split: str) -> "Dataset":
        """An official split for one of our splits (train, select, or its own), limited."""
        task, settings = self.task, self.settings
        counts: Counter[str] = Counter()
        if not isinstance(self.source, Snapshot):
            checks.layout(task, task.files(self.source, split))
        examples = task.load(self.source, split, counts)
        path = task.files(self.source, split)[0]
        least = (settings.min_rows or {}).get(split)
        check_guids(self.folder, examples)
        checks.split(task, path, split, examples, counts, least, settings.published)
        if isinstance(self.source, Snapshot) and least is None:
            checks.hub_count(task, path, split, len(examples) + counts.total())
        if counts:
            self.dropped[split] = dict(sorted(counts.items()))
        if role == "train":
            self.training.update(text_digests(task, examples))
        else:
            shared = sum(digest in self.training for digest in text_digests(task, examples))
            self.overlap[role] = shared
            if settings.published:
                checks.overlap(task, self.folder, split, shared, len(examples))
        training = role == "train"
        limit = settings.limit_train if training else settings.limit_report
        if limit is not None and limit < len(examples):
            guids = examples["guid"][:]
            purpose = "limit_train" if training else "limit_report"
            kept = draw(guids, limit, settings.seed, purpose)
            examples = examples.select([i for i, guid in enumerate(guids) if guid in kept])
        self.rows[split] = len(examples)
        return examples

    def carve(self, rows: "Dataset", fraction: float) -> dict[str, "Dataset"]:
        """The training rows without those that select, and these."""
        if len(rows) < 2:
            raise InputError(
                f"{self.folder}: {len(rows)} training row; select needs one of at least 2"
            )
        guids = rows["guid"][:]
        count = min(max(1, round(fraction * len(rows))), len(rows) - 1)
        kept = draw(guids, count, self.settings.seed, "select")
        splits = {
            name: rows.select([i for i, guid in enumerate(guids) if (guid in kept) is selects])
            for name, selects in (("train", False), ("select", True))
        }
        left = set(text_digests(self.task, splits["train"]))
        digests = text_digests(self.task, splits["select"])
        self.overlap["select"] = sum(digest in left for digest in digests)
        return splits


def prepare(
    task: Task, folder: str | Path, settings: PrepareSettings
) -> tuple[dict[str, "Dataset"], dict[str, Any]]:
    """All examples of a task in file order, split by split, and the facts about them.

    Raises InputError, naming the file and the line, for whatever is wrong with the input.
    """
    roles = choose_splits(task, settings)
    hub = settings.source == "hub"
    source = Snapshot(task.hub, folder, settings.revision) if hub else folder
    reading = Preparation(task, source, settings)
    splits = {"train": reading.official("train", roles.train)}
    fraction = task.select_fraction
    fraction = settings.select_fraction if fraction is None else fraction
    if roles.select:
        splits["select"] = reading.official("select", roles.select)
    elif fraction:
        splits = reading.carve(splits["train"], fraction)
    for split in roles.report:
        splits[split] = reading.official(split, split)
    facts = {
        "task": task.name,
        "version": task.version,
        "train_from": roles.train,
        "select_from": roles.select or (roles.train if "select" in splits else None),
        "report": list(roles.report),
        "rows": {split: len(rows) for split, rows in splits.items()},
        "labels": {split: _label_counts(task, rows) for split, rows in splits.items()},
        "dropped": reading.dropped,
        "overlap": reading.overlap,
        "settings": settings.model_dump(mode="json"),
        "origin": source.origin if isinstance(source, Snapshot) else {"source": "folder"},
        "note": _note(task, roles, reading.rows) if settings.published else MADE,
    }
    files = {split: task.files(source, split) for split in sorted(reading.rows)}
    without = unlabelled.load(task, source) if settings.unlabelled else {}
    if settings.published and not settings.min_rows:
        unlabelled.check_counts(task, source, without)
    files |= {split: unlabelled.files(task, source, split) for split in without}
    facts["unlabelled"] = list(without)
    facts["sources"] = {split: _digests(Path(folder), paths) for split, paths in files.items()}
    return splits | without, facts


def text_digests(task: Task, examples: "Dataset") -> Iterator[bytes]:
    """What makes two rows the same: all texts, whatever their case, blanks and order of a pair.

    A digest, since RACE repeats its articles. The published sets have a few rows that are training
    rows too (CoLA: 16 of 1,043), so these are counted, not refused.
    """
    for batch in examples.select_columns(["first", "second", "choices"]).iter(1000):
        for first, second, choices in zip(*batch.values(), strict=True):
            texts = [" ".join(text.casefold().split()) for text in (first, second, *choices)]
            pair = sorted(texts[:2]) if task.family == "similarity" else texts[:2]
            yield hashlib.sha256("\0".join((*pair, *texts[2:])).encode()).digest()


def check_guids(folder: Path, examples: "Dataset") -> None:
    """No row twice, hence no row in two splits: the guid names the official split and row."""
    guid, times = Counter(examples["guid"][:]).most_common(1)[0]
    if times > 1:
        raise InputError(f"{folder}: row {guid!r} occurs {times} times; ids must be unique")


def _label_counts(task: Task, examples: "Dataset") -> dict[str, int]:
    """Rows per label word; STS-B's scores are counted at the nearest whole number."""
    counts = Counter(task.labels[int(label + 0.5)] for label in examples["label"][:])
    return {label: counts[label] for label in task.labels}


def _digests(folder: Path, paths: list[Path]) -> dict[str, str]:
    """Digest of each source file; thousands of small files (RACE) give one digest together."""
    digests = {Path(os.path.relpath(path, folder)).as_posix(): sha256_file(path) for path in paths}
    if len(digests) <= 10:
        return digests
    together = hashlib.sha256("".join(f"{n} {d}\n" for n, d in digests.items()).encode())
    return {f"{len(digests)} files": together.hexdigest()}


def _note(task: Task, roles: Roles, rows: dict[str, int]) -> str:
    """Where the rows are not the published ones: "trained on dev; dev: 500 of 8,551 rows"."""
    other = [f"trained on {roles.train}"] if roles.train != task.train else []
    counts = [
        f"{split}: {count:,} of {task.rows[split]:,} rows"
        for split, count in rows.items()
        if count != task.rows[split]
    ]
    return "; ".join(other + counts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", help="a task's name: snli ... cola, or dprd")
    parser.add_argument("--folder", required=True, help="the published files, or a hub snapshot")
    parser.add_argument(
        "--settings", type=PrepareSettings.parse, default="{}", help="JSON: tasks.settings"
    )
    parser.add_argument("--out", required=True, help="folder of the examples, a DatasetDict")
    parser.add_argument("--facts", required=True, help="JSON of rows, labels, digests and notes")
    given = parser.parse_args()
    task = task_named(given.task)
    splits, facts = prepare(task, given.folder, given.settings)
    save(given.out, splits)
    facts["sha256"] = {split: split_digest(given.out, split) for split in splits}
    write_json(given.facts, facts)
    counts = ", ".join(f"{split} {len(rows):,}" for split, rows in splits.items())
    print(f"{task.title}: {counts}" + (f" ({facts['note']})" if facts["note"] else ""))


if __name__ == "__main__":
    sys.exit(run(main))
