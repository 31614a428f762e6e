"""From a task's published files to its examples: train, select and the reported splits.

    python -m tasks prepare cola --folder CoLA --settings '{"seed": 0}' --out examples/cola \\
        --facts examples/cola.json

The split that selects the best epoch is never a reported one: it is an official dev split where a
labelled test split is reported, else it is carved out of the training rows. Which rows are carved
or kept by a limit depends only on a hash of the seed and the row's guid, never on the order of
rows. GLUE's test rows, whose labels are not public, can be added as further splits: every row is
kept, in the file's order, because the server expects an answer to each.

Unknown labels, empty texts, missing columns and truncated files are found on reading (`Task.read`).
Faults of a whole split, which no single row shows, are found here, each an `InputError`: missing
rows, CSV-quoted cells, labels in another order, rows other than the published ones, training rows
in a reported split.
"""

import argparse
import hashlib
import json
import os
from collections import Counter
from math import sqrt
from pathlib import Path
from typing import Any

from tasks import task as task_named
from tasks.common.arrow import split_digest
from tasks.common.errors import InputError
from tasks.common.files import sha256_file
from tasks.examples import ExamplesFacts, write
from tasks.hub import Snapshot
from tasks.read import OWN_ROWS, unquoted
from tasks.settings import PrepareSettings
from tasks.spec import Example
from tasks.splits import (
    Roles,
    choose_splits,
    contradictions,
    divided,
    drawn,
    plain_texts,
    rows_with_a_training_text,
    training_rows,
)
from tasks.task import NO_GOLD_LABEL, Source, Tally, Task
from tasks.world import is_made

MADE = "made data, not the published set"
Splits = dict[str, list[Example]]
# How much a label's share may differ from `Task.shares`, in addition to four standard errors.
# The published splits differ by up to 0.10 (SciTail dev); QQP with swapped labels would by 0.26.
BALANCE = 0.12
# The largest share of a whole official split's rows that may be training rows as well: up to 0.016
# are in the published sets that could be counted (CoLA: 16 of 1,043; STS-B 7 of 1,500; RTE, MRPC,
# SST-2, DPRD none).
OVERLAP = 0.03
# The largest shares of texts with quotation marks that may have doubled or escaped ones, or be
# enclosed in two. In the published sets that could be counted (CoLA, RTE, MRPC, SST-2, STS-B, DPRD,
# Story Cloze; SNLI, MNLI and QNLI without train) there are none of the former, and up to 17 of 139
# of the latter (MRPC dev).
ESCAPED, ENCLOSED = 0.1, 0.25


def prepare(
    task: Task, folder: str | Path, settings: PrepareSettings
) -> tuple[Splits, dict[str, Any]]:
    """All examples of a task in file order, split by split, and the facts about them.

    Raises InputError, naming the file and the line, for anything wrong with the input.
    """
    roles = choose_splits(task, settings)
    if settings.is_made:
        is_made(Path(folder))
    source: Source = Snapshot(task.hub, folder, settings.revision) if settings.source else folder
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
            check_overlap(task, folder, official.get(role, role), shared, len(splits[role]))
    splits = {role: _limited(rows, role, settings) for role, rows in splits.items()}
    n_rows = {role: len(rows) for role, rows in splits.items()}
    note = MADE if settings.is_made else _note(task, roles, n_rows)
    fraction = task.select_fraction
    fraction = settings.select_fraction if fraction is None else fraction
    if fraction and not roles.select:
        n_select = min(max(1, round(fraction * n_rows["train"])), n_rows["train"] - 1)
        counts = {"train": n_rows["train"], "select": n_select}
        parts = divided(task, folder, splits.pop("train"), counts, settings.seed, "select")
        splits = parts | splits
    alarms: list[str] = []
    if settings.own:
        alarms = _alarms(task, splits)
        told = [*([note] if roles.carve else []), *(f"alarm: {of}" for of in alarms)]
        note = "; ".join(told + _read_as(task))
    unlabelled = task.read_unlabelled(source) if settings.unlabelled else {}
    if settings.published:
        for split, rows in unlabelled.items():
            whole_size = None if settings.min_rows else task.unlabelled[split]
            check_unlabelled(task.files(source, split)[0], split, rows, whole_size)
    read = (*sorted(set(official.values())), *unlabelled)
    sources = {split: _digests(Path(folder), task.files(source, split)) for split in read}
    return splits | unlabelled, {
        "task": task.name,
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
        "sources": sources,
        "note": note,
        "alarms": alarms,
    }


def _read(
    task: Task, source: Source, split: str, settings: PrepareSettings, tally: Tally
) -> list[Example]:
    """Read an official split with all checks; `tally` counts the rows dropped or mended."""
    examples = task.read(source, split, tally)
    path = task.files(source, split)[0]
    least = (settings.min_rows or {}).get(split)
    guid, times = Counter(row.guid for row in examples).most_common(1)[0]
    if times > 1:
        raise InputError(f"{path}: row {guid!r} occurs {times} times; ids must be unique")
    if settings.published:
        check_published(task, path, split, examples, tally.dropped, least)
        if least is None and not isinstance(source, Snapshot):
            check_digest(task, path, split, examples)
    return examples


def check_published(
    task: Task,
    path: Path,
    name: str,
    examples: list[Example],
    dropped: Counter[str],
    least: int | None = None,
) -> None:
    """Check an official split for CSV-quoted texts, its number of rows and that of each label.

    `path` is the split's first file, `least` the minimum size of a declared subset. Some copies
    count flawed rows and some do not, so the number of rows may lie between; rows without a gold
    label are in no official number. Where two labels are about equally frequent, nothing but their
    exact numbers shows that they were swapped. STS-B's scores are rounded.
    """
    check_unquoted(path, examples)
    n, official = len(examples), task.rows[name]
    flawed = sum(dropped.values()) - dropped[NO_GOLD_LABEL]
    if n > official or n + flawed < (least or official):
        expected = f"{least:,} to {official:,}" if least else f"{official:,}"
        remedy = OWN_ROWS
        if not least and n < official:
            remedy += f"; a subset is declared with min_rows: {{{name}: {n}}}"
        raise InputError(f"{path}: {n:,} rows in {name!r}, expected {expected}; {remedy}")
    counts = Counter(int(row.label + 0.5) for row in examples)
    found, known = [counts[k] for k in range(len(task.labels))], task.label_counts.get(name)
    if known and n == official and found != [*known]:
        numbers = "; ".join(
            f"{label} {a:,}, expected {b:,}"
            for label, a, b in zip(task.labels, found, known, strict=True)
        )
        reason = "labels in another order" if sorted(found) == sorted(known) else "other data"
        raise InputError(f"{path}: {name!r} has {numbers} ({reason}); {OWN_ROWS}")
    for label, count, expected_share in zip(task.labels, found, task.shares, strict=True):
        slack = 4 * sqrt(expected_share * (1 - expected_share) / n)
        away = abs(count / n - expected_share) > BALANCE + slack
        if away or (not count and expected_share > slack):
            raise InputError(
                f"{path}: {count / n:.0%} of {n:,} rows have label {label!r}, expected about "
                f"{expected_share:.0%}: labels in another order, or another file; {OWN_ROWS}"
            )


def check_unlabelled(path: Path, name: str, examples: list[Example], expected: int | None) -> None:
    """Check a split without public labels, which has to have the server's number of rows."""
    check_unquoted(path, examples)
    if expected is not None and len(examples) != expected:
        raise InputError(
            f"{path}: {len(examples):,} unlabelled rows in {name!r}, the server expects "
            f"{expected:,}; download the file again"
        )


def check_unquoted(path: Path, examples: list[Example]) -> None:
    """Raise InputError for CSV-quoted cells, which pandas and R write, where none may be quoted."""
    if path.suffix not in (".json", ".jsonl") and (quoted := quoted_texts(examples)):
        raise InputError(
            f"{path}: {quoted}; {OWN_ROWS}, or write the file without quoting (pandas: "
            "quoting=csv.QUOTE_NONE; R: quote=FALSE)"
        )


def quoted_texts(examples: list[Example]) -> str:
    """A message on how many texts look CSV-quoted; empty if no more do than could by chance.

    In a CSV-quoted file every text, or every text with a quotation mark, is enclosed in two, and
    its own marks are doubled or have a backslash. A file may be concatenated from one with such
    cells and one without.
    """
    marked = [text for row in examples for text in (row.first, row.second) if '"' in text]
    escaped = [text for text in marked if '\\"' in text or unquoted(text) != text]
    enclosed = [text for text in marked if len(text) > 1 and text[0] == text[-1] == '"']
    # A few texts may be enclosed by chance.
    for quoted, most in ((escaped, ESCAPED * len(marked)), (enclosed, 3 + ENCLOSED * len(marked))):
        if len(quoted) > most:
            return (
                f"{len(quoted):,} of {len(marked):,} texts with a quotation mark are quoted as in "
                f"CSV, first {quoted[0][:40]!r}"
            )
    return ""


def check_digest(task: Task, path: Path, name: str, examples: list[Example]) -> None:
    """Check that a whole split's rows are those of `Task.digests`, where its digest is known.

    Nothing else shows labels that were shifted by a row, or two texts that were swapped.
    """
    if task.digests.get(name) not in (None, rows_digest(examples)):
        raise InputError(
            f"{path}: the rows of {name!r} are not the published ones, whose digest is known; "
            f"{OWN_ROWS}; published ones that are meant to differ are declared with min_rows: "
            f"{{{name}: {len(examples)}}}"
        )


def rows_digest(examples: list[Example]) -> str:
    """SHA-256 over the texts, choices and labels of all rows, in their order.

    Case and blanks are ignored, as copies differ in their blanks.
    """
    total = hashlib.sha256()
    for row in examples:
        total.update(json.dumps([plain_texts(row), row.label], ensure_ascii=False).encode() + b"\n")
    return total.hexdigest()


def check_overlap(task: Task, folder: str | Path, name: str, shared: int, rows: int) -> None:
    """Raise InputError if too many (`shared`) of a split's rows are training rows too."""
    if shared > max(3, OVERLAP * rows):
        where = folder if task.folder else task.name  # files of one's own may lie anywhere
        raise InputError(
            f"{where}: {shared:,} of {rows:,} rows of {name!r} are training rows of "
            f"{task.title} as well, at most {OVERLAP:.0%} may be; take them out of the training "
            "rows"
        )


def _limited(rows: list[Example], role: str, settings: PrepareSettings) -> list[Example]:
    purpose = "limit_train" if role == "train" else "limit_report"
    return drawn(rows, getattr(settings, purpose), settings.seed, purpose)


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


def _alarms(task: Task, splits: Splits) -> list[str]:
    """What looks like a mistake in a user's own rows."""
    train, every = splits["train"], [row for rows in splits.values() for row in rows]
    quoted = {split: quoted_texts(rows) for split, rows in splits.items()}
    found = [f"{split}: {of}" for split, of in quoted.items() if of]
    if n := contradictions(task, every):
        found.append(
            f"{n:,} of {len(every):,} rows have the texts of another row and another label"
        )
    counts, known = _label_counts(task, train), _label_counts(task, every)
    labels = [label for label, count in counts.items() if count]
    if len(labels) == 1:
        found.append(f"all {len(train):,} training rows have label {labels[0]!r}")
    elif lacking := [label for label in counts if known[label] and label not in labels]:
        found.append(f"no training row has label {_named(lacking)}")
    if unused := [label for label in known if not known[label] and not task.soft_labels]:
        found.append(f"no row has label {_named(unused)}, which is listed")
    return found


def _read_as(task: Task) -> list[str]:
    """Which label words are read as one label."""
    words = [[word for word, of in task.coding.items() if of == k] for k in range(len(task.labels))]
    pairs = zip(task.labels, words, strict=True)
    return [f"{_named(of)} are read as {label!r}" for label, of in pairs if len(of) > 1]


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
    write(args.out, splits, () if task.soft_labels else task.labels)
    digests = {split: split_digest(args.out, split) for split in splits}
    ExamplesFacts(**facts, sha256=digests).write(args.facts)
    counts = ", ".join(f"{split} {len(rows):,}" for split, rows in splits.items())
    print(f"{task.title}: {counts}" + (f" ({facts['note']})" if facts["note"] else ""))
