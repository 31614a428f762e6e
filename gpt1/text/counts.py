"""Word counts in bounded memory: when there are too many words, sorted files take them.

The files are merged at the end, so that the result is the same however many there were.
"""

import heapq
import itertools
import operator
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from tasks.common.files import write_atomic

MOST_WORDS = 1_000_000  # in memory, about 250 MB

Row = tuple[str, int]


class WordCounts:
    """Adds up counts of words; `folder` takes the files, and goes when the block ends."""

    def __init__(self, folder: Path, most: int = MOST_WORDS) -> None:
        self.folder, self.most = folder, most
        self.counts: Counter[str] = Counter()
        self.files: list[Path] = []
        self._numbers = itertools.count()

    def __enter__(self) -> "WordCounts":
        shutil.rmtree(self.folder, ignore_errors=True)  # of a run that was killed
        return self

    def __exit__(
        self, kind: type | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def add(self, counts: Mapping[str, int]) -> None:
        """Add the counts of a part of the corpus."""
        self.counts.update(counts)
        if len(self.counts) > self.most:
            self._spill()

    def write(self, path: Path) -> int:
        """Write lines "word<TAB>count", the most frequent first, else by code point; returns how
        many there are."""
        n_types = 0
        with write_atomic(path) as file:
            for word, count in self._sorted(self._totals(), _by_frequency):
                file.write(f"{word}\t{count}\n")
                n_types += 1
        return n_types

    def _totals(self) -> Iterator[Row]:
        if not self.files:
            yield from self.counts.items()
            return
        self._spill()
        rows = heapq.merge(*map(_read, self.files))
        for word, same in itertools.groupby(rows, operator.itemgetter(0)):
            yield word, sum(count for _, count in same)

    def _spill(self) -> None:
        self.files.append(self._save(sorted(self.counts.items())))
        self.counts.clear()

    def _sorted(self, rows: Iterator[Row], key: Callable[[Row], Any]) -> Iterable[Row]:
        """Sort rows of any number, at most `most` at a time in memory."""
        files: list[Path] = []
        while part := sorted(itertools.islice(rows, self.most + 1), key=key):
            if not files and len(part) <= self.most:
                return part
            files.append(self._save(part))
        return heapq.merge(*map(_read, files), key=key)

    def _save(self, rows: Iterable[Row]) -> Path:
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{next(self._numbers)}.tsv"
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{word}\t{count}\n" for word, count in rows)
        return path


def _read(path: Path) -> Iterator[Row]:
    with open(path, encoding="utf-8", newline="\n") as file:
        for line in file:
            word, _, count = line.rstrip("\n").partition("\t")
            yield word, int(count)


def _by_frequency(row: Row) -> tuple[int, str]:
    return -row[1], row[0]
