"""The programs of a package, and how one ends: a signal or an error is one line and a code."""

import ast
import contextlib
import difflib
import functools
import importlib
import importlib.util
import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from tasks.common.errors import MORE_MEMORY, InputError, memory_fault

# What asks a program to stop. Slurm sends SIGTERM half a minute before it kills a job, and SIGUSR1
# as early as one likes (`--signal`); Ctrl-C sends SIGINT, and a terminal that closes SIGHUP.
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGHUP)
INTERRUPTED = 75  # EX_TEMPFAIL of sysexits.h: the same command may succeed later


class Interrupted(BaseException):
    """A signal asked the program to stop, which it did at a point from which it can go on.

    Like KeyboardInterrupt it is not an Exception: it must not pass for the failure of one step.
    """


def door(package: str, modules: Mapping[str, str]) -> int:
    """Run `python -m PACKAGE PROGRAM ...` and return its exit code, as `start` does.

    `modules` has the module of each program; --help lists them with the first lines of their
    docstrings.
    """
    name = sys.argv[1] if len(sys.argv) > 1 else "--help"
    if name in ("-h", "--help"):
        print(f"usage: python -m {package} PROGRAM ...\n")
        print("\n".join(f"  {name:14} {_summary(module)}" for name, module in modules.items()))
        return 0
    if name not in modules:
        near = difflib.get_close_matches(name, modules, n=1)
        remedy = f"did you mean {near[0]}?" if near else f"there are {', '.join(modules)}"
        return _complain(f"python -m {package} {name}: no such program; {remedy}")
    sys.argv[:2] = [f"python -m {package} {name}"]
    return start(modules[name])


def show_door(package: str) -> None:
    """End `python -m PACKAGE.MODULE` of a program, which would do nothing, with the right command.

    To be called when the package is imported: while Python looks for the module, argv[0] is "-m".
    """
    if sys.argv[:1] != ["-m"]:
        return
    asked = sys.orig_argv[-len(sys.argv)].removeprefix("-m")  # before the program's own arguments
    if not asked.startswith(f"{package}.") or asked.endswith(".__main__"):
        return
    programs = importlib.import_module(f"{package}.__main__").PROGRAMS
    for name in [name for name, module in programs.items() if module == asked]:
        sys.exit(_complain(f"python -m {asked}: give python -m {package} {name}", 2))


def _summary(module: str) -> str:
    """The first line of a module's docstring, read without importing the module."""
    path = Path(__file__).parents[2].joinpath(*module.split(".")).with_suffix(".py")
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]


def start(module: str) -> int:
    """Import the module of a program and `run` its `main`.

    A signal that comes during the import, which takes seconds, and a package that is missing are
    one line, too.
    """

    def stop(number: int, _frame: FrameType | None) -> None:
        answer_signals(signal.SIG_IGN)
        os._exit(_complain(_stopped_by(number), INTERRUPTED))  # past what is half imported

    before = answer_signals(stop)
    try:
        main = importlib.import_module(module).main
    except ModuleNotFoundError as error:
        remedy = "make install, then: source .venv/bin/activate"
        return _complain(f"{sys.executable} has no package {error.name}; {remedy}")
    for number, handler in before.items():
        signal.signal(number, handler)
    return run(main)


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


def answer_signals(handler: Any) -> dict[signal.Signals, Any]:
    """Let `handler` answer the SIGNALS; returns the handlers that they had.

    Signals that are ignored stay ignored: nohup has the program ignore SIGHUP.
    """
    heard = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    return {number: signal.signal(number, handler) for number in heard}


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
