"""The two language models: initial values, transfer, the layout of a batch, shared prefixes."""

import functools

import numpy as np
import pytest
import torch

from gpt1.model import layout
from gpt1.model.lstm import LSTM
from gpt1.model.transformer import Transformer
from gpt1.settings import LSTMShape, ModelSettings, TransformerShape
from gpt1.training.runtime import Runtime
from gpt1.weights.checkpoint import build
from tasks.common.errors import InputError
from tests.gpt1.reference_runs import tuning
from tests.gpt1.toy import start

N_VOCAB, N_CTX = 50, 16


def ready(kind, shape, seed, n_vocab=N_VOCAB, n_ctx=N_CTX):
    """A model with initial values."""
    model = kind(n_vocab, ModelSettings(n_ctx=n_ctx, shape=shape))
    model.reset(torch.Generator().manual_seed(seed))
    return model.eval()


def transformer(seed=0):
    return ready(Transformer, TransformerShape(n_layer=12, n_embd=16, n_head=4, n_ff=32), seed)


def lstm(seed=0, n_layer=1):
    return ready(LSTM, LSTMShape(n_layer=n_layer, n_embd=8, n_hidden=12), seed)


def tensors(model):
    return {name: p.detach().clone() for name, p in model.named_parameters()}


MODELS = {"transformer": transformer, "lstm": lstm, "lstm2": functools.partial(lstm, n_layer=2)}


@pytest.mark.parametrize("kind", MODELS)
def test_transfer_of_k_layers_copies_just_those_and_all_else_keeps_its_initial_values(kind):
    """The LSTM's output map goes with its top layer, and special tokens stay fresh."""
    source, special = tensors(MODELS[kind](seed=1)), slice(N_VOCAB, N_VOCAB + 3)
    n_layer = MODELS[kind]().n_layer
    for n_transfer in ("none", *range(n_layer + 1)):
        own = MODELS[kind](seed=2)
        before, copied = tensors(own), own.transfer(source, n_transfer)
        layers = 0 if n_transfer == "none" else n_transfer
        prefixes = [f"h.{i}." for i in range(layers)] + ["proj."] * (layers == n_layer)
        expected = [name for name in before if name.startswith(tuple(prefixes))]
        assert sorted(copied) == sorted(expected + ["embed"] * (n_transfer != "none"))
        for name, tensor in tensors(own).items():
            wanted = (source if name in copied else before)[name].clone()
            if name == "embed":
                wanted[special] = before[name][special]
            assert torch.equal(tensor, wanted), name


@pytest.mark.parametrize("kind", MODELS)
def test_transfer_refuses_layers_that_do_not_exist(kind):
    model = MODELS[kind]()
    with pytest.raises(ValueError, match="layers"):
        model.transfer(tensors(model), model.n_layer + 1)


def test_initial_values_of_the_transformer():
    shape = TransformerShape(n_layer=2, n_embd=64, n_head=4, n_ff=256)
    model = ready(Transformer, shape, 0, n_vocab=2000, n_ctx=64)
    for name, p in model.named_parameters():
        if p.ndim > 1:
            assert abs(float(p.detach().mean())) < 1e-3, name
            assert float(p.detach().std()) == pytest.approx(0.02, rel=0.05), name
        elif ".ln_" in name and name.endswith("weight"):
            assert torch.equal(p.detach(), torch.ones_like(p)), name
        else:
            assert torch.equal(p.detach(), torch.zeros_like(p)), name


def test_initial_values_of_the_lstm():
    model = lstm()
    bias = dict(model.named_parameters())["h.0.bias_ih_l0"].detach()
    assert torch.equal(bias[12:24], torch.ones(12))
    assert float(bias.sum()) == 12
    assert float(dict(model.named_parameters())["h.0.bias_hh_l0"].detach().abs().sum()) == 0


def test_a_shape_of_the_other_architecture_or_with_uneven_heads_is_refused():
    for arch, shape in (("lstm", TransformerShape()), ("transformer", LSTMShape())):
        with pytest.raises(InputError, match=f"give the shape of a {arch}"):
            build(arch, ModelSettings(shape=shape), N_VOCAB)
    with pytest.raises(ValueError, match="n_embd 10 is not a multiple of n_head 4"):
        TransformerShape(n_embd=10, n_head=4)


# One example of two sequences that share three tokens, and one whose sequences share none.
IDS = np.array([[[7, 1, 2, 3, 9], [7, 1, 2, 9, 0]], [[7, 4, 9, 0, 0], [8, 4, 5, 9, 0]]])

LENGTHS = np.array([[5, 4], [3, 4]])


def test_a_shared_prefix_is_what_all_sequences_begin_with_but_never_the_classify_token():
    assert layout.common_prefix(IDS, LENGTHS).tolist() == [3, 0]
    assert layout.computed(IDS, LENGTHS).tolist() == [6, 7]
    same = np.array([[[7, 1, 9, 0], [7, 1, 9, 0]]])
    assert layout.common_prefix(same, np.array([[3, 3]])).tolist() == [2]
    longer = np.array([[[7, 1, 9, 0], [7, 1, 9, 9]]])
    assert layout.common_prefix(longer, np.array([[3, 4]])).tolist() == [2]


@pytest.mark.parametrize("skip_pads", [False, True], ids=["with pads", "without pads"])
@pytest.mark.parametrize("name", ["race", "story_cloze"])
def test_a_shared_prefix_gives_the_loss_and_gradients_of_separate_sequences(name, skip_pads):
    """Of six examples, some truncated."""
    run, found = tuning(name, "transformer", torch.float64, skip_pads=skip_pads), []
    split = run.splits["train"]
    split.ids[2, 0, 0] += 1  # an example whose choices share nothing
    split.ids[3, 1], split.lengths[3, 1] = split.ids[3, 0], split.lengths[3, 0]  # equal choices
    shared = layout.common_prefix(split.ids, split.lengths)
    assert split.truncated > 0 and shared[2] == 0 and shared.max() > 5
    assert run.model.shared_prefix
    for shared_prefix in (False, True):
        run.model.shared_prefix = shared_prefix
        loss, _ = run.losses(np.arange(6), split)
        found.append((loss.detach(), *torch.autograd.grad(loss, list(run.model.parameters()))))
    for one, other in zip(*found, strict=True):
        assert torch.allclose(one, other, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("name", "shares"), [("race", True), ("mrpc", False), ("rte", False)])
def test_choices_alone_share_their_prefix_and_it_is_computed_once(name, shares):
    run = start(name, runtime=Runtime(skip_pads=True))
    rows, split, seen = np.arange(8), run.splits["train"], []
    run.model.language_model.h[0].mlp.register_forward_pre_hook(
        lambda _, inputs: seen.append(len(inputs[0]))
    )
    run.update(rows)
    every = int(split.lengths[rows].sum())
    assert seen == [int(layout.computed(split.ids, split.lengths)[rows].sum()) if shares else every]
    assert (seen[0] < every) == shares and run.tokens == every
