"""One run of the package and the reference beside it, for every input family.

Everything goes through the package's own path, from raw ids to the updated parameters. Weights are
drawn wide and biases and gains at random, so that no term is too small to be seen.
"""

import numpy as np
import pytest
import torch

from gpt1.model.layout import layout_of
from gpt1.settings import (
    CellSettings,
    LSTMShape,
    ModelSettings,
    OptimizerSettings,
    TransformerShape,
)
from gpt1.training.runtime import Runtime
from gpt1.weights.checkpoint import build
from tasks import task
from tests.gpt1 import toy
from tests.gpt1.reference import Reference, soft_label

N_VOCAB, N_CTX = 30, 18
SHAPES = {
    "transformer": TransformerShape(n_layer=2, n_embd=16, n_head=4, n_ff=40),
    "lstm": LSTMShape(n_layer=2, n_embd=12, n_hidden=16),
}
# One task for every input family; RACE and Story Cloze differ in their question.
TASKS = ["cola", "rte", "mrpc", "stsb", "race", "story_cloze"]
# Shares of STS-B scores that float32 holds exactly, since the targets are float32 tensors.
SCORES = [2.5, 0.0, 5.0, 3.25, 4.75, 1.0]
PRECISION = {torch.float64: 1e-9, torch.float32: 1e-5}
# Both ways of `runtime.skip_pads`; an LSTM computes its pads either way.
each_path = pytest.mark.parametrize(
    ("arch", "skip_pads"),
    [("transformer", False), ("transformer", True), ("lstm", False)],
    ids=["transformer", "transformer without pads", "lstm"],
)


def examples(name, n=6):
    """Raw ids of a few examples, some longer than n_ctx; labels or scores."""
    rng, kind = np.random.default_rng(len(name)), task(name)
    n_choices = {"race": 4, "story_cloze": 2}.get(name, 0)
    pairs = kind.family in ("entailment", "similarity") or name == "race"

    def text(longest):
        return rng.integers(0, N_VOCAB, rng.integers(1, longest)).tolist()

    firsts = [text(25 if i % 2 else 5) for i in range(n)]
    seconds = [text(12) if pairs else [] for _ in range(n)]
    choices = [[text(11) for _ in range(n_choices)] for _ in range(n)]
    labels = (
        SCORES[:n] if kind.soft_labels else [i % (n_choices or len(kind.labels)) for i in range(n)]
    )
    return firsts, seconds, choices, labels


def tuning(
    name,
    arch,
    dtype,
    lm_coef=0.5,
    skip_pads=False,
    dropout=toy.NO_DROPOUT,
    optimizer=None,
    lr=0.01,
    **model,
):
    """The package's run at step 0 in the precision asked for, its weights drawn anew."""
    split = toy.encoded_split(*examples(name))
    encoded = toy.encoded_task(task(name).spec, N_VOCAB, train=split, select=split, dev=split)
    settings = CellSettings(
        **{"epochs": 4, "batch": 3, "warmup": 0.3, "eval_train": 2, "lm_coef": lm_coef, "lr": lr},
        dropout=dropout,
        optimizer=optimizer or OptimizerSettings(),
        model=model_settings(arch, **model),
        n_transfer="none",
    )
    torch.set_default_dtype(dtype)
    try:
        blank = toy.checkpoint(build(arch, settings.model, N_VOCAB))
        run = toy.tuning(encoded, blank, settings, runtime=Runtime(skip_pads=skip_pads))
    finally:
        torch.set_default_dtype(torch.float32)
    draw(run.model)
    return run


def model_settings(arch, **options):
    """Settings of the small model of an architecture."""
    return ModelSettings(n_ctx=N_CTX, shape=SHAPES[arch], **options)


def draw(module):
    """Wide random values for every parameter; gains around 1."""
    generator = torch.Generator().manual_seed(5)
    for name, p in module.named_parameters():
        values = torch.randn(p.shape, generator=generator, dtype=torch.float64) * 0.3
        p.data.copy_(values + (".ln_" in name and name.endswith("weight")))


def blank(arch):
    """A language model alone, in float64."""
    model = build(arch, model_settings(arch), N_VOCAB).double()
    draw(model)
    return model


def one_row(time):
    """The layout of one sequence of `time` tokens."""
    return layout_of(np.zeros((1, 1, time), dtype=int), np.full((1, 1), time), torch.empty(0))


def parameters(model):
    """All parameters by the reference's names: of a language model, or of one with a head."""
    named = dict(model.named_parameters())
    return {
        name.removeprefix("language_model.").replace("classifier.", "clf."): p
        for name, p in named.items()
    }


def heads(arch):
    """Number of attention heads; the LSTM has none."""
    return getattr(SHAPES[arch], "n_head", 1)


def reference(run, **replaced):
    """The reference with the run's weights, some of them replaced."""
    model = run.model.language_model
    weights = {**parameters(run.model), **replaced}
    sizes = (N_VOCAB, N_CTX, model.n_layer, heads(model.arch))
    return Reference(weights, *sizes, arch=model.arch, lm_softmax=model.settings.lm_softmax)


def batch_of(expected, name, rows):
    """The rows' sequences and targets as the reference builds them from raw ids."""
    firsts, seconds, choices, labels = examples(name)
    family = task(name).family
    built = [expected.sequences(family, firsts[i], seconds[i], choices[i]) for i in rows]
    targets = [soft_label(labels[i]) if task(name).soft_labels else labels[i] for i in rows]
    return family, built, targets


def close(found, expected, tolerance):
    """Every value equal to `tolerance`, relative to the largest of the tensor where that is > 1."""
    found, expected = found.detach().double(), expected.detach()
    assert found.shape == expected.shape
    largest = max(1.0, float(expected.abs().max()))
    assert float((found - expected).abs().max()) <= tolerance * largest
