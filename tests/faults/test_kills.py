"""Killed at any instant: the end is the same, byte for byte, and nothing is left lying about."""

import os
import random
import shutil
import signal
import subprocess
import time

import pytest

from gpt1.training import pretraining
from gpt1.training.pretraining import Pretraining
from gpt1.training.runtime import Runtime
from tests.faults.runs import (
    RESULTS,
    ended,
    finished,
    leftovers,
    new_project,
    start,
    start_tables,
    tables,
)
from tests.gpt1.toy import ARCHS, corpus, pretrain_settings

pytestmark = pytest.mark.faults
KILLS = 20
WORKFLOW_KILLS = 10


def forked(action) -> int:
    """The id of a copy of this process that ends with `action`, without its import time."""
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        try:
            action()
        finally:
            os._exit(0)
    return pid


@pytest.mark.parametrize("arch", ARCHS)
def test_pretraining_killed_at_random_instants_ends_bit_equal(tmp_path, arch, monkeypatch):
    settings = pretrain_settings(arch, updates=400, checkpoints=[0, 9, 60, 200, 399, 400])
    facts = corpus(tmp_path / "corpus")

    def train(name: str) -> None:
        training = Pretraining(arch, facts, settings, Runtime(), tmp_path / name / "work")
        training.train()
        training.publish(tmp_path / name / "out")

    started = time.monotonic()
    train("whole")
    seconds = time.monotonic() - started
    monkeypatch.setattr(pretraining, "STATE_SECONDS", 0.0)  # as many writes as there can be
    monkeypatch.setattr(pretraining, "SAVING_SHARE", 0)
    rng, killed = random.Random(arch), 0
    while killed < KILLS:
        pid = forked(lambda: train("parts"))
        time.sleep(rng.uniform(0, seconds))
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        if os.WIFSIGNALED(status):
            killed += 1
        else:  # it was done; killed from the beginning again
            shutil.rmtree(tmp_path / "parts")
    train("parts")
    for path in (tmp_path / "whole" / "out").glob("*.safetensors"):
        assert path.read_bytes() == (tmp_path / "parts" / "out" / path.name).read_bytes()
    logs = [(tmp_path / name / "out" / "log.csv").read_text() for name in ("whole", "parts")]
    one, two = ([line.rpartition(",")[0] for line in log.splitlines()] for log in logs)
    assert one == two
    left = [path for path in (tmp_path / "parts").rglob("*") if path.name.startswith(".")]
    assert not left


def test_a_workflow_killed_at_random_instants_ends_with_the_same_score_tables(whole, tmp_path):
    """Killed with all its jobs, unlocked and started again, on another number of cores."""
    project, rng, killed = new_project(tmp_path / "project"), random.Random(0), 0
    while killed < WORKFLOW_KILLS:
        process = start_tables(project)
        try:
            said, _ = process.communicate(timeout=rng.uniform(0.1, 0.5) * whole.seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            said, _ = process.communicate()
        if process.returncode == -signal.SIGKILL:
            killed += 1
            finished(start(project, "--unlock"))
        else:  # it was done; killed from the beginning again
            assert process.returncode == 0, said
            assert tables(project) == whole.tables
            for made in (RESULTS, ".snakemake"):
                shutil.rmtree(project / made)
    finished(start_tables(project))
    assert tables(project) == whole.tables
    assert not leftovers(project / RESULTS)


def test_two_workflows_at_once_are_told_and_harm_nothing(whole, tmp_path):
    project = new_project(tmp_path / "project")
    first = start_tables(project)
    while first.poll() is None and not list(project.glob(".snakemake/locks/*")):
        time.sleep(0.05)
    code, said = ended(start_tables(project))
    assert code and "locked" in said
    finished(first)
    finished(start_tables(project))
    assert tables(project) == whole.tables
