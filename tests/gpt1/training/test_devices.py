"""Jobs side by side take GPUs of their own, made here: torch is said to see so many."""

import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import contextmanager

import pytest
import torch

from gpt1.training import devices
from gpt1.training.runtime import Runtime
from tests.support.forks import FORKS

SECONDS = 60


@contextmanager
def jobs(folder, *asked, n_cards=8, given=None):
    """Processes that take so many GPUs each, all at once; yields each with what it then sees."""
    ends = [FORKS.Pipe() for _ in asked]
    started = [
        FORKS.Process(target=_job, args=(str(folder), n, n_cards, given, there))
        for n, (_, there) in zip(asked, ends, strict=True)
    ]
    for process in started:
        process.start()
    try:
        seen = [here.recv() if here.poll(SECONDS) else None for here, _ in ends]
        yield list(zip(started, seen, strict=True))
    finally:
        for process in started:
            process.kill()
            process.join()


def _job(folder, n, n_cards, given, end):
    tempfile.tempdir = folder
    torch.cuda.device_count = lambda: n_cards
    os.environ.pop("CUDA_VISIBLE_DEVICES", None)
    if given is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = given
    devices.take(n)
    end.send(os.environ.get("CUDA_VISIBLE_DEVICES"))
    signal.pause()


@pytest.mark.parametrize(("n_cards", "most"), [(8, 1), (4, 2), (3, 3)])
def test_eight_jobs_at_once_share_the_gpus_evenly(tmp_path, n_cards, most):
    with jobs(tmp_path, *[1] * 8, n_cards=n_cards) as found:
        shares = Counter(seen for _, seen in found)
        assert shares.keys() == set("01234567"[:n_cards]) and max(shares.values()) == most


def test_a_killed_job_frees_its_gpu_for_the_next(tmp_path):
    with jobs(tmp_path, 1, 1, 1, n_cards=3) as found:
        process, freed = found[1]
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        with jobs(tmp_path, 1, n_cards=3) as later:
            assert later[0][1] == freed


def test_jobs_that_ask_for_several_have_different_ones_or_all_there_are(tmp_path):
    with jobs(tmp_path, 4, 2, 1, 1) as found:
        own = [seen.split(",") for _, seen in found]
        assert [len(gpus) for gpus in own] == [4, 2, 1, 1] and len({*sum(own, [])}) == 8
    with jobs(tmp_path, 4, n_cards=2) as found:
        assert found[0][1] == "0,1"  # the program says that it needs more


@pytest.mark.parametrize(
    ("n_cards", "given", "seen"),
    [(8, "6,GPU-7f", {"6", "GPU-7f"}), (8, "5", {"5"}), (8, "", {""}), (1, None, {None})],
)
def test_of_those_given_others_are_never_taken_and_of_one_nothing(tmp_path, n_cards, given, seen):
    with jobs(tmp_path, 1, 1, n_cards=n_cards, given=given) as found:
        assert {own for _, own in found} == seen
    assert bool(list(tmp_path.iterdir())) == (len(seen) > 1)


def test_training_on_cuda_takes_one_and_on_a_numbered_gpu_or_a_cpu_none(monkeypatch):
    taken = []
    monkeypatch.setattr(devices, "take", taken.append)
    monkeypatch.setattr(Runtime, "check_device", lambda self: None)
    for device in ("cpu", "cuda:1", "cuda"):
        Runtime(device=device).start()
    assert taken == [1]


def test_a_command_keeps_its_gpus_until_it_ends(tmp_path, root):
    shown = (
        "import os, sys; print(os.environ['CUDA_VISIBLE_DEVICES'], flush=True); sys.stdin.read()"
    )
    own = [sys.executable, "-m", "gpt1", "devices", "2", sys.executable, "-c", shown]
    there = {"env": os.environ | {"CUDA_VISIBLE_DEVICES": "0,1,2", "TMPDIR": str(tmp_path)}}
    there |= {"cwd": root, "stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(own, **there) as process:
        said = [process.stdout.readline() for _ in range(2)]
        assert said == ["GPU 0, 1 of 0, 1, 2\n", "0,1\n"]
        with jobs(tmp_path, 1, given="0,1,2") as found:
            assert found[0][1] == "2"
        process.communicate()
    with jobs(tmp_path, 1, given="0,1,2") as found:
        assert found[0][1] == "0"
