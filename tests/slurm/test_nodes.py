"""What jobs ask a real Slurm for, and what they find on its nodes: no network, a read-only home."""

import shlex
import signal
import sys
from pathlib import Path

import pytest
import yaml

from tests.slurm.runs import changed_profile, losses, pretraining, wait_for, without_pretraining
from workflow.config_faults import parse

CONFIGS = ("--configfile", "config.yaml", "site.yaml")
UNREACHABLE = """\
import socket
try:
    socket.socket(type=socket.SOCK_DGRAM).connect(("198.51.100.1", 9))  # this sends nothing
except OSError as error:
    print(error.strerror)
"""


def site(run, **runtime):
    """The config of a site, to be given after the other."""
    (run.folder / "site.yaml").write_text(yaml.safe_dump({"runtime": runtime}))
    return CONFIGS


def test_the_nodes_cannot_write_to_the_home(slurm):
    told = slurm("srun", "--mem=100", "sh", "-c", 'touch "$HOME/file" 2>&1 || echo refused')
    assert told.endswith("refused\n")


def test_the_nodes_have_no_network(slurm):
    told = slurm("srun", "--mem=100", sys.executable, "-c", UNREACHABLE)
    assert told == "Network is unreachable\n"


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


SCRIPT = """\
#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1 --cpus-per-task=1 --mem=2000 --time=10 --output=said
#SBATCH --signal=TERM@120
srun --kill-on-bad-exit=1 {torchrun} --nnodes=$SLURM_NNODES --nproc-per-node=1 \\
  --rdzv-id=$SLURM_JOB_ID --rdzv-backend=c10d --rdzv-endpoint=127.0.0.1:29500 \\
  -m gpt1.pretrain transformer --corpus {corpus} --settings {settings} \\
  --runtime '{{"micro_batch": {micro_batch}}}' --work {folder}/work --out {folder}/out
"""


def test_two_nodes_train_as_one_process_does(slurm, project, config, pretrained, tmp_path):
    """Started by torchrun, as the page on clusters says."""
    cfg = parse(config)
    script = SCRIPT.format(
        torchrun=Path(sys.executable).with_name("torchrun"),
        corpus=pretrained / "results/corpus/corpus.json",
        settings=shlex.quote(cfg.pretrain("transformer", 0).to_json()),
        micro_batch=cfg.runtime.micro_batch,
        folder=tmp_path,
    )
    (tmp_path / "job").write_text(script)
    submit = ("sbatch", "--wait", "--parsable", "-D", str(project), str(tmp_path / "job"))
    job = slurm.job(slurm(*submit).strip())
    said = (project / "said").read_text()
    assert (job["JobState"], job["NumNodes"]) == ("COMPLETED", "2"), said
    one = pretrained / "results/pretrain/transformer/seed-0"
    assert losses(tmp_path / "out") == pytest.approx(losses(one), abs=1e-5)
    assert '"processes": 2' in (tmp_path / "out" / "update-20.json").read_text()
