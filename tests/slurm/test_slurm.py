"""The workflow on a real Slurm: what jobs ask for, what becomes of them; torchrun on two nodes."""

import os
import re
import shlex
import signal
import sys
import time
from pathlib import Path

import pytest
import yaml

from tests.slurm.runs import (
    changed_profile,
    losses,
    new_run,
    pretraining,
    scores,
    wait_for,
    weights,
    without_pretraining,
)
from workflow.configuration.read import parse

TRAINED = "results/pretrain/transformer/seed-0"


def test_the_tables_are_those_of_a_local_run_although_a_job_was_stopped(
    slurm, project, config, local, tmp_path
):
    run = new_run(slurm, project, tmp_path / "run", config)
    process = run.start("all", seconds=1)
    job = wait_for(lambda: pretraining(slurm))
    wait_for(lambda: list(run.folder.glob("results/.work/pretrain/*/update-0.json")))
    slurm("scancel", job)
    said = run.finish(process)
    assert "CANCELLED" in said and "Trying to restart job" in said
    assert scores(run.folder) == scores(local) and weights(run.folder) == weights(local)


def test_pretraining_goes_on_where_a_time_limit_stopped_it(slurm, project, pretrained, tmp_path):
    profile = changed_profile(
        project,
        tmp_path / "profile",
        ("# set-resources:", "set-resources:"),
        ("#   pretrain: {runtime: 1440}", "  pretrain: {runtime: 1 * attempt}"),
        ("retries: 1", "retries: 5"),
    )
    run = without_pretraining(slurm, project, tmp_path / "run", pretrained)
    process = run.start("results/pretraining.csv", profile=profile, seconds=6)
    said = run.finish(process)
    assert "TIMEOUT" in said and "Trying to restart job" in said
    log = next(run.folder.glob("results/logs/pretrain/**/*.log")).read_text()
    stopped = set(re.findall(r"stopped by SIGTERM at update (\d+) of 20", said))
    assert stopped & set(re.findall(r"resuming from update (\d+)", said + log))
    assert scores(run.folder) == scores(pretrained) and weights(run.folder) == weights(pretrained)


def test_a_workflow_that_was_killed_goes_on_while_its_jobs_still_run(
    slurm, project, local, tmp_path
):
    run = without_pretraining(slurm, project, tmp_path / "run", local)
    process = run.start("results/pretraining.csv", seconds=2)
    job = wait_for(lambda: pretraining(slurm))
    wait_for(lambda: list(run.folder.glob("results/.work/pretrain/*/update-0.json")))
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert slurm.job(job)["JobState"] == "RUNNING"
    run.finish(run.start("results/pretraining.csv"))
    assert scores(run.folder) == scores(local) and weights(run.folder) == weights(local)


def site(run, **runtime):
    """The config of a site, given after the other."""
    (run.folder / "site.yaml").write_text(yaml.safe_dump({"runtime": runtime}))
    return ("--configfile", "config.yaml", "site.yaml")


def test_the_whole_suite_runs_inside_one_allocation(slurm, project, config, local, tmp_path):
    run = new_run(slurm, project, tmp_path / "run", config)
    words = ["--snakefile", str(project / "Snakefile"), "--configfile", "config.yaml"]
    command = shlex.join([sys.executable, "-m", "snakemake", *words, "--cores", "2", "all"])
    slurm("sbatch", "--wait", "-c2", "--mem=4000", "-D", str(run.folder), "--wrap", command)
    assert scores(run.folder) == scores(local) and weights(run.folder) == weights(local)


def test_account_partition_and_kind_of_gpu_are_four_lines(slurm, project, pretrained, tmp_path):
    """Two of a copy of the profile and two of a config; the jobs wait, for the GPUs are no GPUs."""
    profile = changed_profile(
        project,
        tmp_path / "profile",
        ("  # slurm_account: my_account", "  slurm_account: mine"),
        ("  # slurm_partition: my_partition", "  slurm_partition: gpu"),
    )
    run = without_pretraining(slurm, project, tmp_path / "run", pretrained)
    configs = site(run, device="cuda", gpu_model="fake", pretrain_processes=2)
    slurm("scontrol", "update", "PartitionName=gpu", "State=DOWN")
    try:
        process = run.start("results/pretraining.csv", *configs, profile=profile)
        asked = slurm.job(wait_for(lambda: pretraining(slurm, "pending")))
        process.send_signal(signal.SIGINT)
        process.wait(300)
    finally:
        slurm("scontrol", "update", "PartitionName=gpu", "State=UP")
    assert (asked["Account"], asked["Partition"]) == ("mine", "gpu")
    assert (asked["TresPerJob"], asked["NumCPUs"]) == ("gres:gpu:fake:2", "2")


def test_two_processes_of_a_job_train_as_one_does(slurm, project, pretrained, tmp_path):
    run = without_pretraining(slurm, project, tmp_path / "run", pretrained)
    process = run.start("results/pretraining.csv", *site(run, pretrain_processes=2), seconds=0.5)
    assert slurm.job(wait_for(lambda: pretraining(slurm)))["NumCPUs"] == "2"
    run.finish(process)
    trains_as_one_process_does(run.folder / TRAINED, pretrained)


def trains_as_one_process_does(out, pretrained):
    """Compare the end of a run in two processes with that of a run in one."""
    assert losses(out) == pytest.approx(losses(pretrained / TRAINED), abs=1e-5)
    assert '"processes": 2' in (out / "update-20.json").read_text()


SCRIPT = """\
#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1 --cpus-per-task=1 --mem=2000 --time=10
#SBATCH --signal=TERM@120
export GPT1_TEST_SECONDS={seconds}
srun --kill-on-bad-exit=1 {torchrun} --nnodes=$SLURM_NNODES --nproc-per-node=1 \\
  --rdzv-id=$SLURM_JOB_ID --rdzv-backend=c10d --rdzv-endpoint=127.0.0.1:29500 \\
  -m gpt1 pretrain transformer --corpus {corpus} --settings {settings} \\
  --runtime '{{"micro_batch": {micro_batch}}}' --work {folder}/work --out {folder}/out
"""


def test_torchrun_on_two_nodes_trains_as_one_process_does_although_its_job_was_cancelled(
    slurm, project, config, pretrained, tmp_path
):
    """As the page on clusters says; submitted again, the job goes on."""
    own = parse(config)

    def submit(seconds):
        words = SCRIPT.format(
            seconds=seconds,
            torchrun=Path(sys.executable).with_name("torchrun"),
            corpus=pretrained / "results/corpus/corpus.json",
            settings=shlex.quote(own.pretrain("transformer", 0).to_json()),
            micro_batch=own.runtime.micro_batch,
            folder=tmp_path,
        )
        (tmp_path / "job").write_text(words)
        places = ("-D", str(project), "--output", str(tmp_path / "said"))
        return slurm("sbatch", "--parsable", *places, str(tmp_path / "job")).strip()

    def ended(number):
        wait_for(lambda: number not in slurm.jobs("pending,running,completing"), 600)
        return slurm.job(number), (tmp_path / "said").read_text()

    number = submit(seconds=1)
    wait_for(lambda: list(tmp_path.glob("work/*/update-0.json")))
    time.sleep(3)
    slurm("scancel", number)
    job, said = ended(number)
    assert job["JobState"] == "CANCELLED", said
    assert "stopped by SIGTERM at update" in said and "the state is saved" in said
    assert len(list(tmp_path.glob("work/*/state.safetensors"))) == 1
    job, said = ended(submit(seconds=0))
    assert (job["JobState"], job["NumNodes"]) == ("COMPLETED", "2"), said
    assert "resuming from update" in said
    trains_as_one_process_does(tmp_path / "out", pretrained)
