"""The sides of a comparison: one process each, which take turns at the same work."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

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
