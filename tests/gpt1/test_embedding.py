"""The large embedding matrix of a training step computes what autograd does with the plain one."""

import numpy as np
import pytest
import torch
from torch import nn

from gpt1.model import dropout, embedding
from gpt1.model.embedding import LargeEmbedding, looked_up
from gpt1.model.lm_loss import lm_loss
from gpt1.model.scratch import Scratch
from tests.gpt1.reference_runs import tuning

torch.set_num_threads(1)


@pytest.mark.parametrize("arch", ["transformer", "lstm"])
@pytest.mark.parametrize("lm_coef", [0.5, 0.0])
@pytest.mark.parametrize(("rate", "micro_batch"), [(0.0, None), (0.3, None), (0.0, 2), (0.3, 2)])
def test_a_large_matrix_trains_as_a_small_one(arch, lm_coef, rate, micro_batch, monkeypatch):
    monkeypatch.setattr(dropout, "LARGE", 0)  # so that both draw the same drops
    if lm_coef == 0:  # nor does it matter then that only rows that are looked up have drops
        init = LargeEmbedding.__init__
        monkeypatch.setattr(LargeEmbedding, "__init__", lambda *a, whole: init(*a, whole=True))
    ends = {}
    for large in (0, 2**62):
        monkeypatch.setattr(embedding, "LARGE", large)
        run = tuning("mrpc", arch, torch.float64, lm_coef)
        run.runtime = run.runtime.model_copy(update={"micro_batch": micro_batch})
        language_model = run.model.language_model.train()
        language_model.dropout = language_model.dropout.model_copy(update={"embd": rate})
        assert isinstance(language_model.embedding_matrix(), LargeEmbedding) == (large == 0)
        for update in range(3):
            run.update(np.arange(3) + update)
        assert language_model.embed.grad.data_ptr() == run.optimizer.grad.data_ptr()
        ends[large] = run.optimizer.flat.clone(), run.optimizer.grad.clone()
    for ours, plain in zip(*ends.values(), strict=True):
        torch.testing.assert_close(ours, plain, rtol=1e-10, atol=1e-12)


def given(dtype, n=90):
    """A matrix of 40 rows, features, tokens and weights of `n` targets."""
    g = torch.Generator().manual_seed(0)
    matrix, features = (torch.randn(k, 6, generator=g).to(dtype) for k in (40, n))
    tokens, weights = torch.randint(0, 30, (n,), generator=g), torch.rand(n, generator=g)
    return nn.Parameter(matrix), features.requires_grad_(), tokens, weights.double()


def dropped(large):
    """The matrix of a `LargeEmbedding` as a whole, for autograd."""
    keep = torch.full((large.matrix.numel(),), large.scale, dtype=large.matrix.dtype)
    keep[large.places] = 0
    return large.matrix * keep.view_as(large.matrix)


@pytest.mark.parametrize("chunk", [2048, 80], ids=["one chunk", "several chunks"])
@pytest.mark.parametrize("n_rows", [40, 30], ids=["all rows", "without positions"])
@pytest.mark.parametrize("rate", [0.0, 0.4])
@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-5), (torch.bfloat16, 0.04)]
)
def test_loss_and_gradients_are_autograds(dtype, tolerance, rate, n_rows, chunk, monkeypatch):
    monkeypatch.setattr(embedding, "CHUNK", chunk)
    low = dtype is torch.bfloat16
    matrix, features, tokens, weights = given(torch.float32 if low else dtype)
    large = LargeEmbedding(matrix, rate, Scratch())
    whole = dropped(large)
    wanted = lm_loss(features, whole[:n_rows], tokens, weights) + whole[tokens % 7].sin().sum()
    expected = torch.autograd.grad(wanted * 0.3, (features, matrix))

    matrix.grad = torch.ones_like(matrix)  # to which is added
    with torch.autocast("cpu", torch.bfloat16, enabled=low):
        loss = large.lm_loss(features, tokens, weights, n_rows)
        found = loss + looked_up(tokens % 7, large).sin().sum()
    (found * 0.3).backward()
    assert loss.dtype is matrix.dtype
    assert abs(float((found - wanted).detach())) <= tolerance * abs(float(wanted.detach()))
    for one, other in zip((features.grad, matrix.grad - 1), expected, strict=True):
        assert one.dtype is other.dtype
        assert float((one - other).abs().max()) <= tolerance * max(1, float(other.abs().max()))


def test_a_matrix_that_is_not_trained_gets_no_gradient():
    matrix, features, tokens, weights = given(torch.float64)
    large = LargeEmbedding(matrix.requires_grad_(False), 0.2, Scratch())
    (
        large.lm_loss(features, tokens, weights, 40) + (features * large.look_up(tokens)).sum()
    ).backward()
    assert matrix.grad is None and features.grad is not None


def test_no_target_has_no_loss():
    matrix, features, tokens, weights = given(torch.float32, n=0)
    loss = LargeEmbedding(matrix, 0.2, Scratch()).lm_loss(features, tokens, weights, 40)
    loss.backward()
    assert float(loss.detach()) == 0.0 and float(matrix.grad.abs().max()) == 0.0


def test_without_the_lm_head_only_what_is_looked_up_is_drawn_for(monkeypatch):
    matrix, _, tokens, _ = given(torch.float64)
    drawn = []
    draw = embedding.drops
    monkeypatch.setattr(embedding, "drops", lambda n, rate: (drawn.append(n), draw(n, rate))[1])
    large = LargeEmbedding(matrix, 0.4, Scratch(), whole=False)
    out = large.look_up(tokens)
    assert drawn == [6 * len(tokens.unique())]
    gone = out == 0
    assert 0.3 < float(gone.double().mean()) < 0.5
    for token in tokens.unique():  # every occurrence has the same mask
        assert bool((gone[tokens == token] == gone[tokens == token][0]).all())
    torch.testing.assert_close(out[~gone], (matrix[tokens] / 0.6)[~gone])
    out.sum().backward()
    counts = torch.zeros(40, 6, dtype=torch.float64).index_add_(0, tokens, (~gone).double())
    torch.testing.assert_close(matrix.grad, counts / 0.6)


def test_memory_is_lent_to_one_at_a_time():
    scratch = Scratch()
    one, two = (scratch.lend(3, 4, dtype=torch.float32) for _ in range(2))
    assert one.data_ptr() != two.data_ptr()
    scratch.give_back(one)
    assert scratch.lend(12, dtype=torch.float64).data_ptr() != one.data_ptr()
    again = scratch.lend(4, 3, dtype=torch.float32)
    assert again.data_ptr() == one.data_ptr() and again.shape == (4, 3)
    assert scratch.lend(3, 4, dtype=torch.float32).data_ptr() not in (
        one.data_ptr(),
        two.data_ptr(),
    )


def test_two_passes_before_their_gradients_do_not_share_memory():
    matrix, features, tokens, weights = given(torch.float64)
    scratch, losses, wanted = Scratch(), [], 0
    for scale in (1.0, 3.0):
        large = LargeEmbedding(matrix, 0.3, scratch)
        losses.append(large.lm_loss(features * scale, tokens, weights, 40))
        plain = lm_loss(features * scale, dropped(large), tokens, weights)
        wanted += torch.autograd.grad(plain, matrix)[0]
    for loss in losses:
        loss.backward()
    torch.testing.assert_close(matrix.grad, wanted)
