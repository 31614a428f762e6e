"""A Slurm job that may wait for ever is told in one line: which, why, and what to change."""

import os

import pytest

from tests.workflow.configs import shipped
from tests.workflow.running import command_line, copy_project, write
from workflow.waiting import jobs

TIME = "lower runtime.minutes in the config (a retry asks for twice of it)"
PROFILE = "change slurm_account, slurm_partition or constraint in the profile"


@pytest.mark.parametrize(
    ("reason", "remedy"),
    [
        ("PartitionTimeLimit", TIME),
        ("QOSMaxWallDurationPerJobLimit", TIME),
        ("QOSMaxMemoryPerJob", "lower runtime.mem_mb in the config"),
        ("QOSMaxGRESPerJob", "change runtime.gpu_model"),
        ("AssocMaxCpuPerJobLimit", "lower runtime.pretrain_threads"),
        ("AssocMaxJobsLimit", PROFILE),
        ("ReqNodeNotAvail, UnavailableNodes:node[1-3]", PROFILE),
    ],
)
def test_a_reason_that_may_not_pass_is_told_with_the_key_to_change(reason, remedy, tmp_path):
    (job,) = jobs(f"17|{reason}|rule_pretrain_wildcards_lstm_0|{tmp_path}\n", str(tmp_path))
    assert job.line.startswith(f"Slurm job 17 (pretrain lstm_0) waits: {reason}; if that does not")
    assert f"stop the run, {remedy}" in job.line and "\n" not in job.line


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
