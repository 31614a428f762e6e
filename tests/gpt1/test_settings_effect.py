"""Every setting that training is given changes what comes out: a flag without effect fails here."""

import copy

import numpy as np
import pytest
import torch

from gpt1.pretrain import Pretraining
from gpt1.training.finetune import FineTuning, TaskData
from gpt1.training.runtime import Runtime
from tasks import task
from tests.gpt1 import toy
from tests.gpt1.test_finetune import source
from tests.gpt1.test_pretrain import corpus
from tests.gpt1.test_pretrain import settings as pretrain_settings

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
    ("finetune", "epochs"): 1,
    ("finetune", "batch"): 2,
    ("finetune", "lr"): 1e-4,
    ("finetune", "warmup"): 0.9,
    ("finetune", "lm_coef"): 0.1,
    ("finetune", "dropout", "embd"): 0.5,
    ("finetune", "dropout", "attn"): 0.5,
    ("finetune", "dropout", "resid"): 0.5,
    ("finetune", "dropout", "clf"): 0.5,
    ("finetune", "eval_train"): 3,
}
PRETRAIN = {
    **SHARED,
    ("model", "n_ctx"): 20,
    ("pretrain", "seed"): 1,
    ("pretrain", "updates"): 9,
    ("pretrain", "warmup"): 5,
    ("pretrain", "batch"): 2,
    ("pretrain", "lr"): 1e-4,
    ("pretrain", "dropout", "embd"): 0.5,
    ("pretrain", "dropout", "attn"): 0.5,
    ("pretrain", "dropout", "resid"): 0.5,
}


def changed(settings, path, value):
    """A copy of the settings with one value changed; it must have been another one."""
    settings = copy.deepcopy(settings)
    place = settings
    for key in path[:-1]:
        place = place[key]
    assert place[path[-1]] != value
    place[path[-1]] = value
    return settings


def finetuned(settings):
    """The flat weights after training, and how many training rows were scored."""
    encoded = toy.encoded(task("rte"), train=16, select=4, dev=4)
    n_ctx, options = settings["model"]["n_ctx"], settings["finetune"]
    data = TaskData.of(encoded, toy.N_VOCAB, n_ctx, options["eval_train"])
    weights = source("transformer")
    run = FineTuning(
        data, "transformer", toy.N_VOCAB, settings, weights, 1, options["lm_coef"], 0, Runtime()
    )
    rows = run.train()["rows"]["train"]
    return run.optimizer.flat.clone(), rows


@pytest.mark.parametrize("path", FINETUNE, ids=".".join)
def test_every_setting_of_fine_tuning_has_an_effect(path):
    settings = toy.settings("transformer", dropout=toy.DROPOUT)
    one, two = finetuned(settings), finetuned(changed(settings, path, FINETUNE[path]))
    assert one[1] != two[1] or not torch.equal(one[0], two[0])


@pytest.mark.parametrize("path", PRETRAIN, ids=".".join)
def test_every_setting_of_pre_training_has_an_effect(path, tmp_path):
    settings = pretrain_settings("transformer")
    weights = []
    for name, each in (("a", settings), ("b", changed(settings, path, PRETRAIN[path]))):
        run = Pretraining(
            "transformer", corpus(tmp_path / "corpus"), each, Runtime(), tmp_path / name
        )
        run.train_to_end(bar=False)
        weights.append(run.optimizer.flat)
    assert weights[0].shape != weights[1].shape or not torch.equal(*weights)


@pytest.mark.slow
@pytest.mark.parametrize("skip_pads", [False, True], ids=["with pads", "without pads"])
def test_compilation_changes_a_loss_by_rounding_only(skip_pads):
    encoded = toy.encoded(task("rte"), train=8, select=4, dev=4)
    losses, answers = [], []
    for compiled in (False, True):
        settings = toy.settings("transformer")
        data = TaskData.of(encoded, toy.N_VOCAB, toy.N_CTX, 4)
        weights = source("transformer")
        runtime = Runtime(compile=compiled, skip_pads=skip_pads)
        run = FineTuning(data, "transformer", toy.N_VOCAB, settings, weights, 1, 0.5, 0, runtime)
        for rows in ([0, 1, 2, 3], [4, 5, 6, 7], [1, 6, 3, 2]):  # of other lengths
            run.update(np.array(rows))
        losses.append(run.history[-1][0])
        answers.append(run.predict(data.splits["dev"]).tolist())
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
    assert answers[0] == answers[1]
