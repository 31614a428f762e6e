"""Two operations that a CPU does faster in another way than PyTorch's: large dropout, the LM loss.

For a dropout mask, torch draws one random number per value on a single thread. For an embedding
matrix of GPT-1's size (31 M values) that takes three tenths of a fine-tuning update on short rows.
At the paper's rate only a tenth of the values are dropped, so their positions are drawn instead.

The LM head and its loss are one step, in chunks that fit into a CPU's cache: loss and gradients are
computed while a chunk's logits are there. With many targets, as in pre-training, that is faster
than `cross_entropy` on all of them. bench/LOG.md has the measurements.
"""

import math
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

LARGE = 2**20  # values; below this size torch's own dropout is as fast
CHUNK = 128  # targets
FEW = 512  # up to this many targets, all logits fit into the cache


def dropout(x: Tensor, rate: float) -> Tensor:
    """Set each value of `x` to 0 with probability `rate`, and divide the others by 1 - `rate`."""
    if rate == 0 or x.numel() < LARGE or x.device.type != "cpu":
        return F.dropout(x, rate)
    dropped: Tensor = _Dropout.apply(x, rate)
    return dropped


class _Dropout(torch.autograd.Function):
    """Sets the dropped values and their gradients to 0."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, rate: float) -> Tensor:
        """`x` with dropout."""
        ctx.positions, ctx.rate = drops(x.numel(), rate), rate
        return _scaled(x, ctx.positions, rate)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        """The gradient of `x`."""
        return _scaled(grad, ctx.positions, ctx.rate), None


def _scaled(x: Tensor, positions: Tensor, rate: float) -> Tensor:
    """`x` divided by 1 - `rate`, with zeros at `positions`."""
    scaled = (x / (1 - rate)).contiguous()
    scaled.view(-1).index_fill_(0, positions, 0.0)
    return scaled


def drops(n: int, rate: float) -> Tensor:
    """Ascending positions below `n`, each drawn independently with probability `rate`.

    The gaps between such positions are geometrically distributed. The seed is torch's next random
    number.
    """
    generator = np.random.Generator(np.random.SFC64(int(torch.randint(2**63 - 1, ()))))
    positions, end = [], -1
    while end < n:
        gaps = generator.standard_exponential(int(rate * (n - end) * 1.01) + 64)
        gaps *= -1 / math.log1p(-rate)
        gaps += 1
        positions.append(np.cumsum(gaps.astype(np.int64)) + end)
        end = int(positions[-1][-1])
    drawn = np.concatenate(positions)
    return torch.from_numpy(drawn[: np.searchsorted(drawn, n)])


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
