"""Alarms: the signs of having learnt nothing, and a fault in training that raises one."""

from dataclasses import replace

import numpy as np
import pytest

from gpt1.records import RunRecord
from gpt1.training import finetuning
from gpt1.training.cell_files import alarms
from gpt1.training.finetuning import FineTuning
from gpt1.training.optim import Adam
from tasks import task
from tests.gpt1 import toy

FITTED = {"constant": False, "clf_loss_start": 1.0, "clf_loss_end": 0.5, "label_entropy": 0.6}


def alarms_of(score, majority=60.0, metric="accuracy", rows=1000, **changes):
    """The alarms of a run with this score on the reported rows, and `changes`."""
    scores = {"dev": {metric: score}}
    given = FITTED | changes
    run = RunRecord.model_construct(scores=scores, rows={"dev": rows}, **given)
    return alarms(run, majority, "dev", metric)


def test_alarms_are_the_four_signs_of_having_learnt_nothing():
    assert alarms_of(61.0) == []
    assert alarms_of(60.0) == ["majority_rate"]
    assert alarms_of(61.0, constant=True) == ["constant_prediction"]
    assert alarms_of(61.0, clf_loss_start=0.4) == ["loss_not_falling"]
    for loss in (0.6, 0.7):
        assert alarms_of(61.0, clf_loss_end=loss) == ["not_fitted"]
    assert alarms_of(61.0, clf_loss_end=float("nan")) == ["loss_not_falling", "not_fitted"]


@pytest.mark.parametrize(
    ("metric", "rows", "score", "names"),
    [
        ("pearson", 1000, 1.3, ["majority_rate"]),
        ("pearson", 1000, 5.3, []),
        ("matthews", 1000, 5.1, ["majority_rate"]),
        ("matthews", 3, 99.0, ["majority_rate"]),
        ("accuracy", 1000, 0.1, []),  # above its majority, which is 0 here
    ],
)
def test_a_correlation_that_chance_gives_on_so_many_rows_raises_an_alarm(
    metric, rows, score, names
):
    assert alarms_of(score, 0.0, metric, rows) == names


def alarms_of_a_cell(name, arch="transformer"):
    """The alarms of a cell, trained to its end, whose reported rows are its training rows."""
    kind = task(name)
    rows = toy.split(kind, 8, "train")
    encoded = toy.encoded_task(kind.spec, train=rows, select=rows, **{kind.main: rows})
    lr = {"transformer": 3e-3, "lstm": 1e-2}[arch]
    n_layer = toy.SHAPES[arch].n_layer
    settings = toy.cell_settings(arch, n_layer, epochs=60, batch=8, lm_coef=0.5, lr=lr)
    run = toy.tuning(encoded, toy.source(arch), settings)
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
