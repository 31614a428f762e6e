"""GELU of an affine map: what scoring computes at once is what training computes in two."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from gpt1.model import affine_gelu
from gpt1.training.inference import predict
from gpt1.training.runtime import Runtime
from tests.gpt1.toy import start

torch.set_num_threads(1)


def given(n=70, n_in=48, n_out=192, dtype=torch.float32):
    g = torch.Generator().manual_seed(0)
    x, weight = torch.randn(n, n_in, generator=g), torch.randn(n_in, n_out, generator=g)
    return x.to(dtype), (weight * 0.3).to(dtype), torch.linspace(-1, 1, n_out, dtype=dtype)


@pytest.fixture
def calls(monkeypatch):
    """How often torch's own GELU is called."""
    found, gelu = [], F.gelu
    monkeypatch.setattr(F, "gelu", lambda *a, **k: (found.append(1), gelu(*a, **k))[1])
    return found


@pytest.mark.parametrize("n", [1, 70])
def test_without_gradients_it_is_one_operation_of_the_same_values(calls, n):
    x, weight, bias = given(n)
    expected = F.gelu(x.double() @ weight.double() + bias.double(), approximate="tanh")
    calls.clear()
    with torch.no_grad():
        found = affine_gelu.affine_gelu(x, weight, bias)
    assert not calls and found.dtype is torch.float32
    torch.testing.assert_close(found.double(), expected, rtol=1e-6, atol=2e-6)


def test_with_gradients_in_other_precisions_and_for_wide_layers_it_is_two(calls):
    def two(x, weight, bias):
        calls.clear()
        affine_gelu.affine_gelu(x, weight, bias)
        return len(calls) == 1

    assert two(*given())
    with torch.no_grad():
        assert two(*given(dtype=torch.float64)) and two(*given(n_in=affine_gelu.NARROW + 1))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert two(*given())


def test_predictions_are_those_of_the_two_operations(monkeypatch):
    run = start("race")
    args = (run.model, run.data.spec, run.data.splits["select"], Runtime())
    classes, shares = predict(*args)
    monkeypatch.setattr(affine_gelu, "_fused", lambda x: False)
    expected, of_two = predict(*args)
    assert np.array_equal(classes, expected) and np.abs(shares - of_two).max() < 1e-6
