"""Error reporting shared by all programs: a user's mistake is one line and exit code 1."""

import contextlib
import sys
from collections.abc import Callable


class InputError(Exception):
    """Invalid user input. The message is one line: what is wrong, the value found, the remedy."""


class Interrupted(Exception):
    """A signal asked the program to stop, which it did at a point from which it can go on."""


INTERRUPTED = 75  # EX_TEMPFAIL of sysexits.h: the same command may succeed later


def run(main: Callable[[], None]) -> int:
    """Run a program and return its exit code.

    An `InputError` or an error of the operating system (a missing file, a full disk) is printed as
    one line; every other exception is a bug and keeps its traceback. The code is 1, but INTERRUPTED
    for a program that a signal stopped where it can go on, and 130 after Ctrl-C elsewhere.
    """
    try:
        main()
    except InputError as error:
        return _complain(str(error))
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        return _complain(f"{error.strerror or error}{where}")
    except Interrupted as request:
        return _complain(str(request), INTERRUPTED)
    except KeyboardInterrupt:
        return _complain("interrupted", 130)
    return 0


def _complain(message: str, code: int = 1) -> int:
    with contextlib.suppress(OSError):  # the reader of the messages may have been stopped as well
        print("error: " + " ".join(message.split()), file=sys.stderr, flush=True)
    return code
