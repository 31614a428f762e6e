"""Check that the rows read are the published data, for faults that no single row shows.

Unknown labels, empty texts, missing columns and truncated files are found on reading. Faults of a
whole split are found here, each an `InputError`: missing rows, CSV-quoted cells, labels in another
order, rows other than the published ones, training rows in a reported split.
"""

import hashlib
import json
from collections import Counter
from math import sqrt
from pathlib import Path

from tasks.common.errors import InputError
from tasks.read import OWN_ROWS, unquoted
from tasks.spec import Example
from tasks.splits import plain_texts
from tasks.task import NO_GOLD_LABEL, Task

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


def ids(path: Path, examples: list[Example]) -> None:
    """Raise InputError if a guid, which names the official split and row, occurs twice."""
    guid, times = Counter(row.guid for row in examples).most_common(1)[0]
    if times > 1:
        raise InputError(f"{path}: row {guid!r} occurs {times} times; ids must be unique")


def published(
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
    unquoted_texts(path, examples)
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


def unlabelled(path: Path, name: str, examples: list[Example], expected: int | None) -> None:
    """Check a split without public labels, which has to have the server's number of rows."""
    unquoted_texts(path, examples)
    if expected is not None and len(examples) != expected:
        raise InputError(
            f"{path}: {len(examples):,} unlabelled rows in {name!r}, the server expects "
            f"{expected:,}; download the file again"
        )


def unquoted_texts(path: Path, examples: list[Example]) -> None:
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


def rows_as_known(task: Task, path: Path, name: str, examples: list[Example]) -> None:
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


def overlap(task: Task, folder: str | Path, name: str, shared: int, rows: int) -> None:
    """Raise InputError if too many (`shared`) of a split's rows are training rows too."""
    if shared > max(3, OVERLAP * rows):
        where = folder if task.folder else task.name  # files of one's own may lie anywhere
        raise InputError(
            f"{where}: {shared:,} of {rows:,} rows of {name!r} are training rows of "
            f"{task.title} as well, at most {OVERLAP:.0%} may be; take them out of the training "
            "rows"
        )
