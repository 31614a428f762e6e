"""A checkout of another commit, in a temporary folder."""

import contextlib
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.sides import ROOT
from tasks.common.errors import InputError

COMMIT = "27027a127704b85d4f87450d51db7dca21fbfdd4"  # as the suite was before it was made faster


@contextlib.contextmanager
def checkout(commit: str) -> Iterator[Path]:
    """The folder of a checkout. Raises InputError where the repository does not have the commit."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "checkout"
        _git("worktree", "add", "--detach", str(path), commit)
        try:
            yield path
        finally:
            _git("worktree", "remove", "--force", str(path))


def _git(*words: str) -> None:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["git said nothing"])[-1]
        raise InputError(
            f"git {words[0]} {words[1]}: {said}; the bars against it need a full clone"
        )
