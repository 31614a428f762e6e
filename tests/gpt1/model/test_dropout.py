"""Every dropout falls where the authors' code has it: known masks, put into the reference too."""

import numpy as np
import pytest
import torch

from gpt1.model.transformer import Attention
from gpt1.settings import FinetuneDropout
from tests.gpt1 import toy
from tests.gpt1.reference_runs import (
    N_VOCAB,
    SHAPES,
    batch_of,
    close,
    draw,
    each_path,
    one_row,
    reference,
    tuning,
)


def rates(**given):
    """No dropout but what is given."""
    return toy.NO_DROPOUT.model_copy(update=given)


def test_one_embedding_mask_hits_every_occurrence_and_the_tied_softmax(monkeypatch):
    torch.manual_seed(0)
    run = tuning("race", "transformer", torch.float64, dropout=rates(embd=0.3))
    model, seen = run.model.language_model, []
    matrix = model.embedding_matrix
    monkeypatch.setattr(model, "embedding_matrix", lambda: seen.append(matrix()) or seen[-1])
    run.model.train()
    rows = np.arange(3)
    found = run.losses(rows, run.splits["train"])
    (dropped,) = seen
    share = float((dropped == 0).double().mean())
    assert 0.25 < share < 0.35 and bool((dropped[N_VOCAB + 3 :] == 0).any())
    kept = dropped != 0
    assert bool(kept.any(1).all()) and not bool(kept.all(1).any())  # element by element
    close(dropped[kept], model.embed.detach()[kept] / 0.7, 1e-12)
    expected = reference(run, embed=dropped)
    total, *_ = expected.loss(*batch_of(expected, "race", rows), 0.5)
    assert float(found[0].detach()) == pytest.approx(float(total.detach()), rel=1e-9)


@pytest.mark.parametrize("name", ["race", "mrpc"])
def test_one_classifier_mask_serves_all_choices_and_the_sum_of_both_orders(name, monkeypatch):
    rows, rate = np.arange(1), 0.4
    run = tuning(name, "transformer", torch.float64, lm_coef=0.0, dropout=rates(clf=rate))
    mask = torch.bernoulli(torch.full((16,), 1 - rate, dtype=torch.float64)) / (1 - rate)

    def dropout(x, p, training=True):
        if p == 0:
            return x
        assert p == rate and x.shape == (1, 1, 16)
        return x * mask

    monkeypatch.setattr(torch.nn.functional, "dropout", dropout)
    run.model.train()
    found = run.losses(rows, run.splits["train"])
    expected = reference(run)
    expected.masks["clf"] = mask
    total, *_ = expected.loss(*batch_of(expected, name, rows), 0.0)
    assert float(found[0].detach()) == pytest.approx(float(total.detach()), rel=1e-9)


@each_path
def test_dropout_falls_on_the_sum_of_embeddings_on_each_projection_and_on_an_lstms_output(
    monkeypatch, arch, skip_pads
):
    given = {"skip_pads": skip_pads, "dropout": rates(embd=0.3, resid=0.2), "embd_dropout": "sum"}
    run = tuning("cola", arch, torch.float64, **given)
    expected, masks, found_rates = reference(run), [], []
    texts = [[N_VOCAB, 4, N_VOCAB + 2], [N_VOCAB, 4, 4, 7, N_VOCAB + 2]]
    ids = torch.tensor([[*texts[0], 0, 0], texts[1]])
    rows = [slice(3), slice(3, 8)] if skip_pads else [slice(3), slice(5, 10)]  # of the positions

    def dropout(x, p, training=True):
        if p == 0:
            return x
        found_rates.append(p)
        masks.append(torch.bernoulli(torch.full_like(x, 1 - p)) / (1 - p))
        return x * masks[-1]

    monkeypatch.setattr(torch.nn.functional, "dropout", dropout)
    found, _ = run.model.train().language_model(ids, torch.tensor([3, 5]))
    parts = [".attn", ".mlp"] if arch == "transformer" else [""]
    places = ["embd", *(f"h.{i}{part}" for i in range(2) for part in parts)]
    assert found_rates == [0.3, *[0.2] * (len(places) - 1)]
    for text, own, states in zip(texts, rows, found, strict=True):
        of_text = (mask.reshape(-1, mask.shape[-1])[own] for mask in masks)
        expected.masks = dict(zip(places, of_text, strict=True))
        close(states[: len(text)], expected.hidden(text), 1e-9)


def test_attention_dropout_falls_on_the_probabilities_and_is_rescaled():
    width, rate = 64, 0.25
    attention = Attention(width, 1).double()
    draw(attention)
    with torch.no_grad():  # values and projection are the identity: the output is the weights
        attention.c_attn.weight[:, 2 * width :] = torch.eye(width)
        attention.c_attn.bias[2 * width :] = 0.0
        attention.c_proj.weight.copy_(torch.eye(width))
        attention.c_proj.bias.zero_()
        x = torch.eye(width, dtype=torch.float64)
        row = one_row(width)
        torch.manual_seed(0)
        plain, dropped = attention(x, row, 0.0), attention(x, row, rate)
    assert torch.equal(plain.triu(1), torch.zeros_like(plain))
    close(plain.sum(1), torch.ones(width, dtype=torch.float64), 1e-12)
    seen = torch.ones_like(plain, dtype=torch.bool).tril()
    gone = dropped[seen] == 0
    assert float(gone.double().mean()) == pytest.approx(rate, abs=0.04)
    close(dropped[seen][~gone], plain[seen][~gone] / (1 - rate), 1e-12)


@pytest.mark.parametrize("arch", SHAPES)
@pytest.mark.parametrize("embd_dropout", ["matrix", "sum"])
def test_every_dropout_rate_is_zero_outside_training(arch, embd_dropout):
    dropout = FinetuneDropout(embd=0.5, attn=0.5, resid=0.5, clf=0.5)
    run = tuning("race", arch, torch.float64, dropout=dropout, embd_dropout=embd_dropout)
    model = run.model.language_model
    assert model.dropout.embd == run.model.classifier.dropout == 0.5
    first, _ = run.predict(run.splits["dev"])
    expected = reference(run)
    family, built, _ = batch_of(expected, "race", range(6))
    states = [[expected.hidden(ids) for ids in sequences] for sequences in built]
    wanted = [int(expected.logits(family, row).argmax()) for row in states]
    assert first.tolist() == wanted
    hidden, _ = model.eval()(torch.tensor([built[0][0]]))
    close(hidden[0], states[0][0], 1e-9)
