"""A worker's part in a comparison: it does updates when told to, and reports their rate."""

import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Generator
from typing import Any

import torch

from bench.work import Work
from gpt1.training.runtime import Runtime


class Turns:
    """The worker's channel to `bench.sides`, over standard input and output.

    Library output goes to standard error instead. A turn begins with an update that is not timed,
    since the other sides' turns have emptied the caches.
    """

    def __init__(self, work: Work) -> None:
        self._work, self._out = work, os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)
        self.runtime = Runtime(**work.runtime)
        self.runtime.start()

    def begin(self, precision: str) -> None:
        """Report that the worker is ready, and wait for the first turn."""
        self._course = self._updates(precision)
        next(self._course)

    def done(self, amount: int) -> bool:
        """Count an update on `amount` rows or tokens, and wait if it ends a turn.

        Returns False after the last turn.
        """
        try:
            self._course.send(amount)
        except StopIteration:
            return False
        return True

    def repeat(self, update: Callable[[], int], precision: str) -> None:
        """Run all turns of `update`, which returns how many rows or tokens it processed."""
        self.begin(precision)
        while self.done(update()):
            pass

    def _updates(self, precision: str) -> Generator[None, int, None]:
        self._say(ready=precision)
        for _ in range(self._work.rounds):
            if not sys.stdin.readline():
                return  # the parent has ended, so the worker does
            yield
            started, done = self._now(), 0
            for _ in range(self._work.steps):
                done += yield
            rate = done / (self._now() - started)
            self._say(rate=rate, peak_mb=self.runtime.peak_mb())

    def _now(self) -> float:
        if self.runtime.device.startswith("cuda"):  # CUDA calls return before they are done
            torch.cuda.synchronize()
        return time.perf_counter()

    def _say(self, **values: Any) -> None:
        print(json.dumps(values), file=self._out, flush=True)


def quicker(update: Callable[[str], None]) -> str:
    """The precision that makes `update` faster: "float32" or "bfloat16", which it is given.

    Compares the medians of three alternating updates, after a warm-up of one each.
    """
    seconds: dict[str, list[float]] = {"float32": [], "bfloat16": []}
    for _ in range(4):
        for precision, taken in seconds.items():
            started = time.perf_counter()
            update(precision)
            taken.append(time.perf_counter() - started)
    return min(seconds, key=lambda name: statistics.median(seconds[name][1:]))
