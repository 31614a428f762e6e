"""What is repeated at the end of a run about the jobs that failed."""

import logging
import os

import pytest

from workflow.failures import FailedJobs, last_word


def heard(*messages) -> FailedJobs:
    failed = FailedJobs()
    for message in messages:
        failed.emit(logging.makeLogRecord(message))
    return failed


def error(job, log="a.log"):
    return {"event": "job_error", "jobid": job, "log": [log, "slurm.log"]}


def test_a_job_that_succeeded_in_a_further_attempt_has_not_failed():
    done = {"event": "job_finished", "job_id": 1}
    assert heard(error(1), error(2, "b.log"), done, {"msg": "else"}).logs == {2: "b.log"}
    assert heard(error(1), error(1)).logs == {1: "a.log"}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("half\nerror: no such file; make it\n\n", "error: no such file; make it"),
        ("error: the loss is nan\n[W] destroy the process group\n", "error: the loss is nan"),
        ("Traceback:\n  x / 0\nZeroDivisionError: by zero\n", "ZeroDivisionError: by zero"),
        ("", "it said nothing"),
        ("\udcff\n", "\N{REPLACEMENT CHARACTER}"),
    ],
)
def test_the_last_word_is_the_line_that_says_why(tmp_path, text, word):
    log = tmp_path / "a.log"
    log.write_text(text, encoding="utf-8", errors="surrogateescape")
    assert last_word(log, started=0) == word


def test_a_log_of_an_earlier_run_is_not_repeated(tmp_path):
    log, none = tmp_path / "a.log", "the program was not started; Snakemake says why"
    assert last_word(log, started=0) == none
    log.write_text("error: long since mended")
    os.utime(log, (1000, 1000))
    assert last_word(log, started=2000) == none
