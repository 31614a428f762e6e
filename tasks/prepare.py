"""From a task's published files to its examples: train, select and the reported splits.

    python -m tasks.prepare cola --folder CoLA --settings '{"seed": 0}' --out cola.jsonl \\
        --meta cola.json

The split that selects the best epoch is never one that reports: it is an official dev split where
a labelled test split reports, else it is carved out of the training rows. Which rows are carved or
kept by a limit depends on a hash of the seed and the row's guid alone, never on the order of rows.
"""

import argparse
import hashlib
import json
import sys
from collections import Counter
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from tasks import task as by_name
from tasks.errors import InputError, run
from tasks.examples import write_examples
from tasks.files import sha256_file, write_json
from tasks.types import Example, Task


@dataclass(frozen=True)
class Settings:
    """`limit_report` also holds for an official split that selects; None means no limit.

    `select_fraction` is the share of the training rows that is carved out for selection (Story
    Cloze keeps the authors' 374 of 1,871). `train_from` takes another official split as training
    rows; `report_on` names the reported splits.
    """

    seed: int = 0
    select_fraction: float = 0.1
    limit_train: int | None = None
    limit_report: int | None = None
    train_from: str | None = None
    report_on: tuple[str, ...] | None = None


def parse_settings(text: str) -> Settings:
    """Settings of a JSON object; an unknown key or a wrong value is an InputError."""
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"--settings: not JSON ({error.msg}): {text!r:.80}") from None
    known = list(Settings.__dataclass_fields__)
    if not isinstance(values, dict) or not set(values) <= set(known):
        raise InputError(f"--settings: keys are {', '.join(known)}; found {text!r:.80}")
    names = values.get("report_on")
    if names is not None:
        if not isinstance(names, list):
            raise InputError(f"--settings: report_on is a list of splits, or null; found {names!r}")
        values["report_on"] = tuple(names)
    settings = Settings(**values)
    fraction = settings.select_fraction
    if not (isinstance(fraction, float) and 0.0 < fraction < 1.0):
        raise InputError(f"--settings: select_fraction is between 0 and 1; found {fraction!r}")
    for key in ("limit_train", "limit_report"):
        limit = getattr(settings, key)
        if limit is not None and (not isinstance(limit, int) or limit < 1):
            raise InputError(f"--settings: {key} is a number from 1, or null; found {limit!r}")
    return settings


@dataclass(frozen=True)
class Splits:
    """Which official split trains, selects (None: carved from the training rows) and reports."""

    train: str
    select: str | None
    report: tuple[str, ...]


def choose_splits(task: Task, settings: Settings) -> Splits:
    """The official splits and their parts, or an InputError if one would play two parts."""
    train = settings.train_from or task.train
    report = task.report if settings.report_on is None else settings.report_on
    labelled = ", ".join(task.rows)
    for key, names in (("train_from", (train,)), ("report_on", report)):
        for name in names:
            if name not in task.rows:
                raise InputError(
                    f"{task.name}: {key}: no labelled split {name!r}; it has {labelled}"
                )
    if not report or len(set(report)) < len(report):
        raise InputError(f"{task.name}: report_on: name one split or more, each once")
    for name in report:
        if name in (train, "train"):
            raise InputError(
                f"{task.name}: split {name!r} holds training rows and cannot be reported; "
                f"name others of {labelled} under report_on"
            )
    official = train == task.train and task.select not in report
    return Splits(train, task.select if official else None, report)


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
    dropped: dict[str, dict[str, int]] = {}
    read: dict[str, int] = {}

    def official(split: str, limit: int | None, purpose: str) -> list[Example]:
        counts: Counter[str] = Counter()
        examples = task.read(folder, split, counts)
        _check_guids(task, folder, examples)
        if counts:
            dropped[split] = dict(sorted(counts.items()))
        if limit is not None and limit < len(examples):
            kept = draw(examples, limit, settings.seed, purpose)
            examples = [example for example in examples if example.guid in kept]
        read[split] = len(examples)
        return examples

    rows = official(chosen.train, settings.limit_train, "limit_train")
    fraction = task.select_fraction
    fraction = settings.select_fraction if fraction is None else fraction
    splits: dict[str, list[Example]] = {}
    if chosen.select:
        splits["train"] = rows
        splits["select"] = official(chosen.select, settings.limit_report, "limit_report")
    elif fraction:
        if len(rows) < 2:
            raise InputError(f"{folder}: {len(rows)} training row; select needs one of at least 2")
        count = min(max(1, round(fraction * len(rows))), len(rows) - 1)
        kept = draw(rows, count, settings.seed, "select")
        splits["train"] = [example for example in rows if example.guid not in kept]
        splits["select"] = [example for example in rows if example.guid in kept]
    else:
        splits["train"] = rows
    for split in chosen.report:
        splits[split] = official(split, settings.limit_report, "limit_report")
    examples = [replace(e, split=split) for split, rows in splits.items() for e in rows]
    _check_guids(task, folder, examples)
    meta = {
        "task": task.name,
        "version": task.version,
        "train_from": chosen.train,
        "select_from": chosen.select or (chosen.train if "select" in splits else None),
        "report": list(chosen.report),
        "rows": {split: len(rows) for split, rows in splits.items()},
        "labels": {split: _label_counts(task, rows) for split, rows in splits.items()},
        "dropped": dropped,
        "overlap": overlap(splits),
        "settings": asdict(settings),
        "sources": {
            split: _digests(Path(folder), task.paths(folder, split)) for split in sorted(read)
        },
        "note": _note(task, read),
    }
    return examples, meta


def overlap(splits: dict[str, list[Example]]) -> dict[str, int]:
    """For each split but train: how many of its rows have all their texts in a training row too.

    The published sets have a few such rows (CoLA: 16 of 1,043), so they are counted, not refused.
    """
    train = {_texts(example) for example in splits["train"]}
    return {
        split: sum(_texts(example) in train for example in rows)
        for split, rows in splits.items()
        if split != "train"
    }


def _texts(example: Example) -> tuple:
    return example.first, example.second, example.choices


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


def _note(task: Task, read: dict[str, int]) -> str:
    """Where the rows used are not the official number: "train: 500 of 8,551 rows"."""
    return "; ".join(
        f"{split}: {count:,} of {task.rows[split]:,} rows"
        for split, count in read.items()
        if count != task.rows[split]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", help="a task's name: snli ... cola, or dprd")
    parser.add_argument("--folder", required=True, help="where the published files lie")
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
