"""A device that is too small for a micro-batch gets smaller ones; the batch stays what it is."""

import contextlib
import os
import re

import pytest
import torch

from gpt1.model.language_model import LanguageModel
from gpt1.settings import Dropout
from gpt1.training.pretraining import Pretraining
from gpt1.training.runtime import Runtime
from tasks.common.errors import InputError
from tasks.common.files import read_json
from tests.distributed.running import SECONDS, losses, pretrain, started, train
from tests.gpt1.toy import ARCHS, corpus, pretrain_settings

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


def test_a_checkpoint_records_the_micro_batch_that_fitted(tmp_path, room):
    room["windows"] = 2
    run = training(tmp_path, "a")
    run.update()
    assert run.runtime.numeric()["micro_batch"] == 2


def test_a_device_too_small_for_one_window_ends_the_run(tmp_path, room):
    room["windows"] = 0
    with pytest.raises(InputError, match="out of memory with one window at a time; lower"):
        training(tmp_path, "a").train()


def _train_with_room_in_the_others(cramped, folder, *arguments):
    """Where the device of one rank has memory for one window."""
    rank = int(os.environ["RANK"])
    if rank == cramped:
        LanguageModel.__call__ = limited({"windows": 1})
    with open(folder / f"said-by-{rank}", "w") as said, contextlib.redirect_stdout(said):
        train(*arguments)


@pytest.mark.parametrize("cramped", [0, 1])
@pytest.mark.parametrize("arch", ARCHS)
def test_one_of_two_processes_that_has_too_little_memory_takes_smaller_micro_batches_alone(
    tmp_path, arch, cramped
):
    """Its share of the gradients is the same."""
    books, settings = corpus(tmp_path / "corpus"), pretrain_settings(arch, batch=8, dropout=PLAIN)
    one = pretrain(1, books, settings, tmp_path / "one")
    arguments = (cramped, tmp_path, books, settings, tmp_path / "two", None, None)
    with started(2, _train_with_room_in_the_others, *arguments) as processes:
        for process in processes:
            process.join(SECONDS)
            assert process.exitcode == 0
    two = tmp_path / "two" / "out"
    assert losses(two) == pytest.approx(losses(one), abs=1e-5)
    assert (tmp_path / f"said-by-{1 - cramped}").read_text() == ""
    warnings = (tmp_path / f"said-by-{cramped}").read_text().splitlines()
    assert [re.findall(r"of (\d+) windows; going on with (\d+)", line) for line in warnings] == [
        [("4", "2")],
        [("2", "1")],
    ]
    facts = read_json(two / "update-8.json")["runtime"]
    assert facts["processes"] == 2 and facts["micro_batch"] == (1 if cramped == 0 else None)
