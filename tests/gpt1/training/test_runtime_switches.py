"""Every switch of the runtime leaves the losses of the first updates as they are without it.

Without dropout, whose masks may differ. Float32 agrees to 1e-5 of a loss, bfloat16 to 0.2 % at this
size. Learning rates are high, so that the updates change a loss by far more than rounding does, and
a wrong gradient shows in the losses that follow.
"""

import numpy as np
import pytest
import torch

from gpt1.pretrain import Pretraining
from gpt1.settings import Dropout
from gpt1.training.runtime import Runtime
from tests.gpt1 import toy

ROUNDING = 1e-5
UPDATES = 4
LR = {"transformer": 3e-3, "lstm": 3e-2}

SWITCHES = {  # by field of Runtime: values that are compared with the default one
    "device": ["cuda"],
    "precision": ["bfloat16"],
    "micro_batch": [1, 3],
    "skip_pads": [True],
    "shared_prefix": [False],
    "compile": [True],
    "threads": [2],
    "tensorboard": [True],
}
MARKS = {
    "device": pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
    "compile": pytest.mark.slow,
}
FINETUNING = set(SWITCHES)
PRETRAINING = set(SWITCHES) - {"skip_pads", "shared_prefix"}  # whole windows of the corpus


@pytest.fixture(autouse=True)
def one_thread():
    """Runtime.start sets the threads of the whole process."""
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(1)


def each(names):
    """Tests with every value of these switches."""
    cases = [
        pytest.param({name: value}, marks=MARKS.get(name, ()), id=f"{name}={value}")
        for name in sorted(names)
        for value in SWITCHES[name]
    ]
    return pytest.mark.parametrize("switch", cases)


def agree(found, expected, runtime, arch):
    """Losses of every update, `[UPDATES, ...]`, are equal but for rounding."""
    expected = np.array(expected)
    assert len(expected) == UPDATES
    assert (abs(expected[-1] / expected[0] - 1) > 100 * ROUNDING).all()
    tolerance = ROUNDING
    if runtime.device == "cuda" and arch == "lstm":
        tolerance = 1e-3  # cuDNN's LSTM multiplies in TF32
    if runtime.precision == "bfloat16":
        assert not np.array_equal(found, expected)
        tolerance = 2e-3
    assert np.array(found) == pytest.approx(expected, rel=tolerance)


def test_every_switch_is_compared():
    assert SWITCHES.keys() == Runtime.model_fields.keys() == FINETUNING | PRETRAINING
    assert all(SWITCHES.values())


def finetuned(name, arch, runtime):
    """Total and classification loss of each update, `[UPDATES, 2]`, in nats."""
    runtime.start()
    run = toy.start(name, arch, runtime=runtime, lr=LR[arch])
    assert (run.model.language_model.compiled_trunk is not None) == runtime.compile
    for rows in np.random.default_rng(0).permuted(np.tile(np.arange(8), (UPDATES, 1)), axis=1):
        run.update(rows[:7])  # which no micro-batch divides
    return run.history


@each(FINETUNING)
@pytest.mark.parametrize("arch", toy.ARCHS)
@pytest.mark.parametrize("name", ["race", "stsb"])
def test_a_switch_changes_the_losses_of_fine_tuning_by_rounding_only(name, arch, switch):
    runtime = Runtime(**switch)
    agree(finetuned(name, arch, runtime), finetuned(name, arch, Runtime()), runtime, arch)


def pretrained(arch, runtime, folder):
    """The training loss of each update, `[UPDATES]`, in nats."""
    given = {"updates": UPDATES, "checkpoints": [UPDATES], "lr": LR[arch]}
    given["dropout"] = Dropout(embd=0, attn=0, resid=0)
    books, settings = toy.corpus(folder), toy.pretrain_settings(arch, **given)
    runtime.start()
    run = Pretraining(arch, books, settings, runtime, folder / "work")
    assert (run.model.compiled_trunk is not None) == runtime.compile
    run.train()
    return [row.loss for row in run.log.rows]


@each(PRETRAINING)
@pytest.mark.parametrize("arch", toy.ARCHS)
def test_a_switch_changes_the_losses_of_pre_training_by_rounding_only(arch, switch, tmp_path):
    runtime = Runtime(**switch)
    expected = pretrained(arch, Runtime(), tmp_path / "default")
    agree(pretrained(arch, runtime, tmp_path / "switched"), expected, runtime, arch)
