"""Large blocks of memory that are used again in each step.

The system gives a large block anew each time that it is asked for one, page by page: at GPT-1's
size that costs as much time as the arithmetic on it.
"""

import math

import torch
from torch import Tensor


class Scratch:
    """Tensors on the CPU that are lent, and lent again once they were given back.

    One that is never given back (because a step failed, say) is freed as any other.
    """

    def __init__(self) -> None:
        self._free: list[Tensor] = []  # flat

    def lend(self, *shape: int, dtype: torch.dtype) -> Tensor:
        """A tensor of this shape; its values are whatever was there before."""
        size = math.prod(shape)
        for i, block in enumerate(self._free):
            if block.dtype == dtype and block.numel() == size:
                return self._free.pop(i).view(shape)
        return torch.empty(shape, dtype=dtype)

    def give_back(self, *tensors: Tensor) -> None:
        """Take back what was lent; nobody may use it after."""
        self._free += [tensor.view(-1) for tensor in tensors]
