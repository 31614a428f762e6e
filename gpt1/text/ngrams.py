"""Which n-grams of some texts occur in a long stream: exact, in bounded memory, near disk speed.

The texts are the small side: their n-grams are kept, each with a 64-bit hash. The stream is read in
blocks, as numpy arrays: the hash of an n-gram is rolled from the numbers of its symbols, a bit
table rejects nearly all of them, a sorted array most of the rest, and what remains is compared byte
for byte. A collision of hashes therefore costs time and never makes a match.

A symbol is a BPE token or a word. Words are hashed from the bytes of a whole block at once: with S
the running sum of byte * BASE**place, a word's number is (S[end] - S[start]) / BASE**start modulo
2**64.
"""

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO

import numpy as np

N = 13
TOKEN = np.dtype("<u2")
# Odd, so that they have inverses modulo 2**64; otherwise arbitrary.
BYTE_BASE = 0x9E3779B97F4A7C15
SYMBOL_BASE = 0xD1342543DE82EF95
MODULUS = 1 << 64
SLOTS = 64  # bits of the table per n-gram that is searched for


@dataclass(frozen=True)
class Run:
    """Symbols in a row: symbol i is the bytes `data[starts[i]:ends[i]]`, its number `symbols[i]`.

    Numbers are uint64 [m]: equal for equal symbols, different for nearly all different ones.
    """

    data: bytes
    starts: Sequence[int] | np.ndarray
    ends: Sequence[int] | np.ndarray
    symbols: np.ndarray

    def gram(self, at: int, n: int) -> bytes:
        """The bytes of the n symbols from `at` on."""
        return self.data[self.starts[at] : self.ends[at + n - 1]]


def of_tokens(ids: np.ndarray) -> Run:
    """BPE tokens [m] as a run."""
    ids = np.asarray(ids).astype(TOKEN, copy=False)
    size = TOKEN.itemsize
    stop = size * len(ids)
    starts, ends = range(0, stop, size), range(size, stop + size, size)
    return Run(ids.tobytes(), starts, ends, ids.astype(np.uint64))


def of_words(text: bytes) -> Run:
    """Normalised words in UTF-8, separated by spaces and newlines, as a run.

    A newline is no symbol, since it depends on how a file breaks its lines: a corpus with one
    sentence per line has the same words as continuous text.
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
    tables = []
    for base in bases:
        powers = np.full(length, base, np.uint64)
        powers[0] = 1
        tables.append(np.cumprod(powers))
    return tables[0], tables[1]


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
    """The distinct n-grams of some texts, numbered from 0 in order of first occurrence."""

    def __init__(self, n: int = N) -> None:
        self.n = n
        self.numbers: dict[bytes, int] = {}
        self.hashes: list[int] = []

    def __len__(self) -> int:
        return len(self.numbers)

    def add(self, run: Run) -> list[int]:
        """The numbers of a run's n-grams, in order; empty for a run that is too short."""
        numbers = []
        for at, value in enumerate(rolling(run.symbols, self.n).tolist()):
            number = self.numbers.setdefault(run.gram(at, self.n), len(self.numbers))
            if number == len(self.hashes):
                self.hashes.append(value)
            numbers.append(number)
        return numbers


class Search:
    """A search for n-grams; `seen` [grams] marks those that have occurred so far."""

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
        """Mark the n-grams that occur in `run`."""
        if not len(self.hashes):
            return
        values = rolling(run.symbols, self.n)
        slots = (values >> self.shift).view(np.int64)
        bits = self.table[slots >> 3] >> (slots & 7).astype(np.uint8)
        places = np.flatnonzero((bits & 1).view(bool))
        values = values[places]
        groups = np.minimum(np.searchsorted(self.hashes, values), len(self.hashes) - 1)
        # A hash whose n-grams were all seen is skipped: frequent n-grams are compared only once.
        unseen = (self.hashes[groups] == values) & (self.unseen[groups] > 0)
        for at, group in zip(places[unseen].tolist(), groups[unseen].tolist(), strict=True):
            number = self.numbers.get(run.gram(at, self.n))
            if number is not None and not self.seen[number]:
                self.seen[number] = True
                self.unseen[group] -= 1


def scan_tokens(
    search: Search, tokens: np.ndarray, newline: int | None = None, block: int = 1 << 15
) -> None:
    """Search a stream of BPE tokens [m], such as a memory map, `block` tokens at a time.

    The token `newline` is skipped, as newlines between words are.
    """
    before = np.empty(0, TOKEN)
    for start in range(0, len(tokens), block):
        here = np.concatenate((before, without(tokens[start : start + block], newline)))
        search.scan(of_tokens(here))
        before = here[max(len(here) - search.n + 1, 0) :]


def without(ids: np.ndarray, newline: int | None) -> np.ndarray:
    """The tokens [m] that are not `newline`."""
    return ids if newline is None else ids[ids != newline]


def scan_words(search: Search, blocks: Iterator[bytes]) -> None:
    """Search a text, given in blocks that end between two words as those of `word_blocks` do."""
    before = b""
    for block in blocks:
        run = of_words(before + block)
        search.scan(run)
        if len(run.starts):
            before = run.data[run.starts[-min(search.n - 1, len(run.starts))] :] + b" "


def word_blocks(file: IO[bytes], block: int = 1 << 16) -> Iterator[bytes]:
    """A normalised text in blocks of about `block` bytes, each ending between two words."""
    held = b""
    while read := file.read(block):
        held += read
        cut = max(held.rfind(b" "), held.rfind(b"\n")) + 1
        if cut:
            yield held[:cut]
            held = held[cut:]
    if held:
        yield held
