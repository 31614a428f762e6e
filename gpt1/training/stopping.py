"""Signals that ask a long program to stop, which saves its state first.

Slurm sends SIGTERM half a minute before it kills a job, and SIGUSR1 as early as one likes
(`--signal`); Ctrl-C sends SIGINT.
"""

import signal
from types import FrameType
from typing import Self

from tasks.common.errors import Interrupted

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1)


class StopRequest:
    """A context in which the signals are noted instead of ending the process.

    Enter it in the main thread. One that does not `heed` them leaves the decision to another
    process of the run.
    """

    def __init__(self, heed: bool = True) -> None:
        self.heed = heed
        self.name = ""  # of the signal that came, empty until then

    def __enter__(self) -> Self:
        self._handlers = {number: signal.signal(number, self._note) for number in SIGNALS}
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.name = signal.Signals(number).name

    def check(self) -> None:
        """Raise Interrupted if a signal has come."""
        if self.name and self.heed:
            raise Interrupted(f"stopped by {self.name}")
