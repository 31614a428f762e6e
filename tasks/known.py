"""Which rows a model has seen in training, whole or by one of their texts."""

import hashlib
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING

from tasks.task import Task

if TYPE_CHECKING:
    from datasets import Dataset


def training_rows(task: Task, splits: "Mapping[str, Dataset]") -> dict[str, int]:
    """How many rows of each split but `train` are training rows too, texts and choices.

    The published sets have a few (CoLA: 16 of 1,043), so these are counted, not refused.
    """
    known = set(row_digests(task, splits["train"]))
    others = ((name, row_digests(task, rows)) for name, rows in splits.items() if name != "train")
    return {name: sum(digest in known for digest in rows) for name, rows in others}


def rows_with_a_training_text(task: Task, splits: "Mapping[str, Dataset]") -> dict[str, int]:
    """How many rows of each split but `train` have a text in common with a training row."""
    known = set(chain.from_iterable(text_digests(task, splits["train"])))
    others = ((name, text_digests(task, rows)) for name, rows in splits.items() if name != "train")
    return {name: sum(not known.isdisjoint(texts) for texts in rows) for name, rows in others}


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
