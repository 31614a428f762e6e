"""The workflow on a real Slurm: what jobs ask for, and what happens to them."""

import os
import re
import shutil
import signal
import subprocess

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


def test_a_job_whose_program_fails_after_it_has_written_fails_the_run_with_the_program_s_line(
    slurm, project, pretrained, tmp_path
):
    failing = tmp_path / "project"
    shutil.copytree(project, failing)
    line = "error: gpt1.pretrain: damaged; make it again"
    with open(failing / "gpt1" / "pretrain.py", "a", encoding="utf-8") as program:
        program.write(f"    raise SystemExit({line!r})\n")  # the end of `main`
    profile = changed_profile(failing, tmp_path / "profile", ("retries: 1", "retries: 0"))
    run = without_pretraining(slurm, failing, tmp_path / "run", pretrained)
    said = run.finish(run.start("results/pretraining.csv", profile=profile), code=1)
    assert "Error in rule pretrain" in said and "Trying to restart" not in said
    assert line in said
    assert not weights(run.folder) and not (run.folder / "results/pretraining.csv").exists()
    states = [slurm.job(number) for number in slurm.jobs("failed")]
    assert str(run.folder) in [job["WorkDir"] for job in states]


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


def test_the_whole_suite_runs_inside_one_allocation(slurm, project, config, local, tmp_path):
    run = new_run(slurm, project, tmp_path / "run", config)
    command = subprocess.list2cmdline(run.command("--cores", "2", "all"))
    slurm("sbatch", "--wait", "-c2", "--mem=4000", "-D", str(run.folder), "--wrap", command)
    assert scores(run.folder) == scores(local) and weights(run.folder) == weights(local)


def test_a_workflow_that_is_told_to_end_waits_for_its_jobs_and_starts_no_other(
    slurm, project, pretrained, tmp_path
):
    """As by kill or systemd; Ctrl-C cancels the jobs."""
    run = without_pretraining(slurm, project, tmp_path / "run", pretrained)
    process = run.start("results/pretraining.csv", seconds=0.5)
    job = wait_for(lambda: pretraining(slurm))
    process.send_signal(signal.SIGTERM)
    said = run.finish(process, code=1)
    assert "Will exit after finishing currently running jobs" in said
    assert slurm.job(job)["JobState"] == "COMPLETED" and weights(run.folder) == weights(pretrained)
    assert not (run.folder / "results/pretraining.csv").exists()
    run.finish(run.start("results/pretraining.csv"))
    assert scores(run.folder) == scores(pretrained)


CONFIGS = ("--configfile", "config.yaml", "site.yaml")


def site(run, **runtime):
    """The config of a site, to be given after the other."""
    (run.folder / "site.yaml").write_text(yaml.safe_dump({"runtime": runtime}))
    return CONFIGS


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
    trained = "results/pretrain/transformer/seed-0"
    assert losses(run.folder / trained) == pytest.approx(losses(pretrained / trained), abs=1e-5)
    assert '"processes": 2' in (run.folder / trained / "update-20.json").read_text()
