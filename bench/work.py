"""The work that every side of a comparison does: a JSON file, and a file of rows or a corpus."""

import itertools
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from gpt1.data import Sequences

UNITS = {"finetune": "rows/s", "pretrain": "tokens/s"}


@dataclass(frozen=True, kw_only=True)
class Work:
    """Fine-tuning or pre-training updates (`kind`), the same for every side.

    `data` is a file of rows, or a `corpus.json`. `model`, `training` and `runtime` are the settings
    of the suite's own programs. `precision` is "float32", "bfloat16" or "quicker", whichever takes
    a side less time. The plain loop pads rows to `pad_to` tokens. A side has `rounds` turns of
    `steps` updates, each on `batch` rows or windows.
    """

    kind: str
    data: str
    family: str = ""
    n_labels: int = 1
    arch: str = "transformer"
    model: dict[str, Any]
    n_vocab: int
    training: dict[str, Any]
    runtime: dict[str, Any]
    batch: int
    precision: str
    pad_to: int = 0
    rounds: int
    steps: int

    def write(self) -> Path:
        """Write the work beside its data; returns its path."""
        path = Path(self.data).with_suffix(".work.json")
        path.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")
        return path

    @classmethod
    def read(cls, path: str) -> Self:
        """The work in a file."""
        return cls(**json.loads(Path(path).read_text(encoding="utf-8")))


def read_rows(file: str) -> Sequences:
    """The rows of an `.npz` that `bench.rows` drew."""
    arrays = np.load(file)
    return Sequences(*(arrays[key] for key in ("ids", "lengths", "labels")), [], truncated=0.0)


def batches(n: int, size: int) -> Iterator[np.ndarray]:
    """Row numbers in file order, in whole batches, over and over."""
    return itertools.cycle(np.arange(n - n % size).reshape(-1, size))
