"""The LM head and its loss in one step, in chunks that fit into a CPU's cache.

Loss and gradients are computed while a chunk's logits are in the cache. With many targets, as in
pre-training, that is faster on a CPU than `cross_entropy` on all of them (bench/LOG.md).
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

CHUNK = 128  # targets
FEW = 512  # up to this many targets, all logits fit into the cache


def lm_loss(features: Tensor, rows: Tensor, token: Tensor, weight: Tensor) -> Tensor:
    """The weighted sum of the targets' cross-entropies, in nats: one number.

    The logits of the targets are features `[targets, n_embd]` times rows `[n_rows, n_embd]`; tokens
    and weights are `[targets]`. On a GPU, in bfloat16 and for few targets, all logits are computed
    at once.
    """
    on_cpu = features.device.type == "cpu" and not torch.is_autocast_enabled("cpu")
    if not on_cpu or len(token) <= FEW:
        return _loss(widen(features @ rows.T), token, weight)
    grad = torch.is_grad_enabled() and (features.requires_grad or rows.requires_grad)
    loss: Tensor = _Loss.apply(features, rows, token, weight, grad)
    return loss


def widen(logits: Tensor) -> Tensor:
    """Logits in at least float32: a loss is never computed in bfloat16."""
    return logits.float() if logits.dtype.itemsize < 4 else logits


def _loss(logits: Tensor, token: Tensor, weight: Tensor) -> Tensor:
    return (F.cross_entropy(logits, token, reduction="none") * weight).sum()


class _Loss(torch.autograd.Function):
    """Computes the gradients together with the loss, since both need the logits of a chunk."""

    @staticmethod
    def forward(
        ctx: Any, features: Tensor, rows: Tensor, token: Tensor, weight: Tensor, grad: bool
    ) -> Tensor:
        """The loss."""
        loss = weight.new_zeros(())
        of_features, of_rows = torch.empty_like(features), torch.zeros_like(rows)
        parts = (each.split(CHUNK) for each in (features, token, weight, of_features))
        for x, t, w, of_x in zip(*parts, strict=True):
            logits = x @ rows.T
            loss += _loss(logits, t, w)
            if grad:
                of_logits = logits.softmax(1)
                of_logits[torch.arange(len(t)), t] -= 1
                of_logits *= w[:, None]
                torch.mm(of_logits, rows, out=of_x)
                of_rows.addmm_(of_logits.T, x)
        ctx.save_for_backward(of_features, of_rows)
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """The gradients of the features and of the rows."""
        of_features, of_rows = ctx.saved_tensors
        return grad * of_features, grad * of_rows, None, None, None
