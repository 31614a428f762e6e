"""How every program reports a user's mistake: one line, exit code 1, no traceback."""

import sys
from collections.abc import Callable


class InputError(Exception):
    """Wrong input, on one line: what was wrong, the value found, and the remedy."""


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
