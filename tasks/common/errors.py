"""Errors that a user can remedy: invalid input, damaged files, a lack of memory."""

import contextlib
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

MORE_MEMORY = "run fewer jobs at once, or use a machine or device with more memory"
NO_MEMORY = re.compile(r"out of memory|can(no|')t allocate memory|ALLOC_FAILED", re.IGNORECASE)
ASKED = re.compile(r"(?:allocate|malloc of size) ([\d.]+(?: [KMGTPE]?i?B| bytes)?)")


class InputError(Exception):
    """Invalid user input. The message is one line: what is wrong, the value found, the remedy."""


def make_again(path: str | Path) -> str:
    """The remedy for a damaged or missing file of a run's results.

    Snakemake trusts any existing file, and does not notice a missing one while the files made from
    it exist, so it must be forced. RUN_OPTIONS has the options that chose the config.
    """
    options = os.environ.get("RUN_OPTIONS", "")
    return f"make it again: snakemake --cores 1 --force {shlex.quote(str(path))} {options}".strip()


@contextlib.contextmanager
def within_memory(work: str, remedy: str = MORE_MEMORY) -> Iterator[None]:
    """Raise InputError, with the remedy, if memory runs out during `work`."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not (fault := memory_fault(error)):
            raise
        raise InputError(f"{work}: {fault}; {remedy}") from None


def memory_fault(error: BaseException) -> str:
    """A message that memory ran out, and how much was asked for; empty for any other error.

    PyTorch raises RuntimeError on a CPU and a subclass of it on a GPU; NumPy and Arrow raise
    MemoryError.
    """
    said = str(error)
    if not isinstance(error, MemoryError) and not NO_MEMORY.search(said):
        return ""
    asked = ASKED.search(said)
    return "out of memory" + (f" ({asked[1]} asked for)" if asked else "")
