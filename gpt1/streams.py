"""Random numbers: every purpose has a stream of its own, a function of its seed.

The purpose is part of a stream's seed, so that two purposes with equal seeds do not draw the same
numbers: say, the initial weights of a language model in pre-training and those of a fresh layer in
fine-tuning. (NumPy's own seeding would not do, since it takes `[7, 0]` for the same as 7.)
"""

import hashlib
from typing import Literal

import numpy as np

Purpose = Literal[
    "first values of pre-training",  # seed
    "windows",  # seed, update
    "dropout of pre-training",  # seed, update, the micro-batch's first window
    "first values of fine-tuning",  # seed
    "share of the training rows",  # seed
    "order of an epoch",  # seed, epoch
    "dropout of fine-tuning",  # seed, update
    "sample of rows",
    "special tokens of published weights",  # seed
    "order of words",  # of a shuffled document, by its name
    "order of sentences",  # of a shuffled split, by its name
    "rows of the embedding",  # that are exchanged; seed
    "continuation of a text",  # seed
]


def stream(purpose: Purpose, *of: int | str) -> np.random.Generator:
    """A generator of a purpose's random numbers; `of` has the values listed with `Purpose`."""
    return np.random.default_rng(_entropy(purpose, *of))


def drawn_rows(n: int, share: float, seed: int) -> np.ndarray:
    """The rows, of `n`, that a run on a share of the training rows is trained on; at least one.

    With the same seed, the rows of a smaller share are among those of a larger one.
    """
    order = stream("share of the training rows", seed).permutation(n)
    return order[: max(1, round(share * n))]


def torch_seed(purpose: Purpose, *of: int | str) -> int:
    """The seed, below 2^63, of a PyTorch generator for the same purpose and numbers."""
    return _entropy(purpose, *of) % 2**63


def _entropy(*words: int | str) -> int:
    plain = tuple(word if isinstance(word, str) else int(word) for word in words)
    return int.from_bytes(hashlib.sha256(repr(plain).encode()).digest())
