"""A large embedding matrix in a training step on a CPU: dropout, look-up and LM loss.

At GPT-1's size the matrix is a quarter of the parameters, of which a step looks up a few hundred of
40,993 rows, and the LM head reads them all. Autograd would make a matrix of that size several times
a step. Here the gradients are added to the parameter's own at once: `torch.autograd.grad` does
not see them, and adds to them all the same.
"""

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from gpt1.model.dropout import drops, zero_at
from gpt1.model.lm_loss import cross_entropy, precision_of
from gpt1.model.scratch import Scratch

LARGE = 2**22  # values; below it autograd's own is as quick
CHUNK = 2048  # bytes of logits that are there at once, in each column
ROWS = 512  # rows of the matrix that are converted at once


class LargeEmbedding:
    """The matrix `[rows, n_embd]` of one forward pass, each of its values dropped with `rate`.

    It is not computed as a whole: the factor 1 / (1 - rate) goes to what it is multiplied with. Not
    `whole`, it is for one look-up alone, and only that one's rows are dropped.
    """

    def __init__(self, matrix: nn.Parameter, rate: float, scratch: Scratch, whole: bool = True):
        self.matrix, self.rate, self.scratch = matrix, rate, scratch
        self.scale, self.whole = 1 / (1 - rate), whole
        self.places = self._drops(matrix.numel() if whole else 0)

    @staticmethod
    def suits(matrix: Tensor) -> bool:
        """Whether a step gains by it."""
        on_cpu = matrix.device.type == "cpu" and not torch.compiler.is_compiling()
        return on_cpu and matrix.numel() >= LARGE and torch.is_grad_enabled()

    def look_up(self, rows: Tensor) -> Tensor:
        """The rows of the matrix at `rows`, `[..., n_embd]`."""
        return _LookUp.apply(self.matrix, rows, self)

    def lm_loss(self, features: Tensor, tokens: Tensor, weights: Tensor, n_rows: int) -> Tensor:
        """As `gpt1.model.lm_loss.lm_loss` of the first `n_rows` rows of the matrix."""
        return _LMLoss.apply(features, self.matrix, tokens, weights, n_rows, self)

    def dropped_of(self, rows: Tensor) -> Tensor:
        """The places that are dropped in the flattened `matrix[rows]`; the rows ascend."""
        width = self.matrix.shape[1]
        if not self.whole:
            return self._drops(len(rows) * width)
        places = self.places.numpy()
        first = rows.numpy() * width
        start, end = np.searchsorted(places, first), np.searchsorted(places, first + width)
        count = end - start
        each = np.arange(count.sum()) + np.repeat(start - (count.cumsum() - count), count)
        own = np.repeat(np.arange(len(first)) * width - first, count)
        return torch.from_numpy(places[each] + own)

    def _drops(self, n: int) -> Tensor:
        none = torch.empty(0, dtype=torch.long)
        return drops(n, self.rate) if self.rate > 0 and n > 0 else none

    def gradient(self) -> Tensor:
        """The parameter's own gradient, to add to."""
        if self.matrix.grad is None:
            self.matrix.grad = torch.zeros_like(self.matrix)
        return self.matrix.grad


class _LookUp(torch.autograd.Function):
    """The rows that are read, with their dropped values at 0."""

    @staticmethod
    def forward(ctx: Any, matrix: Tensor, rows: Tensor, own: LargeEmbedding) -> Tensor:
        """`[..., n_embd]`."""
        which, ctx.at = rows.unique(return_inverse=True)
        ctx.which, ctx.own, ctx.dropped = which, own, own.dropped_of(which)
        return zero_at(ctx.dropped, matrix[which] * own.scale)[ctx.at]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[None, ...]:
        """Adds to the gradient of the rows."""
        if ctx.needs_input_grad[0]:
            total = grad.new_zeros(len(ctx.which), grad.shape[-1])
            total.index_add_(0, ctx.at.flatten(), grad.flatten(0, -2))
            zero_at(ctx.dropped, total.mul_(ctx.own.scale))
            ctx.own.gradient().index_add_(0, ctx.which, total)
        return None, None, None


class _LMLoss(torch.autograd.Function):
    """Computes the gradients along with the loss, so `backward` only scales and adds them."""

    @staticmethod
    def forward(
        ctx: Any,
        features: Tensor,
        matrix: Tensor,
        tokens: Tensor,
        weights: Tensor,
        n_rows: int,
        own: LargeEmbedding,
    ) -> Tensor:
        """The loss. Matrix products are in the precision of autocast."""
        dtype, lend = precision_of(features), own.scratch.lend
        rows = zero_at(own.places, lend(*matrix.shape, dtype=dtype).copy_(matrix))
        size = CHUNK // dtype.itemsize  # positions
        read, buffer = rows[:n_rows], lend(size, n_rows, dtype=dtype)
        states, d_features = (features * own.scale).to(dtype), torch.empty_like(features)
        d_read, loss = None, []
        for start in range(0, max(1, len(features)), size):
            part = slice(start, start + size)
            logits = torch.mm(states[part], read.T, out=buffer[: len(states[part])])
            loss.append(cross_entropy(logits, tokens[part], weights[part], gradient=True))
            d_features[part] = logits @ read
            if ctx.needs_input_grad[1]:
                d_read = _add_product(d_read, logits.T, states[part], own.scratch)
        own.scratch.give_back(rows, buffer)
        ctx.own, ctx.gradients = own, (d_features.mul_(own.scale), d_read)
        return torch.stack(loss).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """The gradient of the features; that of the matrix is added to the parameter's."""
        d_features, d_read = ctx.gradients
        del ctx.gradients
        if d_read is not None:
            n = int(np.searchsorted(ctx.own.places.numpy(), d_read.numel()))
            zero_at(ctx.own.places[:n], d_read)
            _add(ctx.own.gradient()[: len(d_read)], d_read, float(grad))
            ctx.own.scratch.give_back(d_read)
        return d_features.mul_(grad), None, None, None, None, None


def _add_product(total: Tensor | None, a: Tensor, b: Tensor, scratch: Scratch) -> Tensor:
    """`total + a @ b`, in place; in float32 at least if there is a total."""
    if total is not None and total.dtype == a.dtype and a.dtype.itemsize >= 4:
        return total.addmm_(a, b)
    product = torch.mm(a, b, out=scratch.lend(len(a), b.shape[1], dtype=a.dtype))
    if total is None:
        return product
    if total.dtype == a.dtype:
        first, total = total, scratch.lend(*product.shape, dtype=torch.float32)
        total.copy_(first)
        scratch.give_back(first)
    _add(total, product, 1.0)
    scratch.give_back(product)
    return total


def _add(total: Tensor, other: Tensor, factor: float) -> None:
    """`total += factor * other`; a block of rows is converted at a time, not the whole."""
    for one, part in zip(total.split(ROWS), other.split(ROWS), strict=True):
        one.add_(part.to(one.dtype), alpha=factor)


def looked_up(rows: Tensor, matrix: Tensor | LargeEmbedding) -> Tensor:
    """The rows of the matrix at `rows`, `[..., n_embd]`."""
    return F.embedding(rows, matrix) if isinstance(matrix, Tensor) else matrix.look_up(rows)
