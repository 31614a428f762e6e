"""A worker's half of a comparison: it works when it is told to, and says how long that took.

The workers of one comparison take turns, so that whatever else the machine does meets all alike.
"""

import contextlib
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from bench.job import Job, Rows

TIMED = 3  # updates of a precision, to find the quicker one


class Turns:
    """The worker's line to `bench.sides`, by standard input and output.

    What libraries print goes to standard error instead.
    """

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)
        self._started = 0.0
        self.say(started=True)

    def say(self, **values: Any) -> None:
        """Send one line."""
        print(json.dumps(values), file=self._out, flush=True)

    def each(self, files: Iterable[Rows]) -> Iterator[Rows]:
        """The files of rows, each when the worker may prepare: another might be in its turn."""
        for rows in files:
            self.wait()
            yield rows

    def wait(self) -> None:
        """Wait for the word to begin; the parent's end is the worker's."""
        if not sys.stdin.readline():
            sys.exit()
        self._started = time.perf_counter()

    def done(self, work: float) -> None:
        """Report the time that passed, the work done in it (rows, tokens) and peak memory."""
        seconds = time.perf_counter() - self._started
        self.say(seconds=seconds, work=work, peak_mb=peak_mb())

    def restart(self) -> None:
        """Forget the time since `wait`: what comes now is timed."""
        self._started = time.perf_counter()

    def take(self, job: Job, work: Callable[[int], float], note: str = "") -> None:
        """The job's warm-up and turns of `work`, which does so many steps and returns the work."""
        if job.warm_up:
            work(job.warm_up)
        self.say(ready=note)
        for _ in range(job.rounds):
            self.wait()
            if job.untimed:
                work(job.untimed)
                self.restart()
            self.done(work(job.steps))


def quicker(update: Callable[[str], None]) -> str:
    """float32 or bfloat16: whichever takes less for an update, which is given its name.

    By the medians of three alternating updates, after one of each to warm up.
    """
    seconds: dict[str, list[float]] = {"float32": [], "bfloat16": []}
    for _ in range(1 + TIMED):
        for precision, found in seconds.items():
            started = time.perf_counter()
            update(precision)
            found.append(time.perf_counter() - started)
    return min(seconds, key=lambda name: statistics.median(seconds[name][1:]))


def peak_mb(pid: int | str = "self") -> float:
    """Peak memory of a process in MB; of this one, if it computes on a GPU, PyTorch's on the card.

    Not `ru_maxrss` on Linux, which a process inherits from the one that started it. 0 for a process
    that has ended, or for another one where there is no /proc.
    """
    torch = sys.modules.get("torch")
    if pid == "self" and torch is not None and torch.cuda.is_initialized():
        return torch.cuda.max_memory_reserved() / 2**20
    with contextlib.suppress(OSError):
        lines = Path(f"/proc/{pid}/status").read_text("ascii", "replace").splitlines()
        return next((int(s.split()[1]) / 1024 for s in lines if s.startswith("VmHWM")), 0.0)
    if pid != "self":
        return 0.0
    import resource

    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
