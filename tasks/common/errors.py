"""Error reporting shared by all programs: a user's mistake is one line and exit code 1."""

import sys
from collections.abc import Callable


class InputError(Exception):
    """Invalid user input. The message is one line: what is wrong, the value found, the remedy."""


def run(main: Callable[[], None]) -> int:
    """Run a program and return its exit code.

    An `InputError` or an error of the operating system (a missing file, a full disk) is printed as
    one line; every other exception is a bug and keeps its traceback.
    """
    try:
        main()
    except InputError as error:
        return _complain(str(error))
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        return _complain(f"{error.strerror or error}{where}")
    return 0


def _complain(message: str) -> int:
    print("error: " + " ".join(message.split()), file=sys.stderr)
    return 1
