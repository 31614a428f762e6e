"""Every setting of training changes the result: one without effect fails here."""

import pytest
import torch

from gpt1.training.pretraining import Pretraining
from gpt1.training.runtime import Runtime
from gpt1.training.task_data import TaskData
from tasks import task
from tests.gpt1 import toy
from tests.gpt1.toy import corpus, source

SHARED = {
    ("model", "init_std"): 0.05,
    ("model", "embd_dropout"): "sum",
    ("model", "lm_softmax"): "tokens_only",
    ("optimizer", "b1"): 0.5,
    ("optimizer", "b2"): 0.5,
    ("optimizer", "eps"): 1e-2,
    ("optimizer", "l2"): 0.5,
    ("optimizer", "vector_l2"): True,
    ("optimizer", "max_grad_norm"): 0.01,
}
FINETUNE = {
    **SHARED,
    ("model", "shape", "n_head"): 2,
    ("epochs",): 1,
    ("batch",): 2,
    ("lr",): 1e-4,
    ("warmup",): 0.9,
    ("lm_coef",): 0.1,
    ("dropout", "embd"): 0.5,
    ("dropout", "attn"): 0.5,
    ("dropout", "resid"): 0.5,
    ("dropout", "clf"): 0.5,
    ("eval_train",): 3,
}
PRETRAIN = {
    **SHARED,
    ("model", "n_ctx"): 20,
    ("seed",): 1,
    ("updates",): 9,
    ("warmup",): 5,
    ("batch",): 2,
    ("lr",): 1e-4,
    ("dropout", "embd"): 0.5,
    ("dropout", "attn"): 0.5,
    ("dropout", "resid"): 0.5,
}


def finetuned(settings):
    """The flat weights after training, and how many training rows were scored."""
    data = TaskData.of(toy.encoded(task("rte"), train=16, select=4, dev=4), toy.N_VOCAB, settings)
    run = toy.SingleTask(data, source("transformer"), settings, 1, 0, Runtime())
    rows = run.train().rows["train"]
    return run.optimizer.flat.clone(), rows


@pytest.mark.parametrize("path", FINETUNE, ids=".".join)
def test_every_setting_of_fine_tuning_has_an_effect(path):
    settings = toy.settings("transformer", dropout=toy.DROPOUT)
    one, two = finetuned(settings), finetuned(toy.changed(settings, path, FINETUNE[path]))
    assert one[1] != two[1] or not torch.equal(one[0], two[0])


@pytest.mark.parametrize("path", PRETRAIN, ids=".".join)
def test_every_setting_of_pre_training_has_an_effect(path, tmp_path):
    settings = toy.pretrain_settings("transformer")
    weights = []
    for name, each in (("a", settings), ("b", toy.changed(settings, path, PRETRAIN[path]))):
        run = Pretraining(
            "transformer", corpus(tmp_path / "corpus"), each, Runtime(), tmp_path / name
        )
        run.train()
        weights.append(run.optimizer.flat)
    assert weights[0].shape != weights[1].shape or not torch.equal(*weights)
