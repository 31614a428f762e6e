"""`gpt1.pretrain` in several processes, as a job starts it: its messages and its end."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tasks.common.errors import INTERRUPTED
from tasks.common.files import read_json
from tests.gpt1.toy import corpus, pretrain_settings

pytestmark = pytest.mark.faults
LONG = {"updates": 100_000, "checkpoints": [0, 100_000], "batch": 8}


def command(tmp_path, settings, processes=3, launcher=()):
    books = corpus(tmp_path / "corpus")
    words = [sys.executable, *launcher, "-m", "gpt1.pretrain", "transformer", "--corpus", books]
    words += ["--settings", settings.to_json(), "--runtime", f'{{"processes": {processes}}}']
    return list(map(str, [*words, "--work", tmp_path / "work", "--out", tmp_path / "out"]))


def workers(launcher: int, count: int) -> list[int]:
    """The process ids of the launcher's processes, once training has begun."""
    children = Path(f"/proc/{launcher}/task/{launcher}/children")
    found: list[int] = []
    while len(found) < count:
        time.sleep(0.2)
        found = [int(pid) for pid in children.read_text().split()]
    return found


def running(tmp_path, settings):
    """A run under way: its launcher, and its processes by rank."""
    launcher = subprocess.Popen(
        command(tmp_path, settings), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    found = workers(launcher.pid, 3)
    while not list(tmp_path.glob("work/*/update-0.json")):
        assert launcher.poll() is None
        time.sleep(0.2)
    time.sleep(1)
    return launcher, found


def alive(pid: int) -> bool:
    """Whether the process exists and is not waiting to be reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_run_in_three_processes_ends_without_a_word_of_the_launcher(tmp_path):
    done = subprocess.run(
        command(tmp_path, pretrain_settings("transformer")), text=True, capture_output=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert read_json(tmp_path / "out" / "update-8.json")["runtime"]["processes"] == 3


def test_torchrun_starts_the_same_program(tmp_path):
    launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2")
    words = command(tmp_path, pretrain_settings("transformer"), 1, launcher)
    subprocess.run(words, check=True)
    assert read_json(tmp_path / "out" / "update-8.json")["runtime"]["processes"] == 2


@pytest.mark.parametrize("rank", [0, 2])
def test_a_killed_process_stops_the_others_within_a_minute_and_is_named(tmp_path, rank):
    launcher, pids = running(tmp_path, pretrain_settings("transformer", **LONG))
    begun = time.monotonic()
    os.kill(pids[rank], signal.SIGKILL)
    said = launcher.communicate(timeout=60)[0]
    assert time.monotonic() - begun < 60 and launcher.returncode == 1
    last = said.splitlines()[-1]
    assert last.startswith(f"error: process {rank + 1} of 3 was ended by SIGKILL, and the others")
    assert "Traceback" not in said and not any(alive(pid) for pid in pids)


def test_the_line_of_a_process_that_fails_is_the_last_one(tmp_path):
    done = subprocess.run(
        command(tmp_path, pretrain_settings("transformer", lr=1e30)),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert done.returncode == 1
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("error:"))
    assert "the loss is" in line and done.stdout.rstrip().endswith(line)
    assert "Traceback" not in done.stdout


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1])
def test_a_signal_to_the_launcher_stops_all_processes(tmp_path, number):
    launcher, pids = running(tmp_path, pretrain_settings("transformer", **LONG))
    launcher.send_signal(number)
    said = launcher.communicate(timeout=60)[0]
    assert launcher.returncode == INTERRUPTED and "Traceback" not in said
    assert f"stopped by {number.name} at update" in said.splitlines()[-1]
    assert not any(alive(pid) for pid in pids)


def test_processes_whose_launcher_is_killed_stop(tmp_path):
    launcher, pids = running(tmp_path, pretrain_settings("transformer", **LONG))
    launcher.kill()
    launcher.wait()
    end = time.monotonic() + 60
    while any(alive(pid) for pid in pids) and time.monotonic() < end:
        time.sleep(0.5)
    assert not any(alive(pid) for pid in pids)
