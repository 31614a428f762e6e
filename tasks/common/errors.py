"""The end of a program: a user's mistake or a signal to stop is one line and an exit code."""

import contextlib
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

# What asks a program to stop. Slurm sends SIGTERM half a minute before it kills a job, and SIGUSR1
# as early as one likes (`--signal`); Ctrl-C sends SIGINT, and a terminal that closes SIGHUP.
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGHUP)
INTERRUPTED = 75  # EX_TEMPFAIL of sysexits.h: the same command may succeed later


class InputError(Exception):
    """Invalid user input. The message is one line: what is wrong, the value found, the remedy."""


class Interrupted(BaseException):
    """A signal asked the program to stop, which it did at a point from which it can go on.

    No Exception, as KeyboardInterrupt is none: it must not pass for the failure of a single step.
    """


def run(main: Callable[[], None]) -> int:
    """Run a program and return its exit code.

    An `InputError` or an error of the operating system (a missing file, a full disk) is printed as
    one line; every other exception is a bug and keeps its traceback. The code is 1, but INTERRUPTED
    for a program that a signal stopped: what it had finished is kept, so it can go on.
    """
    own = os.getpid()

    def stop(number: int, _frame: FrameType | None) -> None:
        if os.getpid() != own:  # in a process that a library has forked
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        answer_signals(signal.SIG_IGN)  # the same one often comes twice, and once is enough
        raise Interrupted(f"stopped by {signal.Signals(number).name}; start again to go on")

    before = answer_signals(stop)
    try:
        main()
    except InputError as error:
        return _complain(str(error))
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        return _complain(f"{error.strerror or error}{where}")
    except Interrupted as request:
        return _complain(str(request), INTERRUPTED)
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is stop:
                signal.signal(number, handler)
    return 0


def answer_signals(handler: Any) -> dict[signal.Signals, Any]:
    """Let `handler` answer the SIGNALS; returns the handlers that they had.

    Those that are ignored stay so: nohup has the program ignore SIGHUP.
    """
    heard = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    return {number: signal.signal(number, handler) for number in heard}


def _complain(message: str, code: int = 1) -> int:
    with contextlib.suppress(OSError):  # the reader of the messages may have been stopped as well
        print("error: " + " ".join(message.split()), file=sys.stderr, flush=True)
    return code
