"""The LM loss and its gradient, in chunks of positions.

Logits are the largest tensors of a step: a value for each position and row of the vocabulary, four
times over (logits, log-probabilities and the gradients of both). Here a chunk's stay in the cache,
and the gradient of the embedding matrix is summed in place.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

CACHED = 2**19  # logits that stay in a CPU's cache


def lm_loss(features: Tensor, matrix: Tensor, tokens: Tensor, weights: Tensor) -> Tensor:
    """The sum of the targets' cross-entropies times `weights`, in nats, in at least float32.

    Features `[targets, n_embd]` times the matrix `[rows, n_embd]` are the logits; tokens and
    weights are `[targets]`.
    """
    return _LMLoss.apply(features, matrix, tokens, weights, torch.is_grad_enabled())


def cross_entropy(logits: Tensor, tokens: Tensor, weights: Tensor, gradient: bool) -> Tensor:
    """The loss of logits `[targets, rows]`; with `gradient` they become its gradient, in place.

    On a CPU as many targets at once as the cache holds.
    """
    size = max(16, CACHED // logits.shape[1]) if logits.device.type == "cpu" else len(logits)
    loss = []
    for own, token, weight in zip(*(x.split(size) for x in (logits, tokens, weights)), strict=True):
        token = token[:, None]
        wide = own.float() if own.dtype.itemsize < 4 else own
        weight = weight[:, None].to(wide.dtype)
        wide.sub_(wide.amax(1, keepdim=True))
        chosen = wide.gather(1, token)
        total = wide.exp_().sum(1, keepdim=True)
        loss.append(((total.log() - chosen) * weight).sum())
        if gradient:
            own.copy_(wide.mul_(weight / total).scatter_add_(1, token, -weight))
    return torch.stack(loss).sum() if len(loss) > 1 else loss[0]


class _LMLoss(torch.autograd.Function):
    """Computes the gradients along with the loss, so `backward` only scales them, once."""

    @staticmethod
    def forward(
        ctx: Any, features: Tensor, matrix: Tensor, tokens: Tensor, weights: Tensor, train: bool
    ) -> Tensor:
        """The loss; with `train` the gradients of features and matrix are kept."""
        loss, d_features, d_matrix = [], torch.empty_like(features), None
        dtype = precision_of(features)
        states, rows = features.to(dtype), matrix.to(dtype)  # autocast would do it in each chunk
        for part in _chunks(features, matrix):
            logits = states[part] @ rows.T
            loss.append(cross_entropy(logits, tokens[part], weights[part], train))
            if train:
                d_features[part] = (logits @ rows).to(features.dtype)
                d_matrix = _add_product(d_matrix, logits.T, states[part], matrix)
        if train:
            ctx.gradients = [d_features, d_matrix]
        return torch.stack(loss).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """The kept gradients times `grad`, in place: they are the largest tensors of a step."""
        d_features, d_matrix = ctx.gradients
        del ctx.gradients
        return d_features.mul_(grad), d_matrix.mul_(grad), None, None, None


def _add_product(total: Tensor | None, a: Tensor, b: Tensor, like: Tensor) -> Tensor:
    """`total + a @ b` in the dtype of `like`, in place where the precision is the full one."""
    if total is None:
        return (a @ b).to(like.dtype)
    if a.dtype == total.dtype:
        return total.addmm_(a, b)
    return total.add_(a @ b)


def precision_of(x: Tensor) -> torch.dtype:
    """The type in which a matrix product of `x` is computed here."""
    on = torch.is_autocast_enabled(x.device.type)
    return torch.get_autocast_dtype(x.device.type) if on else x.dtype


def _chunks(features: Tensor, matrix: Tensor) -> list[slice]:
    """Slices of positions: on a CPU as many as fit the cache, as long as that is a hundred.

    Of a large matrix none would, and each slice more is one more reading of it and its gradient.
    """
    size = (CACHED if features.device.type == "cpu" else 2**28) // len(matrix)
    size = size if size >= 128 else 512
    return [slice(start, start + size) for start in range(0, max(1, len(features)), size)]
