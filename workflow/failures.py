"""The last word of each failed job, repeated as the last lines of a run.

A program said what was wrong when it failed; what Snakemake then says of this job, and the others
that still ran, put that out of sight.
"""

import atexit
import logging
import os
import sys
from pathlib import Path

from snakemake.logging import LogEvent

State = tuple[int, int, int]


class FailedJobs(logging.Handler):
    """Notes the logs of jobs that fail and do not succeed in a further attempt."""

    def __init__(self) -> None:
        super().__init__()
        self.logs: dict[int, str] = {}  # by the number of the job
        self.before: dict[str, State | None] = {}  # by log: its state when the job was handed over

    def emit(self, record: logging.LogRecord) -> None:
        """Look at one of Snakemake's messages."""
        facts = vars(record)
        match facts.get("event"):
            case LogEvent.JOB_INFO:
                self.before |= {log: state(Path(log)) for log in facts["log"]}
            case LogEvent.JOB_ERROR:
                self.logs[facts["jobid"]] = facts["log"][0]
            case LogEvent.JOB_FINISHED:
                self.logs.pop(facts["job_id"], None)

    def tell_at_exit(self) -> None:
        """Print the last words when the process ends, after Snakemake's own."""
        for log in self.logs.values():
            word = last_word(Path(log), self.before.get(log))
            atexit.register(print, f"{log}: {word}", file=sys.stderr)


def state(log: Path) -> State | None:
    """What differs once a file is written anew, by its file system's clock; None without a file."""
    try:
        with open(log, "rb") as file:  # a network file system looks anew when a file is opened
            found = os.fstat(file.fileno())
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def last_word(log: Path, before: State | None = None) -> str:
    """The line in which the program of a job says why it failed, by the log of the job.

    A log in the same state as `before`, when the job was handed over, is of an earlier attempt.
    """
    if state(log) in (None, before):
        return "the program was not started; Snakemake says why"
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    errors = [line for line in lines if line.startswith("error: ")]
    return (errors or [line for line in lines if line.strip()] or ["it said nothing"])[-1]
