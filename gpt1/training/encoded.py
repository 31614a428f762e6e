"""A task's encoded examples, as training reads them: what `gpt1.encode` wrote.

Apart from `gpt1.encode`, so that training depends neither on the readers nor on the tokenizer.
"""

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tasks.common.errors import InputError
from tasks.spec import Kind

TEXTS = ("first", "second", "choices")


@dataclass(frozen=True)
class EncodedSplit:
    """Examples of one split; every list and array has one entry for each example.

    `labels` is int64 (float64 for scores); texts are int32 arrays of ids without special tokens,
    empty where the task has no such text; `choices` holds one array for each choice.
    """

    guids: list[str]
    groups: list[str]
    labels: np.ndarray
    first: list[np.ndarray]
    second: list[np.ndarray]
    choices: list[list[np.ndarray]]

    def __len__(self) -> int:
        return len(self.guids)

    def take(self, rows: np.ndarray) -> "EncodedSplit":
        """The examples with these row numbers."""
        lists = {
            name: [getattr(self, name)[i] for i in rows]
            for name in ("guids", "groups", "first", "second", "choices")
        }
        return EncodedSplit(**lists, labels=self.labels[rows])


@dataclass(frozen=True)
class EncodedTask:
    """A task's encoded splits, with the digests of the tokenizer and of the examples' file."""

    kind: Kind
    tokenizer: str
    data: str
    splits: dict[str, EncodedSplit]


def load(path: str | Path) -> EncodedTask:
    """Read what `gpt1.encode` wrote. Raises InputError for a missing, truncated or foreign file."""
    try:
        with np.load(path, allow_pickle=False) as file:
            facts = json.loads(str(file["facts"]))
            splits = {split: _split(file, split) for split in facts["splits"]}
            kind = Kind(**{**facts["kind"], "metrics": tuple(facts["kind"]["metrics"])})
        return EncodedTask(kind, facts["tokenizer"], facts["data"], splits)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; encode the task first") from None
    except (ValueError, KeyError, TypeError, EOFError, NotImplementedError, zipfile.BadZipFile):
        raise InputError(f"{path}: cut off or not of encoded examples; make it again") from None


def _split(file: Any, split: str) -> EncodedSplit:
    def texts(name: str) -> list[list[np.ndarray]]:
        ids, lengths, counts = (file[f"{split}/{name}/{part}"] for part in parts)
        if len(ids) != lengths.sum() or len(lengths) != counts.sum() or len(counts) != len(guids):
            raise ValueError("lengths do not fit")
        segments = iter(_cut(ids, lengths))
        return [[next(segments) for _ in range(count)] for count in counts.tolist()]

    parts = ("ids", "lengths", "counts")
    guids = file[f"{split}/guids"].tolist()
    return EncodedSplit(
        guids=guids,
        groups=file[f"{split}/groups"].tolist(),
        labels=file[f"{split}/labels"],
        first=[each[0] for each in texts("first")],
        second=[each[0] for each in texts("second")],
        choices=texts("choices"),
    )


def _cut(ids: np.ndarray, lengths: np.ndarray) -> list[np.ndarray]:
    ends = np.cumsum(lengths).tolist()
    return [ids[start:end] for start, end in zip([0, *ends], ends, strict=False)]
