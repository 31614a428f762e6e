"""The optimizer and the schedules against their formulas, written out by hand."""

import math

import pytest
import torch

from gpt1.settings import OptimizerSettings
from gpt1.training.optim import Adam, Schedule, warmup_cosine, warmup_linear

torch.set_num_threads(1)


def parameters(seed=0):
    g = torch.Generator().manual_seed(seed)
    shapes = [(3,), (4, 3), (2, 2), (5,)]
    return [torch.nn.Parameter(torch.randn(s, generator=g, dtype=torch.float64)) for s in shapes]


@pytest.mark.parametrize("vector_l2", [False, True])
@pytest.mark.parametrize("max_grad_norm", [0.0, 0.5, 100.0])
def test_adam_follows_the_authors_formula_for_five_updates(vector_l2, max_grad_norm):
    own, lr, b1, b2, l2, total = parameters(), 0.1, 0.8, 0.99, 0.01, 10
    expected = [p.detach().clone() for p in own]
    options = {"vector_l2": vector_l2, "max_grad_norm": max_grad_norm}
    settings = OptimizerSettings(b1=b1, b2=b2, l2=l2, **options)
    adam = Adam(own, Schedule(lr, warmup_linear, 0.2, total), settings)
    m, v = ([torch.zeros_like(p) for p in expected] for _ in range(2))
    for t in range(5):
        grads = [torch.sin(p * (t + 1)) for p in expected]
        adam.zero_grad()
        for p, g in zip(own, grads, strict=True):
            p.grad.add_(g)
        adam.step()
        norm = math.sqrt(sum(float((g * g).sum()) for g in grads))
        if max_grad_norm > 0 and norm > max_grad_norm:
            grads = [g * max_grad_norm / norm for g in grads]
        rate = lr * warmup_linear(t / total, 0.2)
        rate *= math.sqrt(1 - b2 ** (t + 1)) / (1 - b1 ** (t + 1))
        for i, g in enumerate(grads):
            m[i] = b1 * m[i] + (1 - b1) * g
            v[i] = b2 * v[i] + (1 - b2) * g * g
            decay = l2 * expected[i] if expected[i].ndim > 1 or vector_l2 else 0.0
            expected[i] = expected[i] - rate * (m[i] / (v[i].sqrt() + 1e-8) + decay)
        for p, e in zip(own, expected, strict=True):
            assert torch.allclose(p.detach(), e, rtol=1e-12, atol=1e-14)


def test_schedules_at_their_corners():
    assert warmup_linear(0.0, 0.1) == 0.0
    assert warmup_linear(0.05, 0.1) == pytest.approx(0.5 * 0.95)
    assert warmup_linear(0.5, 0.1) == pytest.approx(0.5)
    assert warmup_linear(1.0, 0.1) == 0.0
    assert warmup_cosine(0.0, 0.002) == 0.0
    assert warmup_cosine(0.001, 0.002) == pytest.approx(0.5)
    assert warmup_cosine(0.002, 0.002) == pytest.approx(1.0)
    assert warmup_cosine(0.5, 0.002) == pytest.approx(0.5)
    assert warmup_cosine(1.0, 0.002) == pytest.approx(0.0)
    assert warmup_linear(0.0, 0.0) == warmup_cosine(0.0, 0.0) == 1.0
