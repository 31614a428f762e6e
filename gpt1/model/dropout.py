"""Dropout of large tensors on a CPU, which draws the dropped positions instead of a mask.

For a mask, torch draws one random number per value on a single thread. For an embedding matrix of
GPT-1's size (31 M values) that takes three tenths of a fine-tuning update on short rows
(bench/LOG.md). At the paper's rate, only a tenth of the values are dropped.
"""

import math
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

LARGE = 2**20  # values; below this size torch's own dropout is as fast


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
