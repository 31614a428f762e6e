"""The loss of the LM head by chunks against `cross_entropy` on all logits at once."""

import pytest
import torch
import torch.nn.functional as F

from gpt1.model import fused
from gpt1.model.fused import lm_loss, widen

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
