"""A program of the suite, called within the tests' own process, which has imported it already."""

import contextlib
import io
import signal
import sys
from collections.abc import Callable
from subprocess import CompletedProcess
from unittest.mock import patch

import pytest

from tasks.common.errors import InputError
from tasks.common.programs import SIGNALS, run


def call(main: Callable[[], None], *words: object) -> CompletedProcess[str]:
    """What `python -m`, then the program and these words, says and returns.

    For a program's messages and files. What depends on a process (the environment, imports) needs
    one of its own. A program that a signal stopped ignores further ones, since it ends. This
    process goes on and has its handlers back, or nothing could end the workers that it starts.
    """
    out, errors = io.StringIO(), io.StringIO()
    arguments = ["program", *map(str, words)]
    with (
        patch.object(sys, "argv", arguments),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(errors),
    ):
        before = {number: signal.getsignal(number) for number in SIGNALS}
        try:
            code = run(main)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
    return CompletedProcess(arguments, code, out.getvalue(), errors.getvalue())


def refused(main: Callable[[], None], *words: object) -> str:
    """What a program says that refuses these words: one line, and nothing on its output."""
    done = call(main, *words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1), done.stderr
    return done.stderr


def refusal(run: Callable[..., object], *arguments: object) -> str:
    """The one line in which a call is refused."""
    with pytest.raises(InputError) as error:
        run(*arguments)
    said = str(error.value)
    assert "\n" not in said and len(said) < 600
    return said
