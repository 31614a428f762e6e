"""What jobs ask a real Slurm for, and what they find on its nodes: a read-only home."""

import signal

import pytest
import yaml

from tests.slurm.runs import changed_profile, losses, pretraining, wait_for, without_pretraining

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
