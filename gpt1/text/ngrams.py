"""Which rows share an n-gram with a long stream of symbols: exact, in one pass over the stream.

The rows' n-grams are kept in memory, the stream passes in blocks. A sorted array of hashes picks
the places worth a look, which are then compared symbol by symbol: a collision of hashes costs time
and never makes a match.
"""

from collections.abc import Hashable, Iterable
from functools import cached_property

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

N = 13
SYMBOL = np.int32  # a BPE token's id or a word's number
HASH_BASE = np.uint64(0xD1342543DE82EF95)  # odd; otherwise arbitrary


class Search:
    """Rows and their n-grams, and what a scan found of them.

    `contaminated`: rows that share an n-gram with what was scanned so far; `too_short`: rows
    without any n-gram.
    """

    def __init__(self, n: int = N) -> None:
        self.n = n
        self.contaminated: set[Hashable] = set()
        self.too_short: set[Hashable] = set()
        self._rows: dict[bytes, list[Hashable]] = {}  # of each n-gram that was not found yet

    def add(self, row: Hashable, texts: Iterable[np.ndarray]) -> None:
        """Add a row of these texts (symbols [m]). All rows are added before the first scan."""
        arrays = [np.asarray(text, SYMBOL) for text in texts]
        ngrams = {a[i : i + self.n].tobytes() for a in arrays for i in range(len(a) - self.n + 1)}
        for ngram in ngrams:
            self._rows.setdefault(ngram, []).append(row)
        if not ngrams:
            self.too_short.add(row)

    def scan(self, blocks: Iterable[np.ndarray]) -> None:
        """Search a stream, given as consecutive blocks of symbols [m]."""
        before = np.empty(0, SYMBOL)
        for block in blocks:
            symbols = np.concatenate((before, block.astype(SYMBOL, copy=False)))
            before = symbols[max(len(symbols) - self.n + 1, 0) :]
            if len(symbols) < self.n or not len(self._known):
                continue
            hashes = self._hashes(sliding_window_view(symbols.astype(np.uint64), self.n))
            at = np.searchsorted(self._known, hashes) % len(self._known)
            for i in np.flatnonzero(self._known[at] == hashes).tolist():
                self.contaminated.update(self._rows.pop(symbols[i : i + self.n].tobytes(), ()))

    @cached_property
    def _known(self) -> np.ndarray:
        """The sorted hashes of the rows' n-grams."""
        symbols = np.frombuffer(b"".join(self._rows), SYMBOL).reshape(-1, self.n)
        return np.unique(self._hashes(symbols.astype(np.uint64)))

    def _hashes(self, ngrams: np.ndarray) -> np.ndarray:
        """The sum of ngrams[:, j] * HASH_BASE**j modulo 2**64, uint64 [m]."""
        return ngrams @ HASH_BASE ** np.arange(self.n, dtype=np.uint64)
