"""Small file systems in memory, which root can mount: full ones and read-only ones."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

ALL = "GPT1_ALL_FAULTS"  # in the environment, by make test-faults: what cannot be tried, fails


def lacking(what: str, remedy: str) -> NoReturn:
    """End a test that this machine cannot run: skipped, but by make test-faults failed."""
    if os.environ.get(ALL):
        pytest.fail(f"{what}; {remedy}", pytrace=False)
    pytest.skip(f"{what}; {remedy}")


def need_mounts(folder: Path) -> None:
    """End the test where no file system can be mounted in `folder`."""
    if os.geteuid() != 0:
        lacking("mounting a small file system needs root", "run make test-faults as root")
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", folder]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        lacking(
            f"no file system can be mounted here ({done.stderr.strip()})",
            "where this is a container, start it with --privileged",
        )
    subprocess.run(["umount", folder], check=True)


def compiler() -> str:
    """A C compiler; ends the test without one."""
    found = shutil.which("cc") or shutil.which("gcc")
    if not found:
        lacking(
            "what stands in for the file system needs a C compiler",
            "install one, as in: apt-get install gcc libc6-dev",
        )
    return found


@contextlib.contextmanager
def mounted(disk: Path, options: str) -> Iterator[None]:
    """A file system in memory."""
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", disk], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", disk], check=True)


def remount(disk: Path, options: str) -> None:
    """Change the options of a mounted file system."""
    subprocess.run(["mount", "-o", f"remount,{options}", disk], check=True)


@contextlib.contextmanager
def filled(disk: Path) -> Iterator[None]:
    """A disk on which no block is free."""
    path = disk / "logs" / "filler"  # beside what `contents` leaves out
    path.parent.mkdir(exist_ok=True)
    with open(path, "wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(bytes(4096)):
            pass
    try:
        assert os.statvfs(disk).f_bfree == 0
        yield
    finally:
        path.unlink()
