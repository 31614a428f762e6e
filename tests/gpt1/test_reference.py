"""The package against the float64 reference: forward, losses, whole updates, known dropout masks.

Everything goes through the package's own path, from raw ids to the updated parameters. Weights are
drawn wide and biases and gains at random, so that no term is too small to be seen.
"""

import numpy as np
import pytest
import torch

from gpt1.checkpoint import build
from gpt1.classifier import classify_states, losses
from gpt1.encode import EncodedSplit, EncodedTask
from gpt1.finetune import FineTuning, TaskData
from gpt1.optim import Adam, warmup_cosine
from gpt1.pretrain import windows
from gpt1.runtime import Runtime
from gpt1.transformer import Attention
from tasks import task
from tests.gpt1.reference import Reference, soft_label

torch.set_num_threads(1)

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


def tuning(name, arch, dtype, lm_coef=0.5, max_grad_norm=1.0, lr=0.01, **model):
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
        task=name, tokenizer="", data="", splits={"train": split, "select": split, "dev": split}
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
        data = TaskData.of(task(name), encoded, N_VOCAB, N_CTX, 2)
        run = FineTuning(data, arch, N_VOCAB, settings, None, -1, lm_coef, 0, Runtime())
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
    """Equal to `tolerance`, relative to the largest value of the tensor."""
    found, expected = found.detach().double(), expected.detach()
    assert found.shape == expected.shape
    assert float((found - expected).abs().max()) <= tolerance * max(
        1.0, float(expected.abs().max())
    )


@pytest.mark.parametrize("dtype", PRECISION)
@pytest.mark.parametrize("arch", SHAPES)
@pytest.mark.parametrize("name", TASKS)
def test_sequences_hidden_states_and_logits_of_every_family(name, arch, dtype):
    run = tuning(name, arch, dtype)
    expected = reference(run)
    rows = np.arange(6)
    family, built, _ = batch_of(expected, name, rows)
    ids, lengths, _ = run.tensors(rows, run.data.splits["train"])
    hidden = run.model(ids.flatten(0, 1), run.model.step_embedding()).view(*ids.shape, -1)
    states = classify_states(hidden.flatten(0, 1), lengths.flatten()).view(*lengths.shape, -1)
    logits = run.classifier(states, 0.0)
    assert run.data.splits["train"].truncated > 0
    for i, sequences in enumerate(built):
        states = [expected.hidden(sequence) for sequence in sequences]
        for j, sequence in enumerate(sequences):
            assert ids[i, j, : lengths[i, j]].tolist() == sequence
            assert len(sequence) <= N_CTX and sequence[-1] == N_VOCAB + 2
            close(hidden[i, j, : len(sequence)], states[j], PRECISION[dtype])
        close(logits[i], expected.logits(family, states), PRECISION[dtype])


@pytest.mark.parametrize("dtype", PRECISION)
@pytest.mark.parametrize("lm_softmax", ["all_rows", "tokens_only"])
@pytest.mark.parametrize("arch", SHAPES)
def test_both_losses_with_either_softmax(arch, lm_softmax, dtype):
    run = tuning("race", arch, dtype, lm_softmax=lm_softmax)
    expected = reference(run)
    rows = np.arange(6)
    family, built, targets = batch_of(expected, "race", rows)
    with torch.no_grad():
        found = losses(
            run.model, run.classifier, run.tensors(rows, run.data.splits["train"]), 0.5, 0
        )
        wanted = expected.loss(family, built, targets, 0.5)
    assert [float(x) for x in found] == pytest.approx(
        [float(x) for x in wanted], rel=PRECISION[dtype]
    )


@pytest.mark.parametrize("arch", SHAPES)
def test_five_pretraining_updates_on_windows_with_the_cosine_schedule(arch):
    model = blank(arch)
    expected = Reference(parameters(model), N_VOCAB, N_CTX, 2, heads(arch), arch)
    adam = Adam(model.parameters(), 0.01, warmup_cosine, warmup=0.2, total=10)
    tokens = np.random.default_rng(1).integers(0, N_VOCAB, 100)
    for update in range(5):
        rows = windows(tokens, N_CTX, 2, 0, update)
        wanted = expected.lm_loss(rows.tolist())
        expected.step(wanted, 0.01, 10, warmup=0.2, l2=0.01, max_grad_norm=1.0, cosine=True)
        ids = torch.from_numpy(rows)
        adam.zero_grad()
        we = model.step_embedding()
        loss = model.lm_loss(model(ids, we), ids, torch.full((2,), N_CTX), we)
        loss.backward()
        adam.step()
        assert float(loss.detach()) == pytest.approx(float(wanted.detach()), rel=1e-9)
        for key, p in parameters(model).items():
            close(p, expected.p[key], 1e-9)


@pytest.mark.parametrize("arch", SHAPES)
@pytest.mark.parametrize("name", TASKS)
def test_five_clipped_updates_in_float64(name, arch):
    steps_agree(name, arch, torch.float64, 0.05, lr=0.01)


@pytest.mark.parametrize("arch", SHAPES)
def test_five_updates_that_nothing_clips(arch):
    steps_agree("mrpc", arch, torch.float64, 1e6, lr=0.01)


@pytest.mark.parametrize("arch", SHAPES)
@pytest.mark.parametrize("name", TASKS)
def test_five_updates_in_float32_at_the_papers_rate(name, arch):
    steps_agree(name, arch, torch.float32, 1.0, lr=6.25e-5)


@pytest.mark.parametrize("arch", SHAPES)
def test_five_updates_without_the_auxiliary_loss(arch):
    steps_agree("rte", arch, torch.float64, 1.0, lr=0.01, lm_coef=0.0)


def steps_agree(name, arch, dtype, max_grad_norm, lr, lm_coef=0.5):
    """Five updates on changing rows: losses, the norm before clipping, and every parameter."""
    run = tuning(name, arch, dtype, lm_coef, max_grad_norm, lr)
    expected = reference(run)
    tolerance = PRECISION[dtype]
    start = {k: v.detach().clone() for k, v in parameters(run.model, run.classifier).items()}
    norms, step = [], run.optimizer.step
    run.optimizer.step = lambda: norms.append(float(step()))
    order = [[0, 1, 2], [3, 4, 5], [5, 0, 3], [1, 4, 2], [2, 3, 0]]
    for t, rows in enumerate(order):
        total, clf, _ = expected.loss(*batch_of(expected, name, rows), lm_coef)
        norm = expected.step(total, lr, total=8, warmup=0.3, l2=0.01, max_grad_norm=max_grad_norm)
        run.update(np.array(rows))
        assert run.updates == 8
        assert run.history[-1] == pytest.approx(
            (float(total.detach()), float(clf.detach())), rel=max(tolerance, 1e-6)
        )
        assert norms[-1] == pytest.approx(norm, rel=tolerance)
        assert norm > 0.05 and norm < 1e6  # so 0.05 clips and 1e6 does not
        for key, p in parameters(run.model, run.classifier).items():
            close(p, expected.p[key], tolerance)
            if t == 0:
                assert torch.equal(p.detach(), start[key])  # the schedule's first factor is 0


def test_one_embedding_mask_hits_every_occurrence_and_the_tied_softmax(monkeypatch):
    run = tuning("race", "transformer", torch.float64)
    seen = recorded_embedding(run, monkeypatch)
    run.model.train()
    run.model.rates = {"embd": 0.3, "attn": 0.0, "resid": 0.0}
    rows = np.arange(3)
    found = losses(run.model, run.classifier, run.tensors(rows, run.data.splits["train"]), 0.5, 0)
    (dropped,) = seen
    share = float((dropped == 0).double().mean())
    assert 0.25 < share < 0.35 and bool((dropped[N_VOCAB + 3 :] == 0).any())
    kept = dropped != 0
    close(dropped[kept], run.model.embed.detach()[kept] / 0.7, 1e-12)
    expected = reference(run, embed=dropped)
    total, *_ = expected.loss(*batch_of(expected, "race", rows), 0.5)
    assert float(found[0]) == pytest.approx(float(total), rel=1e-9)


@pytest.mark.parametrize("name", ["race", "mrpc"])
def test_one_classifier_mask_serves_all_choices_and_the_sum_of_both_orders(name, monkeypatch):
    run = tuning(name, "transformer", torch.float64)
    rows, rate = np.arange(1), 0.4
    mask = torch.bernoulli(torch.full((16,), 1 - rate, dtype=torch.float64)) / (1 - rate)

    def dropout(x, p, training=True):
        if p == 0:
            return x
        assert p == rate and x.shape == (1, 1, 16)
        return x * mask

    monkeypatch.setattr(torch.nn.functional, "dropout", dropout)
    batch = run.tensors(rows, run.data.splits["train"])
    found = losses(run.model, run.classifier, batch, 0.0, rate)
    expected = reference(run)
    expected.masks["clf"] = mask
    total, *_ = expected.loss(*batch_of(expected, name, rows), 0.0)
    assert float(found[0]) == pytest.approx(float(total), rel=1e-9)


def test_residual_dropout_falls_on_both_projections_of_a_block(monkeypatch):
    run = tuning("cola", "transformer", torch.float64)
    expected = reference(run)
    ids = [N_VOCAB, 4, 4, 7, N_VOCAB + 2]
    masks = torch.bernoulli(torch.full((4, len(ids), 16), 0.8, dtype=torch.float64)) / 0.8
    places = [f"h.{i}.{part}" for i in range(2) for part in ("attn", "mlp")]
    expected.masks = dict(zip(places, masks, strict=True))
    left = list(masks)
    monkeypatch.setattr(
        torch.nn.functional, "dropout", lambda x, p, training=True: x * left.pop(0) if p else x
    )
    run.model.train()
    run.model.rates = {"embd": 0.0, "attn": 0.0, "resid": 0.2}
    found = run.model(torch.tensor([ids]), run.model.step_embedding())[0]
    assert left == []
    close(found, expected.hidden(ids), 1e-9)


def test_attention_dropout_falls_on_the_probabilities_and_is_rescaled():
    width, rate = 64, 0.25
    attention = Attention(width, 1).double()
    draw(attention)
    with torch.no_grad():  # values and projection are the identity: the output is the weights
        attention.c_attn.weight[:, 2 * width :] = torch.eye(width)
        attention.c_attn.bias[2 * width :] = 0.0
        attention.c_proj.weight.copy_(torch.eye(width))
        attention.c_proj.bias.zero_()
        x = torch.eye(width, dtype=torch.float64)[None]
        torch.manual_seed(0)
        plain, dropped = attention(x, 0.0)[0], attention(x, rate)[0]
    assert torch.equal(plain.triu(1), torch.zeros_like(plain))
    close(plain.sum(1), torch.ones(width, dtype=torch.float64), 1e-12)
    seen = torch.ones_like(plain, dtype=torch.bool).tril()
    gone = dropped[seen] == 0
    assert float(gone.double().mean()) == pytest.approx(rate, abs=0.04)
    close(dropped[seen][~gone], plain[seen][~gone] / (1 - rate), 1e-12)


@pytest.mark.parametrize("arch", SHAPES)
@pytest.mark.parametrize("embd_dropout", ["matrix", "sum"])
def test_every_dropout_rate_is_zero_outside_training(arch, embd_dropout):
    run = tuning("race", arch, torch.float64, embd_dropout=embd_dropout)
    run.options["dropout"] |= {"embd": 0.5, "attn": 0.5, "resid": 0.5, "clf": 0.5}
    assert run.model.rates["embd"] == 0.5
    first = run.predict("dev")
    expected = reference(run)
    family, built, _ = batch_of(expected, "race", range(6))
    states = [[expected.hidden(ids) for ids in sequences] for sequences in built]
    wanted = [int(expected.logits(family, row).argmax()) for row in states]
    assert first.tolist() == wanted
    run.model.eval()
    hidden = run.model(torch.tensor([built[0][0]]), run.model.step_embedding())[0]
    close(hidden, states[0][0], 1e-9)


def recorded_embedding(run, monkeypatch):
    """A list that fills with the embedding matrix of every step."""
    seen, original = [], run.model.step_embedding

    def step_embedding():
        seen.append(original())
        return seen[-1]

    monkeypatch.setattr(run.model, "step_embedding", step_embedding)
    return seen
