"""The LM loss in chunks against autograd's gradients of the whole softmax."""

import pytest
import torch
import torch.nn.functional as F

from gpt1.model.lm_loss import lm_loss

torch.set_num_threads(1)


def given(dtype, n=300, rows=2**13, width=5):
    """Features and matrix with gradients, tokens and weights: three chunks of positions."""
    g = torch.Generator().manual_seed(0)
    features, matrix = (torch.randn(k, width, generator=g).to(dtype) for k in (n, rows))
    tokens, weights = torch.randint(0, rows, (n,), generator=g), torch.rand(n, generator=g)
    return features.requires_grad_(), matrix.requires_grad_(), tokens, weights.to(dtype)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-5)])
def test_loss_and_gradients_are_those_of_the_whole_softmax(dtype, tolerance):
    features, matrix, tokens, weights = given(dtype)
    whole = F.cross_entropy(features @ matrix.T, tokens, reduction="none") @ weights
    expected = torch.autograd.grad(whole * 0.3, (features, matrix))
    loss = lm_loss(features, matrix, tokens, weights)
    assert loss.dtype is dtype and float((loss - whole).detach() / whole.detach()) < tolerance
    for one, other in zip(
        torch.autograd.grad(loss * 0.3, (features, matrix)), expected, strict=True
    ):
        assert float((one - other).abs().max()) <= tolerance * float(other.abs().max())


def test_without_gradients_the_loss_is_the_same():
    features, matrix, tokens, weights = given(torch.float64)
    with torch.no_grad():
        alone = lm_loss(features, matrix, tokens, weights)
    assert float(alone) == float(lm_loss(features, matrix, tokens, weights).detach())


def test_in_bfloat16_the_loss_is_float32_and_close():
    features, matrix, tokens, weights = given(torch.float32)
    exact = lm_loss(features, matrix, tokens, weights)
    wanted = torch.autograd.grad(exact, (features, matrix))
    with torch.autocast("cpu", torch.bfloat16):
        loss = lm_loss(features, matrix, tokens, weights)
    assert loss.dtype is torch.float32 and loss != exact
    assert float(loss.detach()) == pytest.approx(float(exact.detach()), rel=0.01)
    for one, other in zip(torch.autograd.grad(loss, (features, matrix)), wanted, strict=True):
        assert one.dtype is torch.float32
        assert float((one - other).abs().max()) <= 0.05 * float(other.abs().max())


def test_no_target_has_no_loss():
    features, matrix, tokens, weights = (
        x[:0] if i != 1 else x for i, x in enumerate(given(torch.float32))
    )
    assert float(lm_loss(features, matrix, tokens, weights).detach()) == 0.0
