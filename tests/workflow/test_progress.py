"""How far a run is, read from Snakemake's log."""

import os
from pathlib import Path

import pytest

from workflow.progress import last_run, parse

HEAD = """\
SNAKEMAKE
=========
  Command: snakemake --cores 2 all --config results=made
Building DAG of jobs...
Job stats:
job                  count
-----------------  -------
world                    1
pretrain                 2
finetune_lstm_endpoints  6
table_main               1
all                      1
total                   11

Select jobs to execute...
Execute 1 jobs...
"""
WORLD = """\
[Sun Nov 22 10:00:00 2026]
Job 4: world: write the books
Reason: Missing output files: made/world/manifest.json
[Sun Nov 22 10:00:20 2026]
Finished jobid: 4 (Rule: world)
1 of 11 steps (9%) done
"""
PRETRAIN = """\
Execute 2 jobs...
[Sun Nov 22 10:00:20 2026]
Job 5: pretrain transformer, seed 0
Reason: Missing output files: made/pretrain/transformer/seed-0/update-0.json
[Sun Nov 22 10:00:20 2026]
Job 6: pretrain lstm, seed 0
Reason: Missing output files: made/pretrain/lstm/seed-0/update-0.json
[Sun Nov 22 10:02:00 2026]
Finished jobid: 6 (Rule: pretrain)
2 of 11 steps (18%) done
"""
FAILURE = """\
[Sun Nov 22 10:02:30 2026]
Error in rule pretrain:
    message: None
    jobid: 5
    input: made/corpus.json
"""
END = "Complete log(s): .snakemake/log/x.snakemake.log\n"


def test_jobs_done_running_and_to_do_are_counted():
    progress = parse(HEAD + WORLD + PRETRAIN)
    assert progress.command == "snakemake --cores 2 all --config results=made"
    assert (progress.done, progress.total, progress.over) == (2, 11, False)
    assert [message for _, message in progress.running.values()] == ["pretrain transformer, seed 0"]
    assert progress.seconds == {"world": [20.0], "pretrain": [100.0]}
    expected = {"pretrain": 1, "finetune_lstm_endpoints": 6, "table_main": 1}
    assert progress.remaining() == expected


def test_the_time_left_is_that_of_finished_jobs_and_names_what_it_lacks():
    progress = parse(HEAD + WORLD + PRETRAIN)
    at_once = (20 + 100 + 100) / 120  # the other pre-training has run for 100 seconds as well
    seconds, unknown = progress.left({})
    assert seconds == pytest.approx(100 / at_once)
    assert unknown == ["finetune_lstm_endpoints", "table_main"]
    seconds, unknown = progress.left({"finetune_lstm_endpoints": 30.0, "pretrain": 9999.0})
    assert seconds == pytest.approx((100 + 6 * 30) / at_once) and unknown == ["table_main"]


@pytest.mark.parametrize(("seconds", "at_once"), [(0, 1.0), (1, 3.0), (4, 3.0)])
def test_jobs_that_run_side_by_side_are_counted_from_the_first_second(seconds, at_once):
    jobs = "".join(
        f"[Sun Nov 22 10:00:00 2026]\nJob {i}: pretrain lstm, seed {i}\n" for i in range(3)
    )
    ends = f"[Sun Nov 22 10:00:0{seconds} 2026]\nFinished jobid: 0 (Rule: pretrain)\n"
    assert parse(HEAD + jobs + ends).at_once() == at_once


def test_a_job_that_failed_runs_no_more():
    progress = parse(HEAD + WORLD + PRETRAIN + FAILURE)
    assert progress.failed == ["pretrain"] and progress.running == {} and not progress.over
    assert parse(HEAD + WORLD + PRETRAIN + FAILURE + END).over


def test_a_rule_without_a_message_is_named_by_itself():
    text = "[Sun Nov 22 10:03:00 2026]\nlocalrule all:\n    input: made/cells.csv\n    jobid: 0\n"
    progress = parse(HEAD + text)
    assert [message for _, message in progress.running.values()] == ["all"]


def test_there_is_no_progress_before_the_jobs_are_planned():
    assert parse("Building DAG of jobs...\nNothing to be done.\n") is None


def write_log(folder: Path, name: str, text: str) -> None:
    path = folder / ".snakemake" / "log" / f"{name}.snakemake.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_the_last_log_that_names_the_results_counts(tmp_path):
    for name in ("made", "other", "results/smoke"):
        os.makedirs(tmp_path / name)
    write_log(tmp_path, "1", HEAD + WORLD)
    write_log(tmp_path, "2", HEAD + WORLD + PRETRAIN)
    write_log(tmp_path, "3", (HEAD + WORLD + FAILURE).replace("made/", "results/smoke/"))
    write_log(tmp_path, "4", "Nothing to be done for made/cells.csv\n")
    assert last_run(tmp_path / "made").done == 2
    assert last_run(tmp_path / "other") is None
    assert last_run(tmp_path / "results") is None
    assert last_run(tmp_path / "results" / "smoke").failed == ["pretrain"]
    write_log(tmp_path, "5", "Job stats:\nstudy  1\n\noutput: other/studies/lm_coef.csv\n")
    assert last_run(tmp_path / "other").jobs == {"study": 1}
