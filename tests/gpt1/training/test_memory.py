"""What jobs take of a machine: memory, whose want is one line, and GPUs, each its own."""

import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pytest
import torch

from gpt1.model.language_model import LanguageModel
from gpt1.training import devices
from gpt1.training.runtime import Runtime
from gpt1.training.scorer import Scorer
from gpt1.training.windows import accumulate, heldout_loss
from tasks.common.errors import InputError
from tasks.common.programs import run
from tests.gpt1 import toy
from tests.gpt1.test_zero_shot import NEWLINE
from tests.support.forks import FORKS

GPU = "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB"

MORE = "run fewer jobs at once, or use a machine or device with more memory"


def on_a_gpu():
    raise torch.OutOfMemoryError(GPU)


@pytest.mark.parametrize(
    ("ask", "asked"),
    [
        (lambda: torch.empty(10**14), "400000000000000 bytes"),
        (lambda: np.empty(10**14), "728. TiB"),
        (lambda: pa.allocate_buffer(10**15), "1000000000000000"),
        (on_a_gpu, "2.00 GiB"),
    ],
    ids=["torch", "numpy", "arrow", "gpu"],
)
def test_a_program_without_enough_memory_ends_with_one_line(ask, asked, capsys):
    assert run(ask) == 1
    said = capsys.readouterr().err
    assert said == f"error: out of memory ({asked} asked for); {MORE}\n"


@pytest.fixture
def room(monkeypatch):
    """How many sequences fit into the memory of this test's device at once."""
    room = {"rows": 0}
    call = LanguageModel.states

    def with_limited_memory(self, batch):
        if batch.shape[0] > room["rows"]:
            raise torch.OutOfMemoryError(GPU)
        return call(self, batch)

    monkeypatch.setattr(LanguageModel, "states", with_limited_memory)
    return room


@pytest.mark.parametrize("arch", toy.ARCHS)
def test_held_out_windows_are_scored_a_micro_batch_at_a_time(arch, room):
    model = toy.random_model(arch)
    rows = np.random.default_rng(0).integers(0, toy.N_VOCAB, (40, 24))
    for micro_batch, size, fewer in ((None, 32, 16), (8, 8, 4), (64, 32, 16)):
        line = rf"^{size} held-out windows at once: out of memory \(2.00 GiB asked for\); "
        with pytest.raises(InputError, match=rf"{line}give runtime.micro_batch: {fewer}, {MORE}"):
            heldout_loss(model, rows, Runtime(micro_batch=micro_batch))
    with pytest.raises(InputError, match=rf"1 held-out .* asked for\); {MORE}"):
        heldout_loss(model, rows, Runtime(micro_batch=1))
    room["rows"] = 5
    cramped = heldout_loss(model, rows, Runtime(micro_batch=5))
    room["rows"] = 100
    assert cramped == pytest.approx(heldout_loss(model, rows, Runtime()), rel=1e-5)


@pytest.mark.parametrize(("size", "remedy"), [(None, 4), (6, 3), (1, None)])
def test_pre_training_obeys_a_micro_batch_or_one_line_asks_for_a_smaller_one(size, remedy, room):
    model = toy.random_model("lstm").train()
    ids = torch.zeros(8, 24, dtype=torch.int64)
    remedy = f"give runtime.micro_batch: {remedy}, " if remedy else ""
    with pytest.raises(InputError, match=rf"{size or 8} windows at once: .*for\); {remedy}{MORE}"):
        accumulate(model, ids, range(8), Runtime(micro_batch=size), seed=0, update=0)
    room["rows"] = size or 8
    accumulate(model, ids, range(8), Runtime(micro_batch=size), seed=0, update=0)


@pytest.mark.parametrize("arch", toy.ARCHS)
def test_texts_and_rows_are_scored_or_one_line_says_why_not(arch, room):
    run = toy.start("rte", arch)
    split, scorer = run.splits["dev"], Scorer(run.model.language_model, NEWLINE, Runtime())
    text = [[scorer.sequence([], np.arange(1, 9))]]
    for score in (lambda: scorer.log_probabilities(text), lambda: run.predict(split)):
        room["rows"] = 0
        with pytest.raises(InputError, match=rf"scoring 4096 tokens at once: .*for\); {MORE}"):
            score()
        room["rows"] = len(split)
        assert len(score()) > 0


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
