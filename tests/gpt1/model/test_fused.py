"""Drawn dropout and the chunked LM loss do what PyTorch's own operations do."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from gpt1.model import fused
from gpt1.model.fused import LARGE, drops, lm_loss, widen
from tests.gpt1 import toy


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.5, 0.9])
def test_the_drops_are_as_many_as_the_rate_says_and_lie_independently(rate):
    torch.manual_seed(0)
    n = 400_000
    places = drops(n, rate).numpy()
    dropped = np.zeros(n, dtype=bool)
    dropped[places] = True
    assert len(places) == dropped.sum() and (np.diff(places) > 0).all()
    halves = np.split(dropped, 2)
    pairs = (dropped[:-1] & dropped[1:]).mean()
    for found, expected in ((halves[0].mean(), rate), (halves[1].mean(), rate), (pairs, rate**2)):
        assert found == pytest.approx(expected, abs=6 * np.sqrt(expected / (n / 2)))
    assert dropped[0] == (places[0] == 0)
    first = np.mean([0 in drops(5, rate) for _ in range(2000)])
    last = np.mean([4 in drops(5, rate) for _ in range(2000)])
    assert [first, last] == pytest.approx([rate, rate], abs=0.06)


def test_value_and_gradient_are_dropped_at_the_same_places_and_the_rest_is_scaled():
    torch.manual_seed(1)
    x = torch.randn(LARGE // 64, 64).T.requires_grad_()  # not contiguous
    found = fused.dropout(x, 0.1)
    weight = torch.randn_like(found)
    (found * weight).sum().backward()
    kept = found != 0
    assert kept.float().mean() == pytest.approx(0.9, abs=0.01)
    torch.testing.assert_close(found[kept], (x / 0.9)[kept])
    torch.testing.assert_close(x.grad, torch.where(kept, weight / 0.9, 0.0))


def test_the_seed_decides_the_drops():
    def once(seed):
        torch.manual_seed(seed)
        return fused.dropout(torch.ones(LARGE), 0.1)

    assert torch.equal(once(0), once(0)) and not torch.equal(once(0), once(1))


def test_a_small_tensor_a_rate_of_0_and_another_device_are_left_to_torch(monkeypatch):
    monkeypatch.setattr(fused, "drops", None)
    assert fused.dropout(torch.ones(LARGE), 0.0).min() == 1
    assert fused.dropout(torch.ones(LARGE - 1), 0.1).min() == 0
    assert fused.dropout(torch.ones(LARGE, device="meta"), 0.1).device.type == "meta"


def test_the_embedding_matrix_is_dropped_so_in_training(monkeypatch):
    monkeypatch.setattr(fused, "LARGE", 1)
    seen, own = [], fused.drops
    monkeypatch.setattr(fused, "drops", lambda n, rate: seen.append((n, rate)) or own(n, rate))
    run = toy.start(dropout=toy.DROPOUT)
    embed = run.model.language_model.embed
    run.update(np.arange(4))
    assert (embed.numel(), toy.DROPOUT.embd) in seen
    seen.clear()
    run.predict(run.splits["dev"])
    assert not seen


N, ROWS, WIDTH = 600, 70, 16  # five chunks, the last one smaller


def drawn(dtype):
    generator = torch.Generator().manual_seed(0)
    features, rows = (torch.randn(n, WIDTH, generator=generator).to(dtype) for n in (N, ROWS))
    token = torch.randint(ROWS, (N,), generator=generator)
    return features, rows, token, torch.rand(N, generator=generator).to(dtype)


def plain(features, rows, token, weight):
    each = F.cross_entropy(widen(features @ rows.T), token, reduction="none")
    return (each * weight).sum()


def with_gradients(loss, features, rows, token, weight):
    features, rows = (each.clone().requires_grad_() for each in (features, rows))
    value = 3 * loss(features, rows, token, weight)
    value.backward()
    return value.detach(), features.grad, rows.grad


@pytest.mark.parametrize(
    ("dtype", "bfloat16", "bound"),
    [(torch.float64, False, 1e-12), (torch.float32, False, 1e-6), (torch.float32, True, 1e-2)],
    ids=["float64", "float32", "bfloat16"],
)
def test_loss_and_gradients_are_those_of_cross_entropy(dtype, bfloat16, bound):
    given = drawn(dtype)
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=bfloat16):
        ours, wanted = (with_gradients(loss, *given) for loss in (lm_loss, plain))
    for one, other in zip(ours, wanted, strict=True):
        assert one.dtype == other.dtype == dtype
        assert float((one - other).norm() / other.norm()) < bound


@pytest.mark.parametrize("grad", [True, False])
def test_no_more_than_a_chunk_of_logits_is_ever_there(grad, monkeypatch):
    sizes, loss = [], fused._loss
    monkeypatch.setattr(
        fused, "_loss", lambda logits, *rest: sizes.append(len(logits)) or loss(logits, *rest)
    )
    features, *rest = drawn(torch.float32)
    with torch.set_grad_enabled(grad):
        found = lm_loss(features.requires_grad_(), *rest)
    assert sizes == [128, 128, 128, 128, 88] and found.requires_grad == grad
    torch.testing.assert_close(found, plain(features, *rest), rtol=1e-6, atol=0)
