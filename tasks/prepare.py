"""From a task's published files to its examples: train, select and the reported splits.

    python -m tasks prepare cola --folder CoLA --settings '{"seed": 0}' --out examples/cola \\
        --facts examples/cola.json

The split that selects the best epoch is never a reported one: it is an official dev split where a
labelled test split is reported, else it is carved out of the training rows. Which rows are carved
or kept by a limit depends only on a hash of the seed and the row's guid, never on the order of
rows. GLUE's test rows, whose labels are not public, can be added as further splits: every row is
kept, in the file's order, because the server expects an answer to each.
"""

import argparse
import hashlib
import os
from collections import Counter
from pathlib import Path
from typing import Any

from tasks import checks
from tasks import task as task_named
from tasks.common.arrow import split_digest
from tasks.common.errors import InputError
from tasks.common.files import sha256_file
from tasks.examples import ExamplesFacts, write
from tasks.hub import Snapshot
from tasks.read import unquoted, wrong
from tasks.settings import PrepareSettings
from tasks.spec import Example
from tasks.splits import (
    Roles,
    choose_splits,
    contradictions,
    divided,
    ranked,
    rows_with_a_training_text,
    training_rows,
)
from tasks.task import UNLABELLED, Source, Tally, Task
from tasks.world import is_made

MADE = "made data, not the published set"
Splits = dict[str, list[Example]]


def prepare(
    task: Task, folder: str | Path, settings: PrepareSettings
) -> tuple[Splits, dict[str, Any]]:
    """All examples of a task in file order, split by split, and the facts about them.

    Raises InputError, naming the file and the line, for anything wrong with the input.
    """
    roles = choose_splits(task, settings)
    if settings.is_made:
        is_made(Path(folder))
    hub = settings.source == "hub"
    source: Source = Snapshot(task.hub, folder, settings.revision) if hub else folder
    official = roles.files
    tallies = {name: Tally() for name in official.values()}
    splits = {
        role: _read(task, source, name, settings, tallies[name]) for role, name in official.items()
    }
    if roles.carve:
        whole = splits.pop("train")
        counts = {name: round(share * len(whole)) for name, share in roles.carve.items()}
        parts = divided(task, folder, whole, counts, settings.seed, "carve")
        splits = {role: parts[role] for role in ("train", *roles.report)}
    overlap = training_rows(task, splits)
    if not settings.is_made:
        for role, shared in overlap.items():
            checks.overlap(task, folder, official.get(role, role), shared, len(splits[role]))
    splits = {role: _limited(rows, role, settings) for role, rows in splits.items()}
    note = MADE
    if not settings.is_made:
        note = _note(task, roles, {role: len(rows) for role, rows in splits.items()})
    fraction = task.select_fraction
    fraction = settings.select_fraction if fraction is None else fraction
    if fraction and not roles.select:
        rows = splits.pop("train")
        n_select = min(max(1, round(fraction * len(rows))), len(rows) - 1)
        wanted = {"select": n_select, "train": len(rows)}
        parts = divided(task, folder, rows, wanted, settings.seed, "select")
        splits = {"train": parts["train"], "select": parts["select"]} | splits
    if settings.own:
        note = _own_note(task, splits, note if roles.carve else "")
    unlabelled = read_unlabelled(task, source) if settings.unlabelled else {}
    if settings.published:
        for split, rows in unlabelled.items():
            whole_size = None if settings.min_rows else task.unlabelled[split]
            checks.unlabelled(task.files(source, split)[0], split, rows, whole_size)
    read = (*sorted(set(official.values())), *unlabelled)
    files = {split: task.files(source, split) for split in read}
    return splits | unlabelled, {
        "task": task.name,
        "version": task.version,
        "train_from": roles.train,
        "select_from": roles.select or (roles.train if "select" in splits else None),
        "report": list(roles.report),
        "rows": {split: len(rows) for split, rows in splits.items()},
        "labels": {split: _label_counts(task, rows) for split, rows in splits.items()},
        "unlabelled": list(unlabelled),
        "dropped": {name: tally.dropped for name, tally in tallies.items() if tally.dropped},
        "unquoted": {name: tally.unquoted for name, tally in tallies.items() if tally.unquoted},
        "overlap": overlap,
        "half_known": rows_with_a_training_text(task, splits),
        "settings": settings,
        "origin": source.origin if isinstance(source, Snapshot) else {"source": "folder"},
        "sources": {split: _digests(Path(folder), paths) for split, paths in files.items()},
        "note": note,
    }


def _read(
    task: Task, source: Source, split: str, settings: PrepareSettings, tally: Tally
) -> list[Example]:
    """Read an official split with all checks; `tally` counts the rows dropped or mended."""
    examples = task.read(source, split, tally)
    path = task.files(source, split)[0]
    least = (settings.min_rows or {}).get(split)
    checks.ids(path, examples)
    if settings.published:
        checks.published(task, path, split, examples, tally.dropped, least)
        if least is None and not isinstance(source, Snapshot):
            checks.rows_as_known(task, path, split, examples)
    return examples


def read_unlabelled(task: Task, source: Source) -> Splits:
    """All rows without public labels, by split; every label is -1.

    A guid ends in the row's official index. A malformed row of QQP, whose other files have a few,
    gets empty texts. Raises InputError, naming file and line, for a missing file or column, and for
    rows that are not numbered from 0 on.
    """
    folder = None if isinstance(source, Snapshot) else source
    if folder is not None and (missing := task.missing_unlabelled(folder)):
        raise InputError(
            f"{source}: {' and '.join(missing)} needed; {task.obtain}, or set "
            "experiment.submission to false"
        )
    mend = unquoted if task.csv_quoted else str
    splits: Splits = {}
    for split in task.unlabelled if folder is None else task.unlabelled_files(folder):
        examples: list[Example] = []
        malformed = 0
        for at, row in enumerate(task.read_rows(source, split)):
            malformed += bool(row.flaw)
            if row.flaw and (not task.tolerated or malformed > max(3, task.tolerated * (at + 1))):
                raise wrong(row.path, row.line, row.flaw)
            number = row.label
            if folder is None:  # the hub, where a row with a label is not among the unlabelled ones
                hidden = split not in task.hub.unlabelled or row.label in ("-1", "-1.0")
                number = row.key if hidden else f"labelled {row.label}"
            if not row.flaw and number != str(at):
                numbering = f"{task.unlabelled_index} is {number!r}, expected {at}"
                remedy = "rows are missing, moved or labelled: download the file again"
                raise wrong(row.path, row.line, f"{numbering}; {remedy}")
            first, second = mend(row.first).strip(), mend(row.second).strip()
            examples.append(Example(f"{task.name}/{split}/{at}", first, second, (), UNLABELLED))
        if not examples:
            raise InputError(f"{task.files(source, split)[0]}: no rows; {task.obtain}")
        splits[split] = examples
    return splits


def _limited(rows: list[Example], role: str, settings: PrepareSettings) -> list[Example]:
    purpose = "limit_train" if role == "train" else "limit_report"
    limit = getattr(settings, purpose)
    if limit is None or limit >= len(rows):
        return rows
    drawn = set(ranked([row.guid for row in rows], settings.seed, purpose)[:limit])
    return [row for row in rows if row.guid in drawn]


def _label_counts(task: Task, examples: list[Example]) -> dict[str, int]:
    """Rows per label word; STS-B's scores are counted at the nearest whole number."""
    counts = Counter(task.labels[int(row.label + 0.5)] for row in examples)
    return {label: counts[label] for label in task.labels}


def _digests(folder: Path, paths: list[Path]) -> dict[str, str]:
    """Digest of each source file, or one joint digest for more than ten files (RACE)."""
    digests = {Path(os.path.relpath(path, folder)).as_posix(): sha256_file(path) for path in paths}
    if len(digests) <= 10:
        return digests
    together = hashlib.sha256("".join(f"{n} {d}\n" for n, d in digests.items()).encode())
    return {f"{len(digests)} files": together.hexdigest()}


def _note(task: Task, roles: Roles, counts: dict[str, int]) -> str:
    """How rows differ from the published ones: "trained on dev; dev: 500 of 8,551 rows"."""
    if roles.carve:
        total = task.rows[roles.train] or sum(counts.values())
        parts = ", ".join(f"{role} {count:,}" for role, count in counts.items())
        return f"carved from {roles.train}: {parts} of {total:,} rows"
    other = [f"trained on {roles.train}"] if roles.train != task.train else []
    fewer = [
        f"{split}: {counts[role]:,} of {task.rows[split]:,} rows"
        for role, split in roles.files.items()
        if counts[role] != task.rows[split]
    ]
    return "; ".join(other + fewer)


def _own_note(task: Task, splits: Splits, note: str) -> str:
    """The note on a user's own rows, with an alarm for anything that looks like a mistake."""
    train, every = splits["train"], [row for rows in splits.values() for row in rows]
    parts = [note] if note else []
    for split, rows in splits.items():
        if quoted := checks.quoted_texts(rows):
            parts.append(f"alarm: {split}: {quoted}")
    if n := contradictions(task, every):
        parts.append(
            f"alarm: {n:,} of {len(every):,} rows have the texts of another row and another label"
        )
    counts, known = _label_counts(task, train), _label_counts(task, every)
    labels = [label for label, count in counts.items() if count]
    if len(labels) == 1:
        parts.append(f"alarm: all {len(train):,} training rows have label {labels[0]!r}")
    elif lacking := [label for label in counts if known[label] and label not in labels]:
        parts.append(f"alarm: no training row has label {_named(lacking)}")
    if unused := [label for label in known if not known[label] and not task.soft_labels]:
        parts.append(f"alarm: no row has label {_named(unused)}, which is listed")
    for k, label in enumerate(task.labels):
        if len(joined := [word for word, of in task.coding.items() if of == k]) > 1:
            parts.append(f"{_named(joined)} are read as {label!r}")
    return "; ".join(parts)


def _named(labels: list[str]) -> str:
    more = [f"{len(labels) - 5} more"] if len(labels) > 5 else []
    return ", ".join([*(f"{label!r:.60}" for label in labels[:5]), *more])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", help="a task's name: snli ... cola, dprd, or that of your own")
    parser.add_argument("--folder", required=True, help="the published files, or a hub snapshot")
    parser.add_argument(
        "--settings", type=PrepareSettings.parse, default="{}", help="JSON: tasks.settings"
    )
    parser.add_argument("--out", required=True, help="folder of the examples, a DatasetDict")
    parser.add_argument("--facts", required=True, help="JSON of rows, labels, digests and notes")
    args = parser.parse_args()
    task = task_named(args.task, args.settings.own)
    splits, facts = prepare(task, args.folder, args.settings)
    write(args.out, splits, task.label_names)
    digests = {split: split_digest(args.out, split) for split in splits}
    ExamplesFacts(**facts, sha256=digests).write(args.facts)
    counts = ", ".join(f"{split} {len(rows):,}" for split, rows in splits.items())
    print(f"{task.title}: {counts}" + (f" ({facts['note']})" if facts["note"] else ""))
