"""Killed at any instant: the end is the same, byte for byte, and nothing is left lying about."""

import os
import random
import resource
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from gpt1 import pretrain
from gpt1.pretrain import Pretraining
from gpt1.training.runtime import Runtime
from tests.faults.runs import RESULTS, finished, leftovers, new_project, start_tables, tables
from tests.gpt1.toy import ARCHS, corpus, pretrain_settings

pytestmark = pytest.mark.faults
KILLS = 20
WORKFLOW_STOPS = 10


def forked(action) -> int:
    """The id of a copy of this process that ends with `action`, without its import time."""
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # see `kill_in_a_write`
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            action()
        finally:
            os._exit(0)
    return pid


def kill_in_a_write(pid: int, size: int) -> None:
    """Let the system kill a process in the middle of its next file of more than `size` bytes."""
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, size))


def ended_alike(one: Path, two: Path) -> None:
    """The outputs of two runs are the same, but for seconds; nothing temporary is left."""
    files = sorted(path.name for path in (one / "out").glob("*.safetensors"))
    assert len(files) == 6
    for name in files:
        assert (one / "out" / name).read_bytes() == (two / "out" / name).read_bytes(), name
    logs = [(folder / "out" / "log.csv").read_text().splitlines() for folder in (one, two)]
    first, second = ([line.rpartition(",")[0] for line in log] for log in logs)
    assert first == second
    assert not [path for path in two.rglob(".*") if path.is_file()]


@pytest.mark.parametrize("arch", ARCHS)
def test_pretraining_killed_at_random_instants_ends_bit_equal(tmp_path, arch, monkeypatch):
    """Every second kill is in the middle of a write, most of these of the state."""
    settings = pretrain_settings(arch, updates=400, checkpoints=[0, 9, 60, 200, 399, 400])
    facts = corpus(tmp_path / "corpus")
    whole, parts = tmp_path / "whole", tmp_path / "parts"

    def train(folder: Path) -> None:
        training = Pretraining(arch, facts, settings, Runtime(), folder / "work")
        training.train()
        training.publish(folder / "out")

    started = time.monotonic()
    train(whole)
    seconds = time.monotonic() - started
    size = (whole / "out" / "update-400.safetensors").stat().st_size
    monkeypatch.setattr(pretrain, "STATE_SECONDS", 0.0)  # as many writes as there can be
    monkeypatch.setattr(pretrain, "SAVING_SHARE", 0)
    rng, killed, halves = random.Random(arch), 0, set()
    while killed < KILLS:
        pid = forked(lambda: train(parts))
        time.sleep(rng.uniform(0, seconds))
        if killed % 2:
            kill_in_a_write(pid, rng.randrange(1, size))
        else:
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        halves |= set(parts.glob("work/*/.*"))  # temporary files, whose names are never the same
        if os.WIFSIGNALED(status):
            killed += 1
        else:  # it was done; killed from the beginning again
            ended_alike(whole, parts)
            shutil.rmtree(parts)
    train(parts)
    ended_alike(whole, parts)
    assert len(halves) >= KILLS // 2, "too few kills were in a write"
    assert any(path.name.startswith(".state.") for path in halves)


def test_a_workflow_stopped_at_random_instants_ends_with_the_same_score_tables(whole, tmp_path):
    """Stopped or killed with all its jobs, and started again, on another number of cores."""
    project, rng, stops = new_project(tmp_path / "project"), random.Random(0), 0
    while stops < WORKFLOW_STOPS:
        process = start_tables(project)
        try:
            said, _ = process.communicate(timeout=rng.uniform(0.1, 0.5) * whole.seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, (signal.SIGKILL, signal.SIGTERM)[stops % 2])
            process.communicate()
            stops += 1
        else:  # it was done; stopped from the beginning again
            assert process.returncode == 0, said
            assert tables(project) == whole.tables
            for made in (RESULTS, ".snakemake"):
                shutil.rmtree(project / made)
    finished(start_tables(project))
    assert tables(project) == whole.tables
    assert not leftovers(project / RESULTS)
