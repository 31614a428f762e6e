"""The sides of a comparison: one process each, which take turns at the same work.

`Side` is the end of the benchmark, `Turns` that of the worker, which does updates when told to and
reports their rate.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import torch

from bench.work import Work
from gpt1.training.runtime import Runtime

ROOT = Path(__file__).parents[1]
HUGE_PAGES = {"THP_MEM_ALLOC_ENABLE": "1"}  # as the workflow's jobs have them


class WorkerError(Exception):
    """A worker ended early; the message has the last lines of its standard error."""


@dataclass(frozen=True)
class Turn:
    """A timed turn: rows or tokens a second, and the process's peak memory so far."""

    rate: float
    peak_mb: float


class Side:
    """A worker process, `python -m MODULE WORDS`, ready for its first turn.

    `precision` is the one it computes in. Raises WorkerError if the process ends early.
    """

    def __init__(self, module: str, *words: object, threads: int = 1):
        self.name = module
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  closed with the process
        self.process = subprocess.Popen(
            [sys.executable, "-m", module, *map(str, words)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            cwd=ROOT,
            env=os.environ | HUGE_PAGES | {"OMP_NUM_THREADS": str(threads)},
            text=True,
        )
        self.precision = self._answer()["ready"]

    def turn(self) -> Turn:
        """One turn of the worker."""
        assert self.process.stdin
        with suppress(BrokenPipeError):  # `_answer` says why
            print(file=self.process.stdin, flush=True)
        return Turn(**self._answer())

    def _answer(self) -> dict[str, Any]:
        line = self.process.stdout.readline() if self.process.stdout else ""
        if line:
            return json.loads(line)
        self.process.wait()
        self._errors.seek(0)
        said = " | ".join(self._errors.read().strip().splitlines()[-3:])
        self.__exit__()
        raise WorkerError(f"{self.name} ended with {self.process.returncode}: {said}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()
        self._errors.close()


def alternate(sides: Sequence[Side], rounds: int) -> list[list[Turn]]:
    """`rounds` turns of each side, one after the other; every second round is reversed."""
    turns: list[list[Turn]] = [[] for _ in sides]
    for number in range(rounds):
        order = range(len(sides))
        for i in reversed(order) if number % 2 else order:
            turns[i].append(sides[i].turn())
    return turns


class Turns:
    """A worker's channel to its `Side`, over standard input and output.

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
