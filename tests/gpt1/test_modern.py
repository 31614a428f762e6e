"""The modern transformer: its formulas, its places, and what it shares with GPT-1's model."""

import math

import numpy as np
import pytest
import torch

from gpt1.settings import Dropout, ModelSettings, ModernShape, TransformerShape
from gpt1.training.pretraining import Pretraining
from gpt1.training.runtime import Runtime
from gpt1.weights.checkpoint import build, load_checkpoint
from tasks.common.errors import InputError
from tests.gpt1 import toy

torch.set_num_threads(1)

N_VOCAB, N_CTX = 50, 16
SHAPE = ModernShape(n_layer=3, n_embd=16, n_head=2, n_ff=24, block="modern")
SETTINGS = ModelSettings(n_ctx=N_CTX, shape=SHAPE)
TOY = ModelSettings(
    n_ctx=toy.N_CTX, shape=ModernShape(n_layer=2, n_embd=32, n_head=4, n_ff=40, block="modern")
)


def model(seed=0, settings=SETTINGS, rates=None, **options):
    dropout = Dropout(**{"embd": 0.0, "attn": 0.0, "resid": 0.0, **(rates or {})})
    made = build("transformer", settings, N_VOCAB, dropout, **options)
    made.reset(torch.Generator().manual_seed(seed))
    return made.eval()


def tensors(made):
    return {name: p.detach().clone() for name, p in made.named_parameters()}


def naive(p, ids):
    """The states of one sequence from the formulas, place by place and pair by pair."""

    def norm(x):
        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + 1e-5)

    def turned(x, place):
        half, out = len(x) // 2, x.clone()
        for i in range(half):
            angle = place / 10000 ** (2 * i / len(x))
            a, b = x[i], x[half + i]
            out[i] = a * math.cos(angle) - b * math.sin(angle)
            out[half + i] = a * math.sin(angle) + b * math.cos(angle)
        return out

    def attention(x, name):
        width, d = x.shape[1], x.shape[1] // SHAPE.n_head
        qkv = x @ p[f"{name}.c_attn.weight"].T
        out = torch.zeros_like(x)
        for head in range(SHAPE.n_head):
            q, k, v = (qkv[:, j * width + head * d : j * width + (head + 1) * d] for j in range(3))
            for i in range(len(x)):
                scores = [turned(q[i], i) @ turned(k[j], j) / math.sqrt(d) for j in range(i + 1)]
                shares = torch.stack(scores).softmax(0)
                out[i, head * d : (head + 1) * d] = shares @ v[: i + 1]
        return out @ p[f"{name}.c_proj.weight"].T

    def mlp(x, name):
        gate, value = (x @ p[f"{name}.c_fc.weight"].T).split(SHAPE.n_ff, 1)
        return (gate / (1 + torch.exp(-gate)) * value) @ p[f"{name}.c_proj.weight"].T

    x = norm(p["embed"][ids])
    for i in range(SHAPE.n_layer):
        x = x + attention(norm(x), f"h.{i}.attn")
        x = x + mlp(norm(x), f"h.{i}.mlp")
    return norm(x)


@pytest.mark.parametrize("skip_pads", [False, True], ids=["with pads", "without pads"])
def test_states_are_those_of_the_formulas_in_float64(skip_pads):
    own = model(skip_pads=skip_pads).double()
    ids = torch.randint(0, N_VOCAB + 3, (3, 9), generator=torch.Generator().manual_seed(1))
    lengths = torch.tensor([9, 4, 7])
    hidden, _ = own(ids, lengths)
    for row, of, n in zip(hidden, ids, lengths.tolist(), strict=True):
        torch.testing.assert_close(row[:n], naive(tensors(own), of[:n]), rtol=1e-9, atol=1e-9)


def started(skip_pads, name="race"):
    """A run on choices from random weights in float64."""
    runtime = Runtime(skip_pads=skip_pads, shared_prefix=True)
    run = toy.start(name, n_transfer="none", runtime=runtime, model=TOY)
    run.model.double()
    return run


@pytest.mark.parametrize("skip_pads", [False, True], ids=["with pads", "without pads"])
@pytest.mark.parametrize("name", ["race", "story_cloze"])
def test_a_shared_prefix_gives_the_loss_and_gradients_of_separate_sequences(name, skip_pads):
    run, found = started(skip_pads, name), []
    assert run.model.shared_prefix
    for shared in (True, False):
        run.model.shared_prefix = shared
        loss, _ = run.losses(np.arange(6), run.data.splits["train"])
        found.append((loss.detach(), *torch.autograd.grad(loss, list(run.model.parameters()))))
    for one, other in zip(*found, strict=True):
        assert torch.allclose(one, other, rtol=1e-10, atol=1e-12)


def test_initial_weights_are_scaled_by_their_width_and_those_of_the_residual_sums_by_the_depth():
    shape = ModernShape(n_layer=2, n_embd=64, n_head=4, n_ff=128, block="modern")
    own = model(settings=ModelSettings(n_ctx=N_CTX, shape=shape))
    root = math.sqrt(2 * 2)
    expected = {
        **{"embed": 0.02, "h.1.attn.c_attn.weight": 1 / 8, "h.1.attn.c_proj.weight": 1 / 8 / root},
        **{"h.0.mlp.c_fc.weight": 1 / 8, "h.0.mlp.c_proj.weight": 128**-0.5 / root},
    }
    for name, std in expected.items():
        assert float(tensors(own)[name].std()) == pytest.approx(std, rel=0.05), name
    assert all(p.ndim == 2 for p in own.parameters())  # no biases, no gains
    _, loss = own(torch.arange(N_CTX)[None], with_lm_loss=True)
    assert float(loss.detach()) == pytest.approx(math.log(N_VOCAB + 3), abs=0.1)


def test_a_shape_keeps_its_blocks_and_gpt1s_has_nothing_new():
    assert ModelSettings.parse(SETTINGS.to_json()) == SETTINGS
    assert type(ModelSettings.parse(SETTINGS.to_json()).shape) is ModernShape
    gpt1 = ModelSettings()
    assert type(ModelSettings.parse(gpt1.to_json()).shape) is TransformerShape
    assert set(gpt1.model_dump()["shape"]) == {"n_layer", "n_embd", "n_head", "n_ff"}
    with pytest.raises(ValueError, match="heads of 3 units"):
        ModernShape(n_layer=1, n_embd=6, n_head=2, n_ff=4, block="modern")


def test_it_is_pre_trained_by_adamw_and_learns_and_gpt1_is_not(tmp_path):
    corpus = toy.corpus(tmp_path / "corpus")
    options = {"updates": 30, "lr": 1e-2, "checkpoints": [0, 30]}
    settings = toy.pretrain_settings("transformer", model=TOY, **options)
    run = Pretraining("transformer", corpus, settings, Runtime(), tmp_path / "work")
    assert run.optimizer.decay == "adamw"
    run.train()
    run.publish(tmp_path / "out")
    path = tmp_path / "out" / "update-30.safetensors"
    assert run.log.rows[-1].loss < run.log.rows[0].loss - 0.5
    loaded = load_checkpoint(path, "transformer", TOY, "t" * 64)
    assert loaded.facts.model == TOY
    with pytest.raises(InputError, match="its shape is"):
        load_checkpoint(path, "transformer", toy.model("transformer"), "t" * 64)
    plain = toy.pretrain_settings("transformer")
    gpt1 = Pretraining("transformer", corpus, plain, Runtime(), tmp_path / "work")
    assert gpt1.optimizer.decay == "authors"


def test_a_run_fine_tunes_it_and_cuts_it_at_a_layer():
    run = toy.start("rte", n_transfer="none", model=TOY, epochs=20, lr=1e-2, lm_coef=0.0)
    record = run.train()
    assert record.clf_loss_end < record.clf_loss_start
    run.model.language_model.cut(0)
    assert len(run.predict(run.data.splits["dev"])) == 8
