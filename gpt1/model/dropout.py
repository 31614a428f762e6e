"""Dropout that draws the places of the drops where a tensor is large, and not a mask of its size.

On a CPU torch draws a mask of one random number a value, with one thread: at GPT-1's size a tenth
of a step. At the paper's rate there are a tenth as many gaps between drops.
"""

import math
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

LARGE = 2**12  # values; below it torch's own is as quick


def dropout(x: Tensor, rate: float) -> Tensor:
    """`x` with each value 0 with probability `rate`, the others divided by 1 - `rate`."""
    large = x.device.type == "cpu" and x.numel() >= LARGE and not torch.compiler.is_compiling()
    return _Dropout.apply(x, rate) if large and rate > 0 else F.dropout(x, rate)


class _Dropout(torch.autograd.Function):
    """Sets the dropped values to 0 by their places, and their gradients."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, rate: float) -> Tensor:
        """`x` with dropout."""
        ctx.places, ctx.rate = drops(x.numel(), rate), rate
        return zero_at(ctx.places, (x / (1 - rate)).contiguous())

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        """The gradient of `x`."""
        return zero_at(ctx.places, (grad / (1 - ctx.rate)).contiguous()), None


def zero_at(places: Tensor, x: Tensor) -> Tensor:
    """`x`, which is contiguous, with 0 at these places, in place."""
    x.view(-1).index_fill_(0, places, 0.0)
    return x


def drops(n: int, rate: float) -> Tensor:
    """Ascending places below `n`, each there with probability `rate` by itself.

    The gaps between such places are geometrically distributed. The seed is torch's next random
    number.
    """
    seed = int(torch.randint(2**63 - 1, ()))
    generator = np.random.Generator(np.random.SFC64(seed))
    places, end = [], -1
    while end < n:
        draws = int(rate * (n - end) * 1.01) + 64
        gaps = generator.standard_exponential(draws)
        gaps *= -1 / math.log1p(-rate)
        gaps += 1
        found = np.cumsum(gaps.astype(np.int64))
        found += end
        places.append(found)
        end = int(found[-1])
    found = np.concatenate(places) if len(places) > 1 else places[0]
    return torch.from_numpy(found[: np.searchsorted(found, n)])
