"""What is said of one task's data: its rows by split, how long they are, from where, and three.

A length is that of the whole input as it is fine-tuned, in tokens: all its texts (of several
choices the longest), with the start, delimiter and classify tokens.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

import tasks
from tasks.common.arrow import read_split
from workflow.analysis.records import EncodedRecord, ExamplesRecord, check_examples

SHOWN = 3  # examples


class Facts(ExamplesRecord):
    """Of `examples/TASK.json` what a card says."""

    report: list[str]
    labels: dict[str, dict[str, int]]
    unlabelled: list[str]
    dropped: dict[str, dict[str, int]]
    unquoted: dict[str, int]
    overlap: dict[str, int]
    half_known: dict[str, int]
    origin: dict[str, str]
    sources: dict[str, dict[str, str]]


@dataclass(frozen=True)
class Card:
    """A task's data.

    Of each row that is trained on, selects or is reported, by split [rows], its length and the
    share of rows that the window truncates; `examples` are rows that it is trained on.
    """

    task: tasks.Task
    n_ctx: int
    facts: Facts
    lengths: dict[str, np.ndarray]
    truncated: dict[str, float]
    examples: list[dict[str, Any]]

    @classmethod
    def read(cls, results: Path, name: str, n_ctx: int) -> Self:
        """Of one task. Raises InputError for a file that is missing, damaged or of other rows."""
        path, encoded = (results / kind / f"{name}.json" for kind in ("examples", "encoded"))
        facts, known = Facts.read(path), EncodedRecord.read(encoded).splits
        parts = {s: known[s] for s in ("train", "select", *facts.report) if s in known}
        digests = {split: part.examples for split, part in parts.items()}
        check_examples(encoded, digests, path, facts.sha256)
        needed = {split: _values(part.n_ctx_needed) for split, part in parts.items()}
        return cls(
            task=tasks.task(name),
            n_ctx=n_ctx,
            facts=facts,
            lengths={split: _values(part.lengths) for split, part in parts.items()},
            truncated={split: float((n > n_ctx).mean()) for split, n in needed.items()},
            examples=_examples(results / "examples" / name),
        )

    @property
    def is_synthetic(self) -> bool:
        """Whether the rows are made by the embedded world."""
        return not self.facts.published and not self.facts.own

    def shares(self, split: str) -> dict[str, float]:
        """The share of a split's rows that has each label."""
        counts = self.facts.labels[split]
        return {label: counts[label] / self.facts.rows[split] for label in self.task.labels}


def _values(counts: dict[str, int]) -> np.ndarray:
    """The values [n] that `counts` says how often there are."""
    return np.repeat([int(value) for value in counts], list(counts.values()))


def _examples(folder: Path) -> list[dict[str, Any]]:
    """The first training row of each label, then the next ones."""
    table = read_split(folder, "train")
    again = table["label"].to_pandas().duplicated()
    return table.take(again.sort_values(kind="stable").index[:SHOWN].to_list()).to_pylist()
