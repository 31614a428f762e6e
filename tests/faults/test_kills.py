"""Killed at any instant: the end is the same, byte for byte, and nothing is left lying about."""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpt1.training import pretraining
from gpt1.training.pretraining import Pretraining
from gpt1.training.runtime import Runtime
from tests.gpt1.toy import ARCHS, corpus, pretrain_settings
from tests.workflow.configs import shipped
from tests.workflow.running import copy_project, write

pytestmark = pytest.mark.faults
KILLS = 20
OWN = (".work", ".snakemake_timestamp")  # hidden files of ours and of Snakemake's
WORKFLOW_KILLS = 10
TABLES = ["cells", "ablation", "main", "layer_transfer", "zero_shot", "probes", "pretraining"]
TABLES += ["contamination", "claims"]


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


def tiny() -> dict:
    """The smoke config cut down to a few jobs."""
    config = shipped("smoke") | {"results": "made"}
    experiment = config["experiment"]
    experiment["tasks"] = {"rte": {"limit_train": 24}, "race": {"limit_train": 24}}
    experiment["grid"] = {"arch": ["transformer"], "aux": ["on"]}
    experiment["grid"]["layers"] = {"transformer": ["none", 0, 12]}
    experiment["zero_shot"] = {"limit": 8, "tasks": {"race": {}}}
    experiment["submission"] = False
    return config


def start(project: Path, *options: str) -> subprocess.Popen:
    """Snakemake making the tables of the tiny run."""
    command = [sys.executable, "-m", "snakemake", *(f"made/{name}.csv" for name in TABLES)]
    command += ["--rerun-incomplete", "--configfile", "tiny.yaml", *options]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen(command, cwd=project, start_new_session=True, **streams)


def finished(project: Path, *options: str) -> dict[str, bytes]:
    """The bytes of the score tables at the end of a run."""
    process = start(project, *options)
    said, _ = process.communicate()
    assert process.returncode == 0, said
    return {
        path.name: path.read_bytes() for name in TABLES for path in project.glob(f"made/{name}.*")
    }


def new_project(folder: Path) -> Path:
    folder.mkdir()
    copy_project(folder)
    write(folder / "tiny.yaml", tiny())
    return folder


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> tuple[Path, dict[str, bytes], float]:
    """A run that nothing disturbed: its folder, its tables, and how long it took."""
    project = new_project(tmp_path_factory.mktemp("whole") / "project")
    started = time.monotonic()
    tables = finished(project, "--cores", "2")
    return project, tables, time.monotonic() - started


def test_a_workflow_killed_at_random_instants_ends_with_the_same_score_tables(whole, tmp_path):
    """Killed with all its jobs, on another number of cores."""
    _, tables, seconds = whole
    project, rng = new_project(tmp_path / "project"), random.Random(0)
    for _ in range(WORKFLOW_KILLS):
        process = start(project, "--cores", "1", "--nolock")
        time.sleep(rng.uniform(0.1, 0.5) * seconds)
        with contextlib.suppress(ProcessLookupError):  # it was done
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    assert finished(project, "--cores", "1", "--nolock") == tables
    hidden = [path for path in (project / "made").rglob(".*") if path.name not in OWN]
    assert not hidden


def test_two_workflows_at_once_are_told_and_harm_nothing(whole, tmp_path):
    _, tables, _ = whole
    project = new_project(tmp_path / "project")
    first = start(project, "--cores", "1")
    while first.poll() is None and not list(project.glob(".snakemake/locks/*")):
        time.sleep(0.05)
    second = start(project, "--cores", "1")
    said, _ = second.communicate()
    assert second.returncode and "locked" in said
    first.communicate()
    assert first.returncode == 0
    assert finished(project, "--cores", "1") == tables


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root")
def test_a_full_and_a_read_only_disk_are_one_line_and_leave_no_half_file(whole, tmp_path):
    """At whatever stage the space ends: as much as is there is made larger step by step."""
    source, tables, _ = whole
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", disk]).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        project = new_project(tmp_path / "project")
        (project / "made").symlink_to(disk)
        for size in ("1m", "3m", "6m", "9m"):
            remount(disk, f"size={size}")
            process = start(project, "--cores", "1")
            said, _ = process.communicate()
            if process.returncode == 0:
                break
            assert "free some space" in said or "No space left on device" in said, said
        remount(disk, "ro")
        process = start(project, "--cores", "1", "--forceall")
        said, _ = process.communicate()
        # Snakemake's words for a file that is there, and for one that is not.
        words = ("Write-protected output files for rule", "Read-only file system")
        assert process.returncode and any(text in said for text in words), said
        remount(disk, "rw,size=200m")
        assert finished(project, "--cores", "1") == tables
    finally:
        subprocess.run(["umount", disk], check=True)


def remount(disk: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", disk], check=True)
