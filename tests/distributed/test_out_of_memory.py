"""A device that is too small for a micro-batch gets smaller ones; the batch stays what it is."""

import pytest
import torch

from gpt1.model.language_model import LanguageModel
from gpt1.settings import Dropout
from gpt1.training.pretraining import Pretraining
from gpt1.training.runtime import Runtime
from tasks.common.errors import InputError
from tests.gpt1.toy import corpus, pretrain_settings

PLAIN = Dropout(embd=0, attn=0, resid=0)


def limited(room):
    """A call of a language model for which a device has memory for so many windows."""
    call = LanguageModel.__call__

    def with_limited_memory(self, ids, *rest, **options):
        if self.training and len(ids) > room["windows"]:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return call(self, ids, *rest, **options)

    return with_limited_memory


@pytest.fixture
def room(monkeypatch):
    """How many windows fit into the memory of this test's device."""
    room = {"windows": 100}
    monkeypatch.setattr(LanguageModel, "__call__", limited(room))
    return room


def training(tmp_path, name, **runtime):
    """A run without dropout, so that its losses do not depend on micro-batches."""
    settings = pretrain_settings("lstm", batch=8, dropout=PLAIN)
    books = corpus(tmp_path / "corpus")
    return Pretraining("lstm", books, settings, Runtime(**runtime), tmp_path / name)


@pytest.mark.parametrize("micro_batch", [None, 6])
def test_the_micro_batch_halves_and_the_losses_stay(tmp_path, room, capsys, micro_batch):
    whole = training(tmp_path, "whole")
    whole.train()
    room["windows"] = 3
    cramped = training(tmp_path, "cramped", micro_batch=micro_batch)
    cramped.train()
    assert [row.loss for row in cramped.log.rows] == pytest.approx(
        [row.loss for row in whole.log.rows], abs=1e-5
    )
    said = capsys.readouterr().out
    first = "of 6 windows; going on with 3" if micro_batch else "of 8 windows; going on with 4"
    assert f"warning: update 1: out of memory with a micro-batch {first}, the batch stays" in said
    assert said.count("out of memory") == (1 if micro_batch else 2)


def test_memory_that_runs_out_in_the_middle_of_an_update_does_not_count_windows_twice(
    tmp_path, room, monkeypatch
):
    whole, cramped = training(tmp_path, "whole"), training(tmp_path, "cramped", micro_batch=4)
    backward, calls = torch.Tensor.backward, []

    def failing_once(self, *rest, **options):
        calls.append(self)
        backward(self, *rest, **options)
        if len(calls) == 2:
            raise torch.OutOfMemoryError("CUDA out of memory")

    expected = whole.update()
    monkeypatch.setattr(torch.Tensor, "backward", failing_once)
    assert float(cramped.update()) == pytest.approx(float(expected), abs=1e-5)
    assert torch.allclose(cramped.optimizer.m, whole.optimizer.m, atol=1e-6)


def test_a_device_too_small_for_one_window_ends_the_run(tmp_path, room):
    room["windows"] = 0
    with pytest.raises(InputError, match="out of memory with one window at a time; lower"):
        training(tmp_path, "a").train()
