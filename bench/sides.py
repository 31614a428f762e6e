"""The sides of a comparison: a process each, which take turns at the same work."""

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).parents[1]


class WorkerError(Exception):
    """A worker ended before its time; the last lines of what it said."""


@dataclass(frozen=True)
class Turn:
    """One timed turn: seconds, the work done in it and the process's peak memory so far."""

    seconds: float
    work: float
    peak_mb: float

    @property
    def rate(self) -> float:
        """Work per second."""
        return self.work / self.seconds


@dataclass(frozen=True)
class Ratio:
    """Our rate over the other's: the median of the rounds, the smallest and the largest."""

    ours: float
    other: float
    median: float
    low: float
    high: float

    @classmethod
    def of(cls, ours: Sequence[Turn], other: Sequence[Turn]) -> Self:
        """The ratios of turns that followed each other."""
        ratios = [a.rate / b.rate for a, b in zip(ours, other, strict=True)]
        rates = (statistics.median(turn.rate for turn in side) for side in (ours, other))
        return cls(*rates, statistics.median(ratios), min(ratios), max(ratios))


HUGE_PAGES = {"THP_MEM_ALLOC_ENABLE": "1"}  # as the workflow's jobs have them; for both sides


class Side:
    """A worker process: `python -m MODULE WORDS`, by default with this checkout's code.

    Raises WorkerError if it ends before its time.
    """

    def __init__(self, module: str, *words: object, threads: int = 1, code: Path = ROOT):
        self.name = module
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  closed with the process
        path = [str(code), str(ROOT)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", module, *map(str, words)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            cwd=code,
            env=os.environ
            | {"PYTHONPATH": os.pathsep.join(path), "OMP_NUM_THREADS": str(threads)}
            | {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
            | HUGE_PAGES,
            text=True,
        )
        self._answer()  # it has imported what it needs

    def _answer(self) -> dict[str, Any]:
        line = self.process.stdout.readline() if self.process.stdout else ""
        if line:
            return json.loads(line)
        self.process.wait()
        self._errors.seek(0)
        said = " | ".join(self._errors.read().strip().splitlines()[-3:])
        raise WorkerError(f"{self.name} ended with {self.process.returncode}: {said}")

    def ready(self) -> str:
        """Let the worker prepare and warm up on its next rows; returns its note."""
        self.begin()
        return self._answer()["ready"]

    def turn(self) -> Turn:
        """One turn of the worker."""
        self.begin()
        return self.finish()

    def begin(self) -> None:
        """Tell the worker to begin what comes next, its preparation or a turn."""
        assert self.process.stdin
        with contextlib.suppress(BrokenPipeError):  # `_answer` says why
            print(file=self.process.stdin, flush=True)

    def finish(self) -> Turn:
        """Wait until the worker's turn is done."""
        return Turn(**self._answer())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()
        self._errors.close()


def alternate(sides: Sequence[Side], rounds: int) -> tuple[list[list[Turn]], list[str]]:
    """`rounds` turns of each side, one after the other, and the sides' notes.

    They prepare one after the other as well, for each may time what suits it. The order turns
    round with every round, so that none always comes first.
    """
    notes = [side.ready() for side in sides]
    turns: list[list[Turn]] = [[] for _ in sides]
    for number in range(rounds):
        order = range(len(sides))
        for i in reversed(order) if number % 2 else order:
            turns[i].append(sides[i].turn())
    return turns, notes
