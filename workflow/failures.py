"""The last word of each failed job, repeated as the last lines of a run.

A program said what was wrong when it failed; what Snakemake then says of this job, and the others
that still ran, put that out of sight.
"""

import atexit
import logging
import sys
import time
from pathlib import Path

from snakemake.logging import LogEvent


class FailedJobs(logging.Handler):
    """Notes the logs of jobs that fail and do not succeed in a further attempt."""

    def __init__(self) -> None:
        super().__init__()
        self.started = time.time()
        self.logs: dict[int, str] = {}  # by the number of the job

    def emit(self, record: logging.LogRecord) -> None:
        """Look at one of Snakemake's messages."""
        facts = vars(record)
        if facts.get("event") == LogEvent.JOB_ERROR:
            self.logs[facts["jobid"]] = facts["log"][0]
        elif facts.get("event") == LogEvent.JOB_FINISHED:
            self.logs.pop(facts["job_id"], None)

    def tell_at_exit(self) -> None:
        """Print the last words when the process ends, after Snakemake's own."""
        for log in self.logs.values():
            atexit.register(print, f"{log}: {last_word(Path(log), self.started)}", file=sys.stderr)


def last_word(log: Path, started: float) -> str:
    """The line in which the program of a job says why it failed, by the log of the job.

    A log from before `started`, in seconds since 1970, is of an earlier run.
    """
    if not log.is_file() or log.stat().st_mtime < started:
        return "the program was not started; Snakemake says why"
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    errors = [line for line in lines if line.startswith("error: ")]
    return (errors or [line for line in lines if line.strip()] or ["it said nothing"])[-1]
