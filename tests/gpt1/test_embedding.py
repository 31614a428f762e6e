"""The embedding matrix with dropout by places and with sparse gradients is the plain one."""

import numpy as np
import pytest
import torch
from scipy import stats

from gpt1.model import embedding
from tests.gpt1.reference_runs import tuning

torch.set_num_threads(1)


@pytest.mark.parametrize("rate", [0.001, 0.1, 0.5, 0.9])
def test_each_value_is_dropped_with_the_given_probability_by_itself(rate):
    torch.manual_seed(1)
    dropped = (embedding.dropped(torch.ones(1000, 1000), rate) == 0).numpy()
    n = dropped.size
    assert stats.binomtest(int(dropped.sum()), n, rate).pvalue > 1e-3
    for counts in (dropped.sum(1), dropped.sum(0)):  # no early or late place is favoured
        spread = ((counts - 1000 * rate) ** 2).sum() / (1000 * rate * (1 - rate))
        assert 1e-4 < stats.chi2.cdf(spread, 1000) < 1 - 1e-4
    flat = dropped.ravel()
    for distance in (1, 2, 7):
        both = int((flat[distance:] & flat[:-distance]).sum())
        assert stats.binomtest(both, n - distance, rate**2).pvalue > 1e-4


def test_a_seed_has_its_mask_and_the_next_call_another():
    matrix = torch.ones(50, 40)
    torch.manual_seed(3)
    first, second = embedding.dropped(matrix, 0.2), embedding.dropped(matrix, 0.2)
    torch.manual_seed(3)
    assert torch.equal(first, embedding.dropped(matrix, 0.2))
    assert not torch.equal(first, second)


def test_values_and_gradient_are_those_of_the_mask():
    matrix = torch.randn(30, 20, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(30, 20, dtype=torch.float64)
    out = embedding.dropped(matrix, 0.25)
    mask = (out != 0).double() / 0.75
    assert 0 < int((mask == 0).sum()) < 600
    torch.testing.assert_close(out.detach(), matrix.detach() * mask)
    (out * weight).sum().backward()
    torch.testing.assert_close(matrix.grad, weight * mask)
    assert torch.equal(embedding.dropped(matrix, 0.0), matrix)


@pytest.mark.parametrize("arch", ["transformer", "lstm"])
@pytest.mark.parametrize("lm_coef", [0.5, 0.0])
@pytest.mark.parametrize("rate", [0.0, 0.3])
def test_sparse_gradients_train_as_dense_ones(arch, lm_coef, rate, monkeypatch):
    ends = {}
    for large in (0, 2**62):
        monkeypatch.setattr(embedding, "LARGE", large)
        run = tuning("mrpc", arch, torch.float64, lm_coef)
        language_model = run.model.language_model
        language_model.dropout = language_model.dropout.model_copy(update={"embd": rate})
        for update in range(3):
            run.update(np.arange(3) + update)
        assert language_model.embed.grad.data_ptr() == run.optimizer.grad.data_ptr()
        ends[large] = run.optimizer.flat.clone(), run.optimizer.grad.clone()
    for sparse, dense in zip(*ends.values(), strict=True):
        torch.testing.assert_close(sparse, dense, rtol=1e-10, atol=1e-12)
