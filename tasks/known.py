"""Which rows a model has seen in training, whole or by one of their texts."""

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tasks.task import Task

if TYPE_CHECKING:
    from datasets import Dataset


class Known:
    """The training rows of a task, as digests, since RACE repeats its articles."""

    def __init__(self, task: Task, training: "Dataset") -> None:
        self._task = task
        self._rows = set(row_digests(task, training))
        self._texts = {digest for texts in text_digests(task, training) for digest in texts}

    def rows(self, rows: "Dataset") -> int:
        """How many rows are training rows too.

        The published sets have a few (CoLA: 16 of 1,043), so these are counted, not refused.
        """
        return sum(digest in self._rows for digest in row_digests(self._task, rows))

    def texts(self, rows: "Dataset") -> int:
        """How many rows have a text in common with a training row: a premise, an article."""
        found = text_digests(self._task, rows)
        return sum(not self._texts.isdisjoint(texts) for texts in found)


def plain(text: str) -> str:
    """A text as it is compared: without its case and blanks."""
    return " ".join(text.casefold().split())


def row_digests(task: Task, rows: "Dataset") -> Iterator[bytes]:
    """The identity of each row: a digest of its texts, ignoring case, blanks and a pair's order."""
    for batch in rows.select_columns(["first", "second", "choices"]).iter(1000):
        for first, second, choices in zip(*batch.values(), strict=True):
            texts = [plain(text) for text in (first, second, *choices)]
            pair = sorted(texts[:2]) if task.family == "similarity" else texts[:2]
            yield _digest("\0".join((*pair, *texts[2:])))


def text_digests(task: Task, rows: "Dataset") -> Iterator[tuple[bytes, ...]]:
    """Of each row digests of the texts that others may have as well: of a pair both."""
    names = ["first", "second"] if task.family in ("entailment", "similarity") else ["first"]
    for batch in rows.select_columns(names).iter(1000):
        for texts in zip(*batch.values(), strict=True):
            yield tuple(_digest(plain(text)) for text in texts)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
