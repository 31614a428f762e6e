"""Find the rows that share an n-gram with a long stream of symbols: exact, in one pass over it.

The rows' n-grams are kept in memory; the stream is read in blocks. A hash table picks candidate
places, which are then compared symbol by symbol, so a hash collision costs time but never makes a
match.
"""

from collections.abc import Hashable, Iterable
from functools import cached_property

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

N = 13
SYMBOL = np.int32  # a word's number
HASH_BASE = np.uint64(0xD1342543DE82EF95)  # odd; otherwise arbitrary
HASH_BITS = 26  # a table of 64 MB


class Search:
    """Rows with their n-grams, and the rows that scans have found.

    `contaminated`: the rows that share an n-gram with what has been scanned so far.
    """

    def __init__(self, n: int = N) -> None:
        self.n = n
        self.contaminated: set[Hashable] = set()
        self._rows: dict[bytes, list[Hashable]] = {}  # by n-gram, for n-grams not found yet

    def add(self, row: Hashable, texts: Iterable[np.ndarray]) -> None:
        """Add a row with its texts (symbols [m]). Add all rows before the first scan."""
        arrays = [np.asarray(text, SYMBOL) for text in texts]
        ngrams = {a[i : i + self.n].tobytes() for a in arrays for i in range(len(a) - self.n + 1)}
        for ngram in ngrams:
            self._rows.setdefault(ngram, []).append(row)

    def scan(self, blocks: Iterable[np.ndarray]) -> None:
        """Search a stream, given as consecutive blocks of symbols [m]."""
        before = np.empty(0, SYMBOL)
        for block in blocks:
            symbols = np.concatenate((before, block.astype(SYMBOL, copy=False)))
            before = symbols[max(len(symbols) - self.n + 1, 0) :]
            if len(symbols) >= self.n:
                hashes = self._hashes(sliding_window_view(symbols, self.n))
                for i in np.flatnonzero(self._table[hashes]).tolist():
                    ngram = symbols[i : i + self.n].tobytes()
                    self.contaminated.update(self._rows.pop(ngram, ()))

    @cached_property
    def _table(self) -> np.ndarray:
        """For each hash, whether an n-gram of the rows has it: bool [2**HASH_BITS]."""
        table = np.zeros(1 << HASH_BITS, bool)
        symbols = np.frombuffer(b"".join(self._rows), SYMBOL)
        table[self._hashes(symbols.reshape(-1, self.n))] = True
        return table

    def _hashes(self, ngrams: np.ndarray) -> np.ndarray:
        """The upper bits of the sum of ngrams[:, j] * HASH_BASE**j modulo 2**64, int64 [m]."""
        sums = ngrams.astype(np.uint64) @ HASH_BASE ** np.arange(self.n, dtype=np.uint64)
        return (sums >> np.uint64(64 - HASH_BITS)).astype(np.int64)
