"""A program of the suite, called within the tests' own process, which has imported it already."""

import contextlib
import io
import sys
from collections.abc import Callable
from subprocess import CompletedProcess
from unittest.mock import patch

from tasks.common.errors import run


def call(main: Callable[[], None], *words: object) -> CompletedProcess[str]:
    """What `python -m`, then the program and these words, says and returns.

    For a program's messages and files. What depends on a process (signals, the environment,
    imports) needs one of its own.
    """
    out, errors = io.StringIO(), io.StringIO()
    arguments = ["program", *map(str, words)]
    with (
        patch.object(sys, "argv", arguments),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(errors),
    ):
        code = run(main)
    return CompletedProcess(arguments, code, out.getvalue(), errors.getvalue())
