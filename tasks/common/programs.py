"""Run a package's programs; a signal or an error ends one with a one-line message and a code."""

import ast
import contextlib
import difflib
import functools
import hashlib
import importlib
import importlib.util
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from tasks.common.errors import MORE_MEMORY, InputError, memory_fault

# Requests to stop. Slurm sends SIGTERM half a minute before it kills a job, and SIGUSR1 as early as
# configured (`--signal`); Ctrl-C sends SIGINT, and a closing terminal SIGHUP.
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGHUP)
INTERRUPTED = 75  # EX_TEMPFAIL of sysexits.h: the same command may succeed later
PACKAGES = ("tasks", "gpt1", "workflow")
PEAK_LINE = "peak memory: {} MB"  # of a program in a job's log
PLANNED = "RUN_CODE"  # in the environment of a run's jobs: the digests of all sources when planned


class Interrupted(BaseException):
    """A signal asked the program to stop, which it did at a point from which it can resume.

    Like KeyboardInterrupt it is not an Exception, lest it be taken for the failure of one step.
    """


def door(package: str, modules: Mapping[str, str]) -> int:
    """Run `python -m PACKAGE PROGRAM ...` and return its exit code, as `start` does.

    `modules` maps each program to its module; --help lists them with the first lines of their
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
    try:
        words = [word for given in sys.argv[2:] for word in _words(given)]
    except OSError as error:
        return _complain(f"{error.filename}: {error.strerror}; start the run again")
    sys.argv = [f"python -m {package} {name}", *words]
    return start(modules[name])


def _words(given: str) -> list[str]:
    """An argument, or for `@FILE.args` those of the file's lines: a command may not hold many."""
    if not (given.startswith("@") and given.endswith(".args")):
        return [given]
    return Path(given[1:]).read_text(encoding="utf-8").split("\n")


def show_door(package: str) -> None:
    """Exit from `python -m PACKAGE.MODULE`, which would do nothing, and name the right command.

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


def source_digest(path: Path) -> str:
    """Eight hex digits over a source file and the data files beside it that it names."""
    text = path.read_bytes()
    total = hashlib.sha256(text)
    for name in sorted(os.listdir(path.parent)):
        if not name.endswith(".py") and "." in name and name.encode() in text:
            total.update(path.with_name(name).read_bytes())
    return total.hexdigest()[:8]


def imported() -> list[Path]:
    """The sources of the project that are imported."""
    own = [m for name, m in list(sys.modules.items()) if name.partition(".")[0] in PACKAGES]
    return [Path(module.__file__) for module in own if module.__file__]


def refuse_edited(sources: Iterable[Path]) -> None:
    """Raise InputError for a source that was edited since this job's run was planned.

    Without a run, as for a program that is started by hand, every source is right.
    """
    planned = os.environ.get(PLANNED, "").split()
    for path in sources if planned else ():
        if source_digest(path) not in planned:
            raise InputError(
                f"{path}: edited since this run was planned; start the run again, which makes anew "
                "what depends on it"
            )


def _summary(module: str) -> str:
    """The first line of a module's docstring, read without importing the module."""
    path = Path(__file__).parents[2].joinpath(*module.split(".")).with_suffix(".py")
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]


def start(module: str) -> int:
    """Import the module of a program and `run` its `main`.

    A signal during the import, which takes seconds, a missing package and a source that was edited
    since the run was planned also end in one line.
    """

    def stop(number: int, _frame: FrameType | None) -> None:
        answer_signals(signal.SIG_IGN)
        os._exit(_complain(_stopped_by(number), INTERRUPTED))  # no clean-up of half an import

    before = answer_signals(stop)
    try:
        main = importlib.import_module(module).main
        refuse_edited(imported())
    except InputError as error:
        return _complain(str(error))
    except ModuleNotFoundError as error:
        remedy = "make install, then: source .venv/bin/activate"
        return _complain(f"{sys.executable} has no package {error.name}; {remedy}")
    for number, handler in before.items():
        signal.signal(number, handler)
    return run(main)


def run(main: Callable[[], None]) -> int:
    """Run a program and return its exit code.

    An `InputError`, a lack of memory or an error of the operating system (a missing file, a full
    disk) is printed as one line, and the code is 1; every other exception is a bug and keeps its
    traceback. The code is INTERRUPTED for a program that a signal stopped: what it had finished is
    kept, so it can resume.
    """

    def stop(number: int, _frame: FrameType | None) -> None:
        answer_signals(signal.SIG_IGN)  # the same one often comes twice; once is enough
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
        if os.environ.get(PLANNED):
            print(PEAK_LINE.format(_peak_mb()), flush=True)
        for number, handler in before.items():
            if signal.getsignal(number) is stop:
                signal.signal(number, handler)
    return 0


def _peak_mb() -> int:
    """The most memory that this process, or one that it has waited for, had so far."""
    unit = 2**20 if sys.platform == "darwin" else 2**10  # bytes on macOS, KB on Linux
    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return round(max(resource.getrusage(one).ru_maxrss for one in whose) / unit)


@functools.cache
def _leave_forks_alone() -> None:
    """Restore the default handlers in processes that libraries fork, so that signals end them.

    Python runs its handlers between bytecode instructions only, so a worker that gets a signal
    while it waits for a lock would wait for ever, and the program for it.
    """

    def forget() -> None:
        for number in SIGNALS:
            if getattr(signal.getsignal(number), "__module__", None) == __name__:
                signal.signal(number, signal.SIG_DFL)

    os.register_at_fork(after_in_child=forget)


def answer_signals(handler: Any) -> dict[signal.Signals, Any]:
    """Make `handler` the handler of the SIGNALS; returns their previous handlers.

    Signals that are ignored stay ignored: nohup makes the program ignore SIGHUP.
    """
    heard = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    return {number: signal.signal(number, handler) for number in heard}


def _stopped_by(number: int) -> str:
    return f"stopped by {signal.Signals(number).name}; start again to resume"


def _complain(message: str, code: int = 1) -> int:
    """Print the message to stderr or, if that is a log on a full disk, to the run's stderr."""
    line = "error: " + " ".join(message.split())
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        with (
            contextlib.suppress(OSError),  # the reader of the messages may have stopped as well
            open(f"/proc/{os.environ.get('RUN_PID', 'self')}/fd/2", "a", encoding="utf-8") as file,
        ):
            print(line, file=file)
    return code
