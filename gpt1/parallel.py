"""Work on many books side by side, and word of how far it is."""

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any

from tasks.errors import InputError


def each(function: Callable[[Any], Any], jobs: Iterable[Any], threads: int) -> Iterator[Any]:
    """Results of all jobs, as they are done, from `threads` processes."""
    if threads == 1:
        yield from map(function, jobs)
        return
    pool = ProcessPoolExecutor(threads, mp_context=get_context("spawn"))
    try:
        for future in as_completed({pool.submit(function, job) for job in jobs}):
            yield future.result()
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
