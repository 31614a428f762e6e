"""A Slurm job that may wait for ever is told in one line: which, why, and what to change."""

import os
import subprocess

import pytest

from tests.workflow.configs import shipped
from tests.workflow.running import command_line, copy_project, write
from workflow import waiting
from workflow.waiting import jobs

TIME = "lower runtime.minutes in the config (a retry asks for twice of it, at most for runtime."
PROFILE = "change slurm_account, slurm_partition or constraint in the profile"


@pytest.mark.parametrize(
    ("reason", "remedy"),
    [
        ("PartitionTimeLimit", TIME),
        ("QOSMaxWallDurationPerJobLimit", TIME),
        ("QOSMaxMemoryPerJob", "lower runtime.mem_mb in the config"),
        ("QOSMaxGRESPerJob", "change runtime.gpu_model"),
        ("AssocMaxCpuPerJobLimit", "lower runtime.pretrain_threads"),
        ("AssocMaxNodePerJobLimit", PROFILE),
        ("ReqNodeNotAvail, UnavailableNodes:node[1-3]", PROFILE),
    ],
)
def test_a_reason_that_may_not_pass_is_told_with_the_key_to_change(reason, remedy, tmp_path):
    (job,) = jobs(f"17|{reason}|rule_pretrain_wildcards_lstm_0|{tmp_path}\n", str(tmp_path))
    assert job.line.startswith(f"Slurm job 17 (pretrain lstm_0) waits: {reason}; if that does not")
    assert f"stop the run, {remedy}" in job.line and "\n" not in job.line


@pytest.mark.parametrize(
    ("reason", "remedy"),
    [
        ("JobHeldUser", "release it with `scontrol release 17`"),
        ("JobHeldAdmin", "the administrators hold it, ask them"),
        (
            "launch failed requeued held",
            "look up what failed with `scontrol show job 17`, then release it with `scontrol "
            "release 17`",
        ),
        ("JobHoldMaxRequeue", "look up what failed with `scontrol show job 17`, then release it"),
        ("QOSMaxJobsPerUserLimit", "it starts when other jobs of yours, or of your account, have"),
        ("AssocMaxJobsLimit", "it starts when other jobs of yours, or of your account, have ended"),
    ],
)
def test_a_job_that_is_held_or_has_to_wait_for_others_needs_no_new_start(reason, remedy, tmp_path):
    (job,) = jobs(f"17|{reason}|rule_tokens|{tmp_path}\n", str(tmp_path))
    assert job.line.startswith(f"Slurm job 17 (tokens) waits: {reason}; {remedy}")
    assert "start again" not in job.line and "\n" not in job.line


def test_lines_that_are_cut_off_are_passed_over(tmp_path):
    queue = f"slurm_load_jobs error\n16|PartitionTimeLimit|rule\n\n17|JobHeldUser|rule_x|{tmp_path}"
    assert [job.number for job in jobs(queue, str(tmp_path))] == ["17"]


def test_jobs_that_wait_their_turn_and_those_of_others_are_not_told(tmp_path):
    reasons = ("None", "Priority", "Resources", "Dependency", "BeginTime")
    queue = [f"{i}|{reason}|rule_tokens|{tmp_path}" for i, reason in enumerate(reasons)]
    queue += [f"7|PartitionTimeLimit|rule_tokens|{tmp_path}/other"]
    queue += [f"8|PartitionTimeLimit||{tmp_path}", f"9|PartitionTimeLimit|mine|{tmp_path}"]
    assert not list(jobs("\n".join(queue), str(tmp_path)))


STAND_INS = {
    # Snakemake's own executor under the name of Slurm's: nothing is submitted.
    "plugins/snakemake_executor_plugin_slurm/__init__.py": (
        "from snakemake.executors.local import Executor, common_settings\n"
    ),
    "tasks/world/__main__.py": "import time\ntime.sleep(3)\nraise SystemExit('error: over')\n",
    "bin/squeue": """\
#!/bin/sh
echo "$*" >> asked
for job in 17 18; do
  echo "$job|PartitionTimeLimit|rule_world|$PWD"
done
""",
}


def test_a_run_on_slurm_tells_of_them_while_it_waits(tmp_path, monkeypatch):
    """Once for each rule and reason, and only where the executor is Slurm's."""
    copy_project(tmp_path)
    for name, text in STAND_INS.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    module = tmp_path / "workflow" / "waiting.py"
    module.write_text(module.read_text().replace("SECONDS = 60", "SECONDS = 0.5"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "plugins"))
    config = write(tmp_path / "config.yaml", shipped("smoke") | {"results": "made"})
    target = ("made/world/manifest.json", "--configfile", config)
    said = command_line(tmp_path, *target, code=1)
    assert "waits" not in said and not (tmp_path / "asked").exists()
    said = command_line(tmp_path, *target, "--executor", "slurm", code=1)
    assert said.count("Slurm job 17 (world) waits: PartitionTimeLimit; if that") == 1
    assert "job 18" not in said and "error: over" in said
    asked = (tmp_path / "asked").read_text().splitlines()
    assert len(asked) > 1 and "--me --noheader --states=PENDING" in asked[0]


def test_a_controller_that_does_not_answer_is_asked_again(tmp_path, monkeypatch):
    line = f"17|JobHeldUser|rule_tokens|{tmp_path}\n"
    answers = [subprocess.TimeoutExpired("squeue", 1), OSError("no squeue any more")]
    answers.insert(1, subprocess.CompletedProcess([], 0, line))

    def squeue(*command, timeout, **options):
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(waiting, "SECONDS", 0.01)
    monkeypatch.setattr(waiting.subprocess, "run", squeue)
    told = []
    waiting._watch(str(tmp_path), told.append)
    assert len(told) == 1 and "17 (tokens) waits: JobHeldUser; release" in told[0] and not answers
