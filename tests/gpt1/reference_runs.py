"""One run of the package and the reference beside it, for every input family.

Everything goes through the package's own path, from raw ids to the updated parameters. Weights are
drawn wide and biases and gains at random, so that no term is too small to be seen.
"""

import numpy as np
import pytest
import torch

from gpt1.training.encoded import EncodedSplit, EncodedTask
from gpt1.training.finetune import FineTuning, TaskData
from gpt1.training.runtime import Runtime
from gpt1.weights.checkpoint import build
from tasks import task
from tests.gpt1.reference import Reference, soft_label

N_VOCAB, N_CTX = 30, 18
SHAPES = {
    "transformer": {"n_layer": 2, "n_embd": 16, "n_head": 4, "n_ff": 40},
    "lstm": {"n_layer": 2, "n_embd": 12, "n_hidden": 16},
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


def tuning(name, arch, dtype, lm_coef=0.5, max_grad_norm=1.0, lr=0.01, skip_pads=False, **model):
    """The package's run at step 0 in the precision asked for, its weights drawn anew."""
    firsts, seconds, choices, labels = examples(name)
    array = [np.array(x, dtype=np.int32) for x in firsts]
    split = EncodedSplit(
        guids=[str(i) for i in range(len(labels))],
        groups=[""] * len(labels),
        labels=np.array(labels),
        first=array,
        second=[np.array(x, dtype=np.int32) for x in seconds],
        choices=[[np.array(c, dtype=np.int32) for c in row] for row in choices],
    )
    encoded = EncodedTask(
        kind=task(name).kind,
        tokenizer="",
        data="",
        splits={"train": split, "select": split, "dev": split},
    )
    settings = {
        "model": {"n_ctx": N_CTX, "init_std": 0.02, "embd_dropout": "matrix"}
        | {"lm_softmax": "all_rows", "shape": SHAPES[arch], **model},
        "optimizer": {"l2": 0.01, "max_grad_norm": max_grad_norm},
        "finetune": {"epochs": 4, "batch": 3, "lr": lr, "warmup": 0.3, "eval_train": 2}
        | {"dropout": {"embd": 0.0, "attn": 0.0, "resid": 0.0, "clf": 0.0}},
    }
    torch.set_default_dtype(dtype)
    try:
        data = TaskData.of(encoded, N_VOCAB, N_CTX, 2)
        runtime = Runtime(skip_pads=skip_pads)
        run = FineTuning(data, arch, N_VOCAB, settings, None, -1, lm_coef, 0, runtime)
    finally:
        torch.set_default_dtype(torch.float32)
    draw(run.model, run.classifier)
    return run


def draw(*modules):
    """Wide random values for every parameter; gains around 1."""
    generator = torch.Generator().manual_seed(5)
    for module in modules:
        for name, p in module.named_parameters():
            values = torch.randn(p.shape, generator=generator, dtype=torch.float64) * 0.3
            p.data.copy_(values + (".ln_" in name and name.endswith("weight")))


def blank(arch):
    """A language model alone, in float64."""
    shape = {"n_ctx": N_CTX, "shape": SHAPES[arch]}
    settings = {**shape, "embd_dropout": "matrix", "lm_softmax": "all_rows"}
    model = build(arch, settings, N_VOCAB).double()
    draw(model)
    return model


def parameters(model, classifier=None):
    """All parameters by the reference's names."""
    named = dict(model.named_parameters())
    if classifier is not None:
        named |= {f"clf.{name}": p for name, p in classifier.named_parameters()}
    return named


def heads(arch):
    """Number of attention heads; the LSTM has none to tell."""
    return SHAPES[arch].get("n_head", 1)


def reference(run, **replaced):
    """The reference with the run's weights, some of them replaced."""
    model = run.model
    weights = {**parameters(model, run.classifier), **replaced}
    sizes = (N_VOCAB, N_CTX, model.n_layer, heads(model.arch))
    return Reference(weights, *sizes, arch=model.arch, lm_softmax=model.lm_softmax)


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
