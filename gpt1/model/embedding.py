"""Dropout of the embedding matrix, and the look-up of its rows, where the matrix is large.

At GPT-1's size the matrix is a quarter of the parameters, and a step reads a few hundred of its
40,993 rows. A mask of its own size costs more than a layer, and so does a gradient of zeros.
"""

import math
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

LARGE = 2**22  # values; below it the plain gradient is as quick


def dropped(matrix: Tensor, rate: float) -> Tensor:
    """The matrix with dropout: each value 0 with probability `rate`, else divided by 1 - `rate`."""
    if rate == 0 or matrix.device.type != "cpu":
        return F.dropout(matrix, rate)
    return _Dropped.apply(matrix, rate)


def looked_up(rows: Tensor, matrix: Tensor) -> Tensor:
    """The rows of the matrix at `rows`, `[..., n_embd]`.

    On a CPU the gradient of a large one is sparse; added to a gradient of all rows it is the same.
    """
    sparse = matrix.device.type == "cpu" and matrix.numel() >= LARGE
    return F.embedding(rows, matrix, sparse=sparse and not torch.compiler.is_compiling())


class _Dropped(torch.autograd.Function):
    """Sets the dropped values to 0 by their places, in the matrix and in its gradient."""

    @staticmethod
    def forward(ctx: Any, matrix: Tensor, rate: float) -> Tensor:
        """The matrix with dropout."""
        ctx.places, ctx.rate = _places(matrix.numel(), rate), rate
        return _zeroed(matrix / (1 - rate), ctx.places)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        """The gradient, in place: it is as large as the matrix, and no one else's."""
        grad = grad.to_dense() if grad.is_sparse else grad
        return _zeroed(grad.div_(1 - ctx.rate), ctx.places), None


def _zeroed(matrix: Tensor, places: Tensor) -> Tensor:
    matrix.view(-1).index_fill_(0, places, 0.0)
    return matrix


def _places(n: int, rate: float) -> Tensor:
    """Ascending places below n, each there with probability `rate` by itself.

    Between such places lie geometrically distributed gaps: of as many draws as there are drops,
    and not as there are values. The seed is torch's next random number.
    """
    seed = int(torch.randint(2**63 - 1, ()))
    generator = np.random.Generator(np.random.SFC64(seed))
    places, end = [], -1
    while end < n:
        draws = int(rate * (n - end) * 1.01) + 64
        gaps = generator.standard_exponential(draws) / -math.log1p(-rate)
        places.append(end + np.cumsum(gaps.astype(np.int64) + 1))
        end = int(places[-1][-1])
    found = np.concatenate(places)
    return torch.from_numpy(found[: np.searchsorted(found, n)])
