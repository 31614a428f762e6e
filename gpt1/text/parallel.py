"""Work on many books side by side, and word of how far it is."""

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, as_completed, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

from tasks.common.errors import InputError


@dataclass(frozen=True)
class Share:
    """One of `n` equal shares of some work, `number` counting from 1."""

    number: int
    n: int

    def of(self, jobs: list[Any]) -> list[Any]:
        """Every n-th job."""
        return jobs[self.number - 1 :: self.n]


def each(function: Callable[[Any], Any], jobs: Iterable[Any], threads: int) -> Iterator[Any]:
    """Results of all jobs, as they are done, from `threads` processes.

    Few results wait at a time, however many jobs there are.
    """
    if threads == 1:
        yield from map(function, jobs)
        return
    pool = ProcessPoolExecutor(threads, mp_context=get_context("spawn"))
    try:
        waiting: set[Future[Any]] = set()
        for job in jobs:
            if len(waiting) >= 4 * threads:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
            waiting.add(pool.submit(function, job))
        yield from (future.result() for future in as_completed(waiting))
    except BrokenProcessPool:
        raise InputError(
            f"--threads {threads}: a worker was killed, most likely for want of memory; use fewer"
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


class Progress:
    """Prints how far a folder is, every few seconds."""

    def __init__(self, verb: str, n_books: int, every: float = 5.0) -> None:
        self.verb, self.n_books, self.every = verb, n_books, every
        self.books = self.size = 0
        self.start = self.told = time.monotonic()

    def add(self, size: int) -> None:
        self.books += 1
        self.size += size
        now = time.monotonic()
        if now - self.told >= self.every:
            self.told = now
            rate = self.size / 1e6 / (now - self.start)
            print(
                f"{self.verb} {self.books:,} of {self.n_books:,} books, "
                f"{self.size / 1e6:,.1f} MB, {rate:.2f} MB/s",
                flush=True,
            )
