"""Rows as every side of a comparison reads them: `.npz` files of padded token ids.

`ids` `[N, S, time]`, `lengths` `[N, S]`, `labels` `[N]`; multiple-choice rows for scoring hold
`first` `[N, time]`, `second` `[N, time]` and `choices` `[N, S, time]` besides. NumPy alone: no
worker waits for more than it needs.
"""

import json
from pathlib import Path

import numpy as np


class Batches:
    """Row numbers in batches, in the order of the file, beginning again at its end."""

    def __init__(self, n: int, size: int):
        self.n, self.size, self._done = n, min(size, n), 0

    def first(self) -> np.ndarray:
        """The first batch, without going on to the next."""
        return np.arange(self.size)

    def next(self) -> np.ndarray:
        """The next batch."""
        rows = (self._done * self.size + np.arange(self.size)) % self.n
        self._done += 1
        return rows


def corpus_tokens(corpus: str) -> np.ndarray:
    """The training tokens of a `corpus.json`, memory-mapped."""
    facts = json.loads(Path(corpus).read_text(encoding="utf-8"))
    return np.memmap(Path(corpus).parent / facts["splits"]["train"]["file"], "<u2", mode="r")


def texts(tokens: np.ndarray, lengths: np.ndarray, random: np.random.Generator) -> list[np.ndarray]:
    """For each of the lengths a text of so many tokens, from a random place of a corpus."""
    starts = random.integers(0, len(tokens) - lengths.max() + 1, len(lengths))
    return [np.array(tokens[s : s + n], np.int32) for s, n in zip(starts, lengths, strict=True)]


def drawn_lengths(deciles: list[int], n: int, random: np.random.Generator) -> np.ndarray:
    """`n` lengths of a distribution that is given by its smallest value, deciles and largest."""
    at = random.uniform(0, len(deciles) - 1, n)
    return np.interp(at, np.arange(len(deciles)), deciles).round().astype(int)
