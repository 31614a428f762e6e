"""One run at a time in a folder of results, and what a start of a run sweeps."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tasks.common.files import this_machine
from tests.workflow.configs import shipped
from tests.workflow.running import ROOT, copy_project, planned, snakemake, write
from workflow import run_lock
from workflow.run_lock import RunLock

HOLD = """
import sys
from workflow.run_lock import RunLock
lock = RunLock(sys.argv[1])
assert lock.take("elsewhere") is None
print("taken", flush=True)
sys.stdin.read()
"""
# In the place of a program: asks for the lock while its run holds it.
ASKS = """
import sys
from pathlib import Path
from workflow.run_lock import RunLock
out = Path(sys.argv[sys.argv.index("--out") + 1])
out.mkdir(parents=True, exist_ok=True)
(out / "manifest.json").write_text(str(RunLock(out.parent).take("elsewhere")))
"""


@pytest.fixture
def held(tmp_path):
    """Another process that holds the lock of a folder."""
    command = [sys.executable, "-c", HOLD, str(tmp_path / "results")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, text=True, **pipes) as process:
        assert process.stdout.readline() == "taken\n"
        yield process
        process.kill()


def test_the_lock_ends_with_its_process_however_that_ends(held, tmp_path):
    second = RunLock(tmp_path / "results")
    said = second.take("here")
    assert said.startswith("error: results: another run is writing to ") and "\n" not in said
    assert f"(started in elsewhere, process {held.pid} on {os.uname().nodename})" in said
    held.send_signal(signal.SIGKILL)
    held.wait()
    assert second.take("here") is None
    assert RunLock(tmp_path / "results").take("here") is not None
    second.release()
    assert RunLock(tmp_path / "results").take("here") is None


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_stops_no_run(tmp_path, monkeypatch, number):
    def flock(file, operation):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(run_lock.fcntl, "flock", flock)
    assert RunLock(tmp_path).take("here") is None
    assert RunLock(tmp_path).take("here") is None


def test_a_folder_without_room_for_the_lock_stops_no_run(tmp_path):
    (tmp_path / ".work").write_text("")
    assert RunLock(tmp_path).take("here") is None


def test_a_run_holds_the_lock_until_its_jobs_have_ended(tmp_path):
    copy_project(tmp_path)
    (tmp_path / "tasks" / "world" / "__main__.py").write_text(ASKS)
    snakemake(tmp_path, "results/world/manifest.json")
    said = (tmp_path / "results/world/manifest.json").read_text()
    assert f"another run is writing to 'results' (started in {tmp_path}, process " in said
    assert RunLock(tmp_path / "results").take("here") is None


def test_a_second_run_from_another_folder_is_refused_and_jobs_are_not(held, tmp_path):
    """A plan changes nothing, `--unlock` starts nothing, and jobs load the workflow again."""
    results = tmp_path / "results"
    config = shipped("smoke") | {"results": str(results)}
    options = ("-d", str(tmp_path / "b"), "--configfile", write(tmp_path / "c.yaml", config), "--")
    manifest = str(results / "world" / "manifest.json")
    assert planned(ROOT, *options, manifest) == {"world": 1}
    said = snakemake(ROOT, *options, manifest, code=1)
    assert said.strip().splitlines()[-1].startswith("error: results: another run is writing to ")
    assert "elsewhere" in said and not Path(manifest).exists()
    snakemake(ROOT, "--unlock", *options, manifest)
    as_job = ("--mode", "remote", "--no-hooks", "--nolock")  # of what Snakemake gives to a job
    snakemake(ROOT, *as_job, *options, manifest)
    assert Path(manifest).exists()
    held.kill()
    held.wait()

    left = [results / "cells" / f".a.json.{this_machine()}-12345678", results / ".notes.markdown"]
    left[0].parent.mkdir()
    for path in left:
        path.write_text("")
    snakemake(ROOT, "--forceall", *options, manifest)
    assert [path.exists() for path in left] == [False, True]
    snakemake(ROOT, "--touch", *options, manifest)
