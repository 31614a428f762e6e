"""Small file systems in memory, which root can mount: full ones and read-only ones."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path


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
