"""The work that every side of a comparison does: a JSON file, and a file of rows or a corpus.

Rows and corpus are of random tokens, with published rows' lengths, which determine the time.
"""

import itertools
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from gpt1.data import EncodedSplit, Sequences, build_sequences
from gpt1.text.tokens import DTYPE, SpecialTokens
from tasks import task
from tasks.common.files import sha256_file, write_json

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
    """The rows of an `.npz` that `draw_rows` wrote."""
    arrays = np.load(file)
    ids, lengths, labels = (arrays[key] for key in ("ids", "lengths", "labels"))
    return Sequences(ids, lengths, labels, [""] * len(labels), truncated=0.0)


def batches(n: int, size: int) -> Iterator[np.ndarray]:
    """Row numbers in file order, in whole batches, over and over."""
    return itertools.cycle(np.arange(n - n % size).reshape(-1, size))


# Lengths of the two texts in tokens of the published vocabulary: minimum, deciles and maximum over
# the training rows (MNLI: a dev set). RACE and Story Cloze have one length, near their means.
LENGTHS = {
    "rte": (
        [5, 20, 26, 31, 35, 40, 46, 57, 92, 122, 279],
        [3, 7, 8, 9, 10, 11, 12, 13, 15, 19, 46],
    ),
    "mrpc": (
        [7, 16, 19, 21, 23, 25, 27, 28, 30, 33, 47],
        [9, 16, 19, 21, 23, 25, 26, 28, 31, 33, 46],
    ),
    "mnli": ([1, 7, 10, 13, 16, 20, 24, 28, 34, 42, 139], [3, 6, 8, 9, 10, 11, 12, 14, 15, 18, 43]),
    "cola": ([3, 5, 6, 7, 8, 8, 9, 10, 12, 14, 28], [0]),
    "race": ([300], [12]),
    "story_cloze": ([46], [0]),
}
CHOICES = {"race": (4, 8), "story_cloze": (2, 10)}  # how many, and the tokens of each


def draw_rows(name: str, n_ctx: int, n_vocab: int, folder: Path, n: int = 256) -> dict[str, Any]:
    """Write `n` rows in a task's shape; returns the fields of `Work` that describe them."""
    random, spec = np.random.default_rng(0), task(name).spec
    n_choices, length = CHOICES.get(name, (0, 0))

    def text(length: int) -> np.ndarray:
        return _zipf(random, length, n_vocab).astype(np.int32)

    def texts(deciles: list[int]) -> list[np.ndarray]:
        at = random.uniform(0, len(deciles) - 1, n)
        return [text(round(x)) for x in np.interp(at, np.arange(len(deciles)), deciles)]

    first, second = map(texts, LENGTHS[name])
    choices = [[text(length) for _ in range(n_choices)] for _ in range(n)]
    n_labels = n_choices or spec.n_labels
    labels, empty = random.integers(0, n_labels, n), [""] * n
    split = EncodedSplit(empty, empty, labels, first, second, choices)
    rows = build_sequences(spec.family, split, SpecialTokens.after(n_vocab), n_ctx)
    path = folder / f"{name}.npz"
    np.savez(path, ids=rows.ids, lengths=rows.lengths, labels=labels)
    return {"data": str(path), "family": spec.family, "n_labels": n_labels}


def draw_corpus(folder: Path, n_vocab: int, n: int = 2_000_000) -> str:
    """Write a corpus of `n` tokens; returns the path of its `corpus.json`."""
    tokens = _zipf(np.random.default_rng(0), n, n_vocab).astype(DTYPE)
    folder.mkdir(parents=True, exist_ok=True)
    tokens.tofile(folder / "tokens.bin")
    split = {"file": "tokens.bin", "tokens": n, "sha256": sha256_file(folder / "tokens.bin")}
    split["source_bytes"] = 4 * n  # as of English text, about
    splits = {"train": split, "heldout": split}
    facts = {"tokenizer": "", "corpus": "books", "n_vocab": n_vocab, "documents": ""}
    write_json(folder / "corpus.json", {**facts, "splits": splits})
    return str(folder / "corpus.json")


def _zipf(random: np.random.Generator, n: int, n_vocab: int) -> np.ndarray:
    return random.zipf(1.2, n) % n_vocab
