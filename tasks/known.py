"""Rows with texts in common: those seen in training, and those that contradict each other."""

import hashlib
from collections.abc import Callable, Hashable, Mapping, Sequence

from tasks.example import Example
from tasks.task import Task

Splits = Mapping[str, Sequence[Example]]


def training_rows(task: Task, splits: Splits) -> dict[str, int]:
    """How many rows of each split but `train` equal a training row in texts and choices.

    The order of the sentences of a similarity pair does not matter. The published sets have a few
    such rows (CoLA: 16 of 1,043), so these are counted, not refused. Selection rows that have yet
    to be taken out of the training rows count as training rows.
    """
    return _in_train(splits, lambda row: [_whole(task, row)])


def rows_with_a_training_text(task: Task, splits: Splits) -> dict[str, int]:
    """How many rows of each split but `train` have a text in common with a training row."""
    return _in_train(splits, lambda row: shared_texts(task, row))


def contradictions(task: Task, rows: Sequence[Example]) -> int:
    """How many rows have the texts and choices of another row, but a different label."""
    keys = [_whole(task, row) for row in rows]
    labels: dict[bytes, set[float]] = {key: set() for key in keys}
    for key, row in zip(keys, rows, strict=True):
        labels[key].add(row.label)
    return sum(len(labels[key]) > 1 for key in keys)


def shared_texts(task: Task, row: Example) -> list[Hashable]:
    """Digests of the texts that other rows may share: both of a pair, else the first."""
    pair = task.family in ("entailment", "similarity")
    return [_digest(plain(text)) for text in ((row.first, row.second) if pair else (row.first,))]


def plain_texts(row: Example) -> list[str]:
    """The texts and choices of a row, normalised for comparison."""
    return [plain(text) for text in (row.first, row.second, *row.choices)]


def plain(text: str) -> str:
    """A text normalised for comparison: case-folded, with single spaces between words."""
    return " ".join(text.casefold().split())


def _in_train(splits: Splits, keys: Callable[[Example], list[Hashable]]) -> dict[str, int]:
    """How many rows of each other split have a key that a training row has."""
    known = {key for row in splits["train"] for key in keys(row)}
    others = {split: rows for split, rows in splits.items() if split != "train"}
    return {
        split: sum(not known.isdisjoint(keys(r)) for r in rows) for split, rows in others.items()
    }


def _whole(task: Task, row: Example) -> bytes:
    """A digest of a row's texts and choices, regardless of the order of a similarity pair."""
    first, second, *choices = plain_texts(row)
    pair = sorted((first, second)) if task.family == "similarity" else (first, second)
    return _digest("\0".join((*pair, *choices)))


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()  # the texts of RACE are long
