"""`gpt1.pretrain` in several processes under torchrun: what it says, and how it ends."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tasks.common.files import read_json
from tests.gpt1.toy import corpus, pretrain_settings

pytestmark = pytest.mark.faults
LONG = {"updates": 100_000, "checkpoints": [0, 100_000], "batch": 8}


TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=3")
SIGNALS = "--signals-to-handle=SIGTERM,SIGUSR1"


def command(tmp_path, settings):
    words = [sys.executable, *TORCHRUN, SIGNALS, "-m", "gpt1", "pretrain", "transformer"]
    words += ["--corpus", corpus(tmp_path / "corpus"), "--settings", settings.to_json()]
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


def test_torchrun_trains_in_three_processes(tmp_path):
    subprocess.run(command(tmp_path, pretrain_settings("transformer")), check=True)
    assert read_json(tmp_path / "out" / "update-8.json")["runtime"]["processes"] == 3


@pytest.mark.parametrize("rank", [0, 2])
def test_a_killed_process_stops_the_others_within_a_minute_and_is_named(tmp_path, rank):
    launcher, pids = running(tmp_path, pretrain_settings("transformer", **LONG))
    begun = time.monotonic()
    os.kill(pids[rank], signal.SIGKILL)
    said = launcher.communicate(timeout=60)[0]
    assert time.monotonic() - begun < 60 and launcher.returncode == 1
    assert re.search(rf"rank +: {rank} .*\n +exitcode +: -9 ", said), said
    assert not any(alive(pid) for pid in pids)


def test_a_process_that_fails_says_why_in_one_line(tmp_path):
    done = subprocess.run(
        command(tmp_path, pretrain_settings("transformer", lr=1e30)),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert done.returncode == 1
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("error:"))
    assert "the loss is" in line


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1])
def test_a_signal_to_the_launcher_stops_all_processes(tmp_path, number):
    launcher, pids = running(tmp_path, pretrain_settings("transformer", **LONG))
    launcher.send_signal(number)
    said = launcher.communicate(timeout=60)[0]
    assert launcher.returncode != 0
    assert f"error: stopped by {number.name} at update" in said, said
    assert list(tmp_path.glob("work/*/state.safetensors"))
    assert not any(alive(pid) for pid in pids)


def test_processes_whose_launcher_is_killed_stop(tmp_path):
    launcher, pids = running(tmp_path, pretrain_settings("transformer", **LONG))
    launcher.kill()
    launcher.wait()
    end = time.monotonic() + 60
    while any(alive(pid) for pid in pids) and time.monotonic() < end:
        time.sleep(0.5)
    assert not any(alive(pid) for pid in pids)
