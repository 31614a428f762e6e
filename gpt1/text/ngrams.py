"""Which n-grams of some texts occur in a long stream: exact, in bounded memory, near disk speed.

The texts are the small side: their n-grams are held, each with a 64-bit hash. The stream goes by in
blocks, as numpy arrays: the hash of an n-gram is rolled from the numbers of its symbols, a table of
bits turns nearly all of them away, a sorted array most of the rest, and what is left is compared
byte for byte. A collision of hashes therefore costs time and never makes a match.

A symbol is a BPE piece or a word. Words are hashed from the bytes of a whole block at once: with S
the running sum of byte * BASE**place, a word's number is (S[end] - S[start]) / BASE**start modulo
2**64.
"""

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO

import numpy as np

N = 13
PIECE = np.dtype("<u2")
# Odd, so that they have inverses modulo 2**64; else of no meaning.
BYTE_BASE = 0x9E3779B97F4A7C15
SYMBOL_BASE = 0xD1342543DE82EF95
MODULUS = 1 << 64
SLOTS = 64  # slots of the table for each n-gram that is looked for


@dataclass(frozen=True)
class Run:
    """Symbols in a row: symbol i is the bytes `data[starts[i]:ends[i]]`, its number `symbols[i]`.

    Numbers are uint64 [m]. Equal symbols have equal ones, different symbols nearly always others.
    """

    data: bytes
    starts: Sequence[int] | np.ndarray
    ends: Sequence[int] | np.ndarray
    symbols: np.ndarray

    def gram(self, at: int, n: int) -> bytes:
        """The n symbols from `at` on, exactly."""
        return self.data[self.starts[at] : self.ends[at + n - 1]]


def of_pieces(ids: np.ndarray) -> Run:
    """BPE pieces [m] as a run."""
    ids = np.asarray(ids).astype(PIECE, copy=False)
    size = PIECE.itemsize
    stop = size * len(ids)
    starts, ends = range(0, stop, size), range(size, stop + size, size)
    return Run(ids.tobytes(), starts, ends, ids.astype(np.uint64))


def of_words(text: bytes) -> Run:
    """Cleaned words in UTF-8 as a run: blanks and newlines part them.

    A newline is no symbol, since it stands where a file breaks its lines: a corpus with one
    sentence a line has the same words as a text that goes on.
    """
    data = text.replace(b"\n", b" ").strip(b" ")
    while b"  " in data:
        data = data.replace(b"  ", b" ")
    if not data:
        return Run(b"", (), (), np.empty(0, np.uint64))
    codes = np.frombuffer(data, np.uint8)
    blanks = np.flatnonzero(codes == ord(" "))
    starts = np.concatenate(([0], blanks + 1))
    ends = np.concatenate((blanks, [len(data)]))
    powers, inverses = _powers(1 << (len(data) - 1).bit_length())
    sums = np.zeros(len(data) + 1, np.uint64)
    np.cumsum(codes * powers[: len(data)], out=sums[1:])
    return Run(data, starts, ends, (sums[ends] - sums[starts]) * inverses[starts])


@functools.lru_cache(maxsize=4)
def _powers(length: int) -> tuple[np.ndarray, np.ndarray]:
    """BYTE_BASE to the powers 0 to length - 1 and their inverses, modulo 2**64."""
    bases = BYTE_BASE, pow(BYTE_BASE, -1, MODULUS)
    found = []
    for base in bases:
        powers = np.full(length, base, np.uint64)
        powers[0] = 1
        found.append(np.cumprod(powers))
    return found[0], found[1]


def rolling(symbols: np.ndarray, n: int = N) -> np.ndarray:
    """The hash of each n-gram [m - n + 1]: the sum of symbols[i + j] * SYMBOL_BASE**j mod 2**64.

    Runs of 1, 2, 4, ... symbols are hashed from one another, so that it takes log n steps.
    """
    count = max(len(symbols) - n + 1, 0)
    total = np.zeros(count, np.uint64)
    part, width, done = symbols, 1, 0
    while count and done < n:
        if n & width:
            total += part[done : done + count] * _power(done)
            done += width
        if done < n:
            part = part[:-width] + part[width:] * _power(width)
            width *= 2
    return total


def _power(exponent: int) -> np.uint64:
    return np.uint64(pow(SYMBOL_BASE, exponent, MODULUS))


class Grams:
    """The distinct n-grams of some texts, numbered from 0 in the order in which they came."""

    def __init__(self, n: int = N) -> None:
        self.n = n
        self.numbers: dict[bytes, int] = {}
        self.hashes: list[int] = []

    def __len__(self) -> int:
        return len(self.numbers)

    def add(self, run: Run) -> list[int]:
        """The numbers of a run's n-grams, in order; none of a run that is too short."""
        found = []
        for at, value in enumerate(rolling(run.symbols, self.n).tolist()):
            number = self.numbers.setdefault(run.gram(at, self.n), len(self.numbers))
            if number == len(self.hashes):
                self.hashes.append(value)
            found.append(number)
        return found


class Search:
    """A search for n-grams; `seen` [grams] tells which of them occurred so far."""

    def __init__(self, grams: Grams) -> None:
        self.n, self.numbers = grams.n, grams.numbers
        self.seen = np.zeros(len(grams), bool)
        hashes = np.array(grams.hashes, np.uint64)
        self.hashes, groups = np.unique(hashes, return_inverse=True)
        self.unseen = np.bincount(groups, minlength=len(self.hashes))  # n-grams of each hash
        bits = min(max(SLOTS * len(hashes), 2).bit_length(), 30)
        self.shift = np.uint64(64 - bits)
        slots = np.unique(self.hashes >> self.shift)
        self.table = np.zeros(max(1, (1 << bits) >> 3), np.uint8)
        np.bitwise_or.at(self.table, slots >> 3, np.uint8(1) << (slots & 7).astype(np.uint8))

    def scan(self, run: Run) -> None:
        """Note which n-grams occur in `run`."""
        if not len(self.hashes):
            return
        values = rolling(run.symbols, self.n)
        slots = (values >> self.shift).view(np.int64)
        bits = self.table[slots >> 3] >> (slots & 7).astype(np.uint8)
        places = np.flatnonzero((bits & 1).view(bool))
        values = values[places]
        groups = np.minimum(np.searchsorted(self.hashes, values), len(self.hashes) - 1)
        # A hash whose n-grams were all seen is let go: what is frequent is looked at once.
        real = (self.hashes[groups] == values) & (self.unseen[groups] > 0)
        for at, group in zip(places[real].tolist(), groups[real].tolist(), strict=True):
            number = self.numbers.get(run.gram(at, self.n))
            if number is not None and not self.seen[number]:
                self.seen[number] = True
                self.unseen[group] -= 1


def scan_pieces(
    search: Search, tokens: np.ndarray, newline: int | None = None, block: int = 1 << 15
) -> None:
    """Search a stream of BPE pieces [m], such as a memory map, `block` pieces at a time.

    The piece `newline` is passed over, as newlines are between words.
    """
    before = np.empty(0, PIECE)
    for start in range(0, len(tokens), block):
        here = np.concatenate((before, without(tokens[start : start + block], newline)))
        search.scan(of_pieces(here))
        before = here[max(len(here) - search.n + 1, 0) :]


def without(ids: np.ndarray, newline: int | None) -> np.ndarray:
    """Pieces [m] but those that are `newline`."""
    return ids if newline is None else ids[ids != newline]


def scan_words(search: Search, blocks: Iterator[bytes]) -> None:
    """Search a text given in blocks that end between two words, such as those of `word_blocks`."""
    before = b""
    for block in blocks:
        run = of_words(before + block)
        search.scan(run)
        if len(run.starts):
            before = run.data[run.starts[-min(search.n - 1, len(run.starts))] :] + b" "


def word_blocks(file: IO[bytes], block: int = 1 << 16) -> Iterator[bytes]:
    """A cleaned text in blocks of about `block` bytes, each ending between two words."""
    held = b""
    while read := file.read(block):
        held += read
        cut = max(held.rfind(b" "), held.rfind(b"\n")) + 1
        if cut:
            yield held[:cut]
            held = held[cut:]
    if held:
        yield held
