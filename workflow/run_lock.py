"""One run at a time in a folder of results, from whatever folder the runs are started.

Snakemake locks the folder that a run is started in, which two runs with one folder of results need
not share. This lock is the operating system's: it ends with the process, however that ends, and
jobs do not ask for it.
"""

import contextlib
import fcntl
import os
from pathlib import Path

from tasks.common.files import sweep


class RunLock:
    """The lock of a folder of results; `path` is its file, which says who holds it."""

    def __init__(self, results: str | Path) -> None:
        self.results = results
        self.path = Path(results, ".work", "run.lock")
        self._file = -1

    def take(self, started_in: str | Path) -> str | None:
        """Take the lock; returns why the run must not start, in one line, or None if it may.

        A run may start where no lock can be had: on a file system without locks, on a full disk.
        """
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return self._taken()
            os.ftruncate(self._file, 0)
            holder = f"{started_in}, process {os.getpid()} on {os.uname().nodename}"
            os.write(self._file, holder.encode(errors="replace"))
        return None

    def release(self) -> None:
        """Free the lock before the process ends."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _taken(self) -> str:
        holder = b""
        with contextlib.suppress(OSError):
            holder = os.read(self._file, 1000)
        by = f" (started in {holder.decode(errors='replace')})" if holder else ""
        self.release()
        return (
            f"error: results: another run is writing to {str(self.results)!r}{by}; wait for its "
            "end, or name another folder with --config results=FOLDER"
        )


def sweep_below(folder: str | Path) -> None:
    """Remove what killed writes left in a folder and in those below it."""
    for place, _, _ in os.walk(folder):
        sweep(Path(place))
