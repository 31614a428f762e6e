"""How a program ends: a user's mistake, a lack of memory or a signal is one line and a code."""

import contextlib
import functools
import os
import re
import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

# What asks a program to stop. Slurm sends SIGTERM half a minute before it kills a job, and SIGUSR1
# as early as one likes (`--signal`); Ctrl-C sends SIGINT, and a terminal that closes SIGHUP.
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGHUP)
INTERRUPTED = 75  # EX_TEMPFAIL of sysexits.h: the same command may succeed later

MORE_MEMORY = "run fewer jobs at once, or use a machine or device with more memory"
NO_MEMORY = re.compile(r"out of memory|can(no|')t allocate memory|ALLOC_FAILED", re.IGNORECASE)
ASKED = re.compile(r"(?:allocate|malloc of size) ([\d.]+(?: [KMGTPE]?i?B| bytes)?)")


class InputError(Exception):
    """Invalid user input. The message is one line: what is wrong, the value found, the remedy."""


def make_again(path: str | Path) -> str:
    """The remedy for a damaged or missing file of a run's results.

    Snakemake takes any existing file for a good one, and does not miss a file as long as what was
    made from it exists, so it has to be told. RUN_OPTIONS are the options that chose the config.
    """
    options = os.environ.get("RUN_OPTIONS", "")
    return f"make it again: snakemake --cores 1 --force {shlex.quote(str(path))} {options}".strip()


class Interrupted(BaseException):
    """A signal asked the program to stop, which it did at a point from which it can go on.

    Like KeyboardInterrupt it is not an Exception: it must not pass for the failure of one step.
    """


def run(main: Callable[[], None]) -> int:
    """Run a program and return its exit code.

    An `InputError`, a lack of memory or an error of the operating system (a missing file, a full
    disk) is printed as one line; every other exception is a bug and keeps its traceback. The code
    is 1, but INTERRUPTED for a program that a signal stopped: what it had finished is kept, so it
    can go on.
    """

    def stop(number: int, _frame: FrameType | None) -> None:
        answer_signals(signal.SIG_IGN)  # the same one often comes twice, and once is enough
        raise Interrupted(_stopped_by(number))

    _leave_forks_alone()
    before = answer_signals(stop)
    try:
        main()
    except InputError as error:
        return _complain(str(error))
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        return _complain(f"{error.strerror or error}{where}")
    except (MemoryError, RuntimeError) as error:
        if not (fault := memory_fault(error)):
            raise
        return _complain(f"{fault}; {MORE_MEMORY}")
    except Interrupted as request:
        return _complain(str(request), INTERRUPTED)
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is stop:
                signal.signal(number, handler)
    return 0


@functools.cache
def _leave_forks_alone() -> None:
    """Let signals end the processes that libraries fork, at once, as if no program answered them.

    Python answers a signal between two steps of its own, so a worker that waits for a lock when it
    is ended would wait for ever, and the program for it.
    """

    def forget() -> None:
        for number in SIGNALS:
            if getattr(signal.getsignal(number), "__module__", None) == __name__:
                signal.signal(number, signal.SIG_DFL)

    os.register_at_fork(after_in_child=forget)


@contextlib.contextmanager
def importing(module: str) -> Iterator[None]:
    """Let a signal to stop, or a package that is missing, end a program that imports with one line.

    It wraps the imports of a program; `module` is the program's `__name__`. It does nothing where
    the program is itself imported.
    """

    def stop(number: int, _frame: FrameType | None) -> None:
        answer_signals(signal.SIG_IGN)
        os._exit(_complain(_stopped_by(number), INTERRUPTED))  # past what is half imported

    before = answer_signals(stop) if module == "__main__" else {}
    try:
        yield
    except ModuleNotFoundError as error:
        if module != "__main__":
            raise
        remedy = "make install, then: source .venv/bin/activate"
        sys.exit(_complain(f"{sys.executable} has no package {error.name}; {remedy}"))
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def answer_signals(handler: Any) -> dict[signal.Signals, Any]:
    """Let `handler` answer the SIGNALS; returns the handlers that they had.

    Signals that are ignored stay ignored: nohup has the program ignore SIGHUP.
    """
    heard = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    return {number: signal.signal(number, handler) for number in heard}


@contextlib.contextmanager
def within_memory(work: str, remedy: str = MORE_MEMORY) -> Iterator[None]:
    """Raise InputError, with the remedy, where the memory does not suffice for `work`."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not (fault := memory_fault(error)):
            raise
        raise InputError(f"{work}: {fault}; {remedy}") from None


def memory_fault(error: BaseException) -> str:
    """Says that memory ran out, and how much was asked for; empty for any other error.

    PyTorch raises RuntimeError on a CPU and a subclass of it on a GPU; NumPy and Arrow raise
    MemoryError.
    """
    said = str(error)
    if not isinstance(error, MemoryError) and not NO_MEMORY.search(said):
        return ""
    asked = ASKED.search(said)
    return "out of memory" + (f" ({asked[1]} asked for)" if asked else "")


def _stopped_by(number: int) -> str:
    return f"stopped by {signal.Signals(number).name}; start again to resume"


def _complain(message: str, code: int = 1) -> int:
    """Print the message to stderr, or, where that is a log on a full disk, to that of the run."""
    line = "error: " + " ".join(message.split())
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        with (
            contextlib.suppress(OSError),  # who reads the messages may have been stopped as well
            open(f"/proc/{os.environ.get('RUN_PID', 'self')}/fd/2", "a", encoding="utf-8") as file,
        ):
            print(line, file=file)
    return code
