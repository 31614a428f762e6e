"""Memory that does not suffice is one line, with what was asked for and what to change."""

import numpy as np
import pyarrow as pa
import pytest
import torch

from gpt1.model.language_model import LanguageModel
from gpt1.training.runtime import Runtime
from gpt1.training.scorer import Scorer
from gpt1.training.windows import accumulate, heldout_loss
from tasks.common.errors import InputError
from tasks.common.programs import run
from tests.gpt1 import toy
from tests.gpt1.test_zero_shot import NEWLINE

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
    split, scorer = run.data.splits["dev"], Scorer(run.model.language_model, NEWLINE, Runtime())
    text = [[scorer.sequence([], np.arange(1, 9))]]
    for score in (lambda: scorer.log_probabilities(text), lambda: run.predict(split)):
        room["rows"] = 0
        with pytest.raises(InputError, match=rf"scoring 4096 tokens at once: .*for\); {MORE}"):
            score()
        room["rows"] = len(split)
        assert len(score()) > 0
