"""What is repeated at the end of a run about the jobs that failed."""

import atexit
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
    return {"event": "job_error", "jobid": job, "log": [str(log), "slurm.log"]}


def handed_over(job, log):
    return {"event": "job_info", "jobid": job, "log": [str(log)]}


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
    assert last_word(log) == word


NONE = "the program was not started; Snakemake says why"


def test_a_log_of_an_earlier_run_or_attempt_is_not_repeated(tmp_path):
    log = tmp_path / "a.log"
    assert last_word(log) == NONE
    log.write_text("error: long since mended\n")
    failed = heard(handed_over(1, log), error(1, log))
    assert last_word(log, failed.before[str(log)]) == NONE
    log.write_text("error: of the first attempt\n")
    assert last_word(log, failed.before[str(log)]) == "error: of the first attempt"
    failed.emit(logging.makeLogRecord(handed_over(1, log)))  # the second one never starts
    assert last_word(log, failed.before[str(log)]) == NONE


@pytest.mark.parametrize("behind", [-86_400, 86_400])
def test_the_clocks_of_other_machines_do_not_matter(tmp_path, behind):
    """A log is written by the node, and dated by the file server."""
    log = tmp_path / "a.log"
    before = heard(handed_over(1, log), {"event": "job_info", "jobid": 0, "log": []}).before
    log.write_text("error: of this run\n")
    os.utime(log, (log.stat().st_mtime + behind,) * 2)
    assert last_word(log, before[str(log)]) == "error: of this run"


def test_the_last_words_are_printed_at_the_end(tmp_path, monkeypatch, capsys):
    log, at_exit = tmp_path / "a.log", []
    monkeypatch.setattr(
        atexit, "register", lambda *call, **options: at_exit.append((call, options))
    )
    failed = heard(handed_over(1, log))
    log.write_text("error: no such file; make it\n")
    failed.emit(logging.makeLogRecord(error(1, log)))
    failed.tell_at_exit()
    for (function, *words), options in at_exit:
        function(*words, **options)
    assert capsys.readouterr().err == f"{log}: error: no such file; make it\n"
