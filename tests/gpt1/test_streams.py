"""Random numbers: no two purposes share a stream, and nothing fresh has been seen before."""

import itertools
from typing import get_args

import pytest

from gpt1.pretrain import Pretraining
from gpt1.streams import Purpose, stream, torch_seed
from gpt1.training.finetuning import FineTuning, TaskData
from gpt1.training.runtime import Runtime
from gpt1.weights.checkpoint import load_checkpoint
from tasks import task
from tests.gpt1 import toy


def test_streams_of_all_purposes_seeds_and_places_differ():
    places = [(), (0,), (1,), (0, 0), (0, 1), (1, 0), (1, 0, 0), ("0",), ("1", "0")]
    streams = list(itertools.product(get_args(Purpose), places))
    assert len({stream(purpose, *of).integers(2**62) for purpose, of in streams}) == len(streams)
    assert len({torch_seed(purpose, *of) % 2**32 for purpose, of in streams}) == len(streams)


@pytest.mark.parametrize("arch", toy.ARCHS)
@pytest.mark.parametrize("n_transfer", ["none", 0, 1])
def test_a_fresh_tensor_of_a_seed_is_none_that_pre_training_with_that_seed_began_with(
    tmp_path, arch, n_transfer
):
    model = toy.model(arch)
    settings = toy.pretrain_settings(arch, model=model)
    training = Pretraining(arch, toy.corpus(tmp_path / "c"), settings, Runtime(), tmp_path / "w")
    training.train()
    own = toy.settings(arch, model=model)
    data = TaskData.of(toy.encoded(task("rte"), train=8, select=8, dev=8), toy.N_VOCAB, own)
    for update in settings.checkpoints:
        source = load_checkpoint(training.work.checkpoint(update), arch, model, "t" * 64)
        run = FineTuning(data, source, own, n_transfer, settings.seed, Runtime())
        for name, tensor in run.model.language_model.named_parameters():
            special = slice(toy.N_VOCAB, toy.N_VOCAB + 3)
            fresh = special if name in run.copied else slice(None)
            if tensor.ndim > 1 and (name == "embed" or name not in run.copied):
                assert not (tensor[fresh] == source.tensors[name][fresh]).any(), (name, update)
