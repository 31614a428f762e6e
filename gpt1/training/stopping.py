"""Stop signals for a long program, which saves its state and ends at a point of its own choice."""

import os
import signal
from types import FrameType
from typing import Self

from tasks.common.programs import Interrupted, answer_signals


class StopRequest:
    """A context in which stop signals are noted instead of ending the process.

    Enter it in the main thread.
    """

    def __init__(self) -> None:
        self.name = ""  # of the signal received; empty until then

    def __enter__(self) -> Self:
        self._handlers = answer_signals(self._note)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.name = signal.Signals(number).name

    def check(self) -> None:
        """Raise Interrupted if a signal has been received."""
        if self.name:
            raise Interrupted(f"stopped by {self.name}")


def leave_signals_to_the_first() -> None:
    """Ignore the signals in all but the first of several processes, which decides when to stop."""
    if "TORCHELASTIC_RUN_ID" in os.environ and os.environ.get("RANK", "0") != "0":
        answer_signals(signal.SIG_IGN)
