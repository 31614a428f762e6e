"""A cell that can learn its task raises no alarm; with a fault planted in training, it does."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from gpt1.training import finetuning
from gpt1.training.cell_files import alarms
from gpt1.training.finetuning import FineTuning, TaskData
from gpt1.training.optim import Adam
from gpt1.training.runtime import Runtime
from tasks import task
from tests.gpt1 import toy

torch.set_num_threads(1)


def alarms_of_a_cell(name, arch="transformer"):
    """The alarms of a cell, trained to its end, whose reported rows are its training rows."""
    kind = task(name)
    rows = toy.Rows(kind).split(8, "train")
    encoded = toy.encoded_task(kind.spec, train=rows, select=rows, **{kind.main: rows})
    lr = {"transformer": 3e-3, "lstm": 1e-2}[arch]
    settings = toy.settings(arch, epochs=60, batch=8, lm_coef=0.5, lr=lr)
    data = TaskData.of(encoded, toy.N_VOCAB, settings)
    n_layer = toy.SHAPES[arch].n_layer
    run = FineTuning(data, toy.source(arch), settings, n_layer, 0, Runtime())
    return alarms(run.train(), 50.0, kind.main, kind.metric)


@pytest.mark.parametrize("arch", toy.ARCHS)
@pytest.mark.parametrize("name", ["snli", "rte", "race", "mrpc", "cola", "stsb"])
def test_a_cell_that_learns_its_task_raises_no_alarm(name, arch):
    assert alarms_of_a_cell(name, arch) == []


def test_gradients_cleared_before_the_step_raise_an_alarm(monkeypatch):
    step = Adam.step

    def cleared(self):
        self.zero_grad()
        step(self)

    monkeypatch.setattr(Adam, "step", cleared)
    assert "majority_rate" in alarms_of_a_cell("rte")


def test_training_rows_with_the_label_of_the_row_before_raise_an_alarm(monkeypatch):
    losses = FineTuning.losses

    def shifted(self, rows, split):
        return losses(self, rows, replace(split, labels=np.roll(split.labels, 1)))

    monkeypatch.setattr(FineTuning, "losses", shifted)
    assert "majority_rate" in alarms_of_a_cell("rte")


def test_a_classification_loss_of_0_raises_an_alarm(monkeypatch):
    loss = finetuning.classification_loss
    monkeypatch.setattr(finetuning, "classification_loss", lambda *a: 0 * loss(*a))
    assert "loss_not_falling" in alarms_of_a_cell("race")
