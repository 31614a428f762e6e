"""Dropout by the places of its drops: the distribution, the values and the gradients of a mask."""

import pytest
import torch
import torch.nn.functional as F
from scipy import stats

from gpt1.model import attention, dropout, layout

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _by_places(monkeypatch):
    """Also of tensors that are small."""
    monkeypatch.setattr(dropout, "LARGE", 0)


@pytest.mark.parametrize("rate", [0.001, 0.1, 0.5, 0.9])
def test_each_value_is_dropped_with_the_given_probability_by_itself(rate):
    torch.manual_seed(1)
    dropped = (dropout.dropout(torch.ones(1000, 1000), rate) == 0).numpy()
    n = dropped.size
    assert stats.binomtest(int(dropped.sum()), n, rate).pvalue > 1e-3
    for counts in (dropped.sum(1), dropped.sum(0)):  # no early or late place is favoured
        spread = ((counts - 1000 * rate) ** 2).sum() / (1000 * rate * (1 - rate))
        assert 1e-4 < stats.chi2.cdf(spread, 1000) < 1 - 1e-4
    flat = dropped.ravel()
    for distance in (1, 2, 7):
        both = int((flat[distance:] & flat[:-distance]).sum())
        assert stats.binomtest(both, n - distance, rate**2).pvalue > 1e-4


def test_places_ascend_and_lie_in_the_tensor():
    for n in (1, 5, 1000):
        for seed in range(20):
            torch.manual_seed(seed)
            places = dropout.drops(n, 0.5)
            assert bool((places.diff() > 0).all())
            assert bool(((places >= 0) & (places < n)).all())


def test_a_seed_has_its_mask_and_the_next_call_another():
    x = torch.ones(50, 40)
    torch.manual_seed(3)
    first, second = dropout.dropout(x, 0.2), dropout.dropout(x, 0.2)
    torch.manual_seed(3)
    assert torch.equal(first, dropout.dropout(x, 0.2))
    assert not torch.equal(first, second)


@pytest.mark.parametrize("transposed", [False, True])
def test_values_and_gradient_are_those_of_the_mask(transposed):
    given = torch.randn(30, 20, dtype=torch.float64, requires_grad=True)
    x = given.T if transposed else given
    weight = torch.randn_like(x)
    out = dropout.dropout(x, 0.25)
    mask = (out != 0).double() / 0.75
    assert 0 < int((mask == 0).sum()) < 600
    torch.testing.assert_close(out.detach(), x.detach() * mask)
    (out * weight).sum().backward()
    wanted = weight * mask
    torch.testing.assert_close(given.grad, wanted.T if transposed else wanted)


def test_a_small_tensor_and_a_rate_of_0_are_left_to_torch(monkeypatch):
    monkeypatch.setattr(dropout, "LARGE", 2)
    monkeypatch.setattr(F, "dropout", lambda x, rate: (x, rate))
    one = torch.ones(1)
    assert dropout.dropout(one, 0.5) == (one, 0.5)
    two = torch.ones(2)
    assert dropout.dropout(two, 0.0) == (two, 0.0)
    assert isinstance(dropout.dropout(two, 0.5), torch.Tensor)


def rows(sequences):
    """Examples `[2, sequences, 7]` whose sequences begin alike, and their lengths."""
    ids = torch.randint(1, 9, (2, sequences, 7)).numpy()
    ids[:, :, :3] = ids[:, :1, :3]
    lengths = torch.randint(5, 8, (2, sequences)).numpy()
    return ids, lengths


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-5), (torch.bfloat16, 0.02)]
)
@pytest.mark.parametrize("sequences", [1, 3], ids=["causal", "tree mask"])
def test_attention_with_dropout_is_the_formula_with_its_mask(
    sequences, dtype, tolerance, monkeypatch
):
    torch.manual_seed(0)
    batch = layout.of(*rows(sequences), skip_pads=False, shared_prefix=True)
    time = batch.shape[1]
    given = torch.randn(2, time, 24).to(dtype).requires_grad_()
    qkv = given.double()
    places = dropout.drops(2 * 2 * time * time, 0.3)
    monkeypatch.setattr(attention, "drops", lambda n, rate: places)
    found = attention.attention(given, batch, 2, 0.3)

    q, k, v = qkv.view(2, time, 3, 2, 4).permute(2, 0, 3, 1, 4)
    seen = torch.ones(time, time, dtype=torch.bool).tril()
    seen = seen if batch.mask is None else batch.mask == 0
    scores = (q @ k.mT / 2).masked_fill(~seen, -torch.inf)
    keep = torch.ones(2 * 2 * time * time, dtype=torch.float64)
    keep[places] = 0
    wanted = (scores.softmax(-1) * keep.view(2, 2, time, time) / 0.7) @ v
    wanted = wanted.transpose(1, 2).flatten(2)
    weight = torch.randn_like(wanted)
    ours, reference = (torch.autograd.grad((x * weight).sum(), given)[0] for x in (found, wanted))
    for one, other in ((found, wanted), (ours, reference)):
        assert one.dtype is dtype
        assert float((one - other).detach().abs().max()) <= tolerance * float(
            other.detach().abs().max()
        )


def test_attention_with_and_without_dropout_differ_by_the_drops_alone(monkeypatch):
    monkeypatch.setattr(attention, "drops", lambda n, rate: torch.empty(0, dtype=torch.long))
    batch = layout.of(*rows(3), skip_pads=False, shared_prefix=True)
    qkv = torch.randn(2, batch.shape[1], 24, dtype=torch.float64)
    plain, scaled = (attention.attention(qkv, batch, 2, rate) for rate in (0.0, 0.2))
    torch.testing.assert_close(scaled, plain / 0.8)
