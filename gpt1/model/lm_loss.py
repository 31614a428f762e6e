"""The LM loss and its gradient, in chunks of positions.

Logits are the largest tensors of a step: a value for each position and row of the vocabulary, four
times over (logits, log-probabilities and the gradients of both). Here a chunk's stay in the cache,
and the gradient of the embedding matrix is summed in place.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


def lm_loss(features: Tensor, matrix: Tensor, tokens: Tensor, weights: Tensor) -> Tensor:
    """The sum of the targets' cross-entropies times `weights`, in nats, in at least float32.

    Features `[targets, n_embd]` times the matrix `[rows, n_embd]` are the logits; tokens and
    weights are `[targets]`.
    """
    return _LMLoss.apply(features, matrix, tokens, weights, torch.is_grad_enabled())


class _LMLoss(torch.autograd.Function):
    """Computes the gradients along with the loss, so `backward` only scales them, once."""

    @staticmethod
    def forward(
        ctx: Any, features: Tensor, matrix: Tensor, tokens: Tensor, weights: Tensor, train: bool
    ) -> Tensor:
        """The loss; with `train` the gradients of features and matrix are kept."""
        loss, d_features, d_matrix = [], torch.empty_like(features), None
        dtype = _precision(features)
        states, rows = features.to(dtype), matrix.to(dtype)  # autocast would do it in each chunk
        for part in _chunks(features, matrix):
            weight, token = weights[part, None], tokens[part, None]
            logits = states[part] @ rows.T
            logits = logits.float() if logits.dtype.itemsize < 4 else logits
            logits.sub_(logits.amax(1, keepdim=True))
            chosen = logits.gather(1, token)
            total = logits.exp_().sum(1, keepdim=True)
            weight = weight.to(logits.dtype)
            loss.append(((total.log() - chosen) * weight).sum())
            if train:
                d_logits = logits.mul_(weight / total).scatter_add_(1, token, -weight).to(dtype)
                d_features[part] = (d_logits @ rows).to(features.dtype)
                d_matrix = _add_product(d_matrix, d_logits.T, states[part], matrix)
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


def _precision(x: Tensor) -> torch.dtype:
    """The type in which a matrix product of `x` is computed here."""
    on = torch.is_autocast_enabled(x.device.type)
    return torch.get_autocast_dtype(x.device.type) if on else x.dtype


def _chunks(features: Tensor, matrix: Tensor) -> list[slice]:
    """Slices of positions: on a CPU as many as fit the cache, as long as that is a hundred.

    Of a large matrix none would, and each slice more is one more reading of it and its gradient.
    """
    size = (2**19 if features.device.type == "cpu" else 2**28) // len(matrix)
    size = size if size >= 128 else 512
    return [slice(start, start + size) for start in range(0, max(1, len(features)), size)]
