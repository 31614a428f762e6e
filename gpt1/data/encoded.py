"""A task's encoded examples, as `gpt1.encode` writes them and training reads them.

Reading them is separate from `gpt1.encode` and needs only pyarrow, so that training depends on
neither `datasets` nor the tokenizer, which take longer to import than many a cell takes to train.
"""

import itertools
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from gpt1.records import EncodedFacts, Role
from tasks.common.arrow import read_split, split_digest, split_names
from tasks.common.errors import InputError
from tasks.common.files import sha256_json
from tasks.common.records import facts_path
from tasks.spec import TaskSpec

COLUMNS = ("guid", "group", "label", "first", "second", "choices")


@dataclass(frozen=True)
class EncodedSplit:
    """Examples of one split; every list and array has one entry for each example.

    `labels` is int64 (float64 for STS-B); texts are int32 arrays of ids without special tokens,
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
    """A task's encoded splits in their order, and their facts."""

    facts: EncodedFacts
    splits: dict[str, EncodedSplit]

    @property
    def spec(self) -> TaskSpec:
        """The task's family, number of classes and metrics."""
        return self.facts.spec

    @property
    def tokenizer(self) -> str:
        """Digest of the tokenizer."""
        return self.facts.tokenizer

    def named(self, *roles: Role) -> list[str]:
        """Names of the splits that have one of these roles."""
        return [name for name in self.splits if self.facts.splits[name].role in roles]

    @property
    def main(self) -> str:
        """The first reported split, whose score stands for the task."""
        return self.named("report")[0]

    @cached_property
    def labelled_digest(self) -> str:
        """Digest of everything that decides a training result: the spec and the labelled splits."""
        return self._digest("train", "select", "report")

    @cached_property
    def unlabelled_digest(self) -> str:
        """Digest of the spec and the unlabelled splits."""
        return self._digest("unlabelled")

    def _digest(self, *roles: Role) -> str:
        digests = {name: self.facts.splits[name].sha256 for name in self.named(*roles)}
        return sha256_json({"spec": asdict(self.spec), "splits": list(digests.items())})


def load(folder: str | Path) -> EncodedTask:
    """Read what `gpt1.encode` wrote to `folder` and `folder`.json.

    Raises InputError for a file that is missing, truncated, foreign or not the one that the facts
    describe.
    """
    path = facts_path(folder)
    facts = EncodedFacts.read(path)
    names = split_names(folder)
    if set(names) != facts.splits.keys():
        raise InputError(f"{folder}: its splits are not those of {path}; encode the task again")
    for name in names:
        if split_digest(folder, name) != facts.splits[name].sha256:
            raise InputError(f"{folder}/{name}: not what {path} describes; encode the task again")
    return EncodedTask(facts, {name: read_encoded(folder, name) for name in names})


def read_encoded(folder: str | Path, split: str) -> EncodedSplit:
    """One split. Raises InputError for a file that is missing, truncated or something else."""
    table = read_split(folder, split)
    columns = {key: table[key].combine_chunks() for key in COLUMNS}
    return EncodedSplit(
        guids=columns["guid"].to_pylist(),
        groups=columns["group"].to_pylist(),
        labels=np.from_dlpack(columns["label"]),  # `to_numpy` would import pandas (0.25 s)
        first=_rows(columns["first"]),
        second=_rows(columns["second"]),
        choices=_rows(columns["choices"]),
    )


def _rows(lists: pa.ListArray) -> list[Any]:
    """An array for each row of a list<int32>, without a copy; a list of arrays if it is nested."""
    values = lists.values
    values = _rows(values) if isinstance(values, pa.ListArray) else np.from_dlpack(values)
    offsets = np.from_dlpack(lists.offsets).tolist()
    return [values[start:end] for start, end in itertools.pairwise(offsets)]
