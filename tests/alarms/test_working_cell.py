"""A cell that can learn its task raises no alarm; the planted faults of training raise theirs."""

import pytest
import torch

from gpt1.training.cell_runner import alarms
from gpt1.training.finetune import FineTuning, TaskData
from gpt1.training.runtime import Runtime
from tasks import task
from tests.gpt1 import toy

torch.set_num_threads(1)


@pytest.mark.parametrize("name", ["rte", "race", "mrpc", "cola", "stsb"])
def test_a_cell_whose_reported_rows_are_its_training_rows_raises_no_alarm(name):
    kind = task(name)
    rows = toy.Rows(kind).split(8, "train")
    encoded = toy.encoded_task(kind.spec, train=rows, select=rows, **{kind.main: rows})
    settings = toy.settings("transformer", epochs=60, batch=8, lm_coef=0.5)
    data = TaskData.of(encoded, toy.N_VOCAB, settings)
    run = FineTuning(data, toy.source("transformer"), settings, 2, 0, Runtime())
    assert ", ".join(alarms(run.train(), 50.0, kind.main, kind.metric)) == ""
