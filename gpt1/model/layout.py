"""Which tokens of a batch a model computes, where they stand, and what the LM loss reads of them.

Everything but attention works on each token by itself. So pads need not be computed, and tokens
that several sequences of an example begin with need to be computed only once: their states are the
same in every sequence, for a token sees nothing that comes after it.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

Array = np.ndarray


@dataclass(frozen=True)
class LMTargets:
    """What the LM loss compares: `state[i]` among the computed tokens predicts `token[i]`.

    The loss is the sum of the targets' losses times `weight`. All are `[targets]`.
    """

    state: Tensor
    token: Tensor
    weight: Tensor


@dataclass(frozen=True)
class Layout:
    """The computed tokens of a batch, in the order of a grid of rows that is padded on the right.

    A row is a sequence, or an example whose sequences follow each other without what they share.
    `real` are the computed places of the grid, `mask` says which other tokens each one sees.
    """

    shape: tuple[int, int]  # rows and time of the grid
    tokens: Tensor  # [positions]
    places: Tensor  # [positions], each token's place in its sequence, from 0
    ends: Tensor  # [sequences], where among the computed tokens each sequence's last one is
    index: Array  # [n, S, time] as the ids given, where each token is among them; at pads 0
    targets: LMTargets | None = None
    real: Tensor | None = None  # [positions]; None: every place of the grid, pads included
    mask: Tensor | None = None  # [rows, 1, time, time]; None: a token sees its row up to itself

    def attention(self, q: Tensor, k: Tensor, v: Tensor, dropout: float) -> Tensor:
        """softmax(q k' / sqrt(d_head)) v, each `[rows, heads, time, d_head]` (paper 3.1, eq. 2).

        `dropout` falls on the probabilities.
        """
        causal = self.mask is None
        return F.scaled_dot_product_attention(q, k, v, self.mask, dropout, is_causal=causal)

    def pad(self, x: Tensor) -> Tensor:
        """`[positions, ...]` to `[rows, time, ...]`, zeros at the pads."""
        if self.real is not None:
            size = self.shape[0] * self.shape[1]
            x = x.new_zeros(size, *x.shape[1:]).index_copy(0, self.real, x)
        return x.unflatten(0, self.shape)

    def unpad(self, x: Tensor) -> Tensor:
        """`[rows, time, ...]` to `[positions, ...]`."""
        flat = x.flatten(0, 1)
        return flat if self.real is None else flat.index_select(0, self.real)


def layout_of(
    ids: Array,
    lengths: Array,
    embed: Tensor,
    *,
    skip_pads: bool = False,
    shared_prefix: bool = False,
    with_targets: bool = False,
) -> Layout:
    """The layout of examples of S sequences: ids `[n, S, time]` and lengths `[n, S]`.

    With `shared_prefix` what all sequences of an example begin with is computed once, and each
    sequence's own tokens see it and themselves. Their places continue from it. In the LM loss it
    counts as often, and as much, as in the separate sequences; with dropout they share its masks.
    The tensors are on the device of `embed`, and the targets' weights are of its type.
    """

    def to(array: Array) -> Tensor:
        return torch.from_numpy(array).to(embed.device)

    given, ids = ids.shape, ids.astype(np.int64)
    if not shared_prefix:
        ids, lengths = ids.reshape(-1, 1, ids.shape[2]), lengths.reshape(-1, 1)
    n, s, time = ids.shape
    shared = common_prefix(ids, lengths)[:, None, None]
    place = np.arange(time)
    first = np.arange(s)[:, None] == 0
    kept = (place < lengths[:, :, None]) & (first | (place >= shared))
    row, which, places = kept.nonzero()
    sizes = kept.sum((1, 2))
    shape = (n, int(sizes.max()))
    column = np.arange(len(row)) - (np.cumsum(sizes) - sizes)[row]
    real = row * shape[1] + column
    index = np.zeros(kept.shape, dtype=np.int64)
    index[kept] = np.arange(len(row)) if skip_pads else real
    index = np.where(place < shared, index[:, :1], index)
    ends = np.take_along_axis(index, lengths[:, :, None] - 1, axis=2).ravel()
    tokens = ids[kept]
    targets = None
    if with_targets:
        state, token, weight = _lm_targets(ids, lengths, kept, shared, index)
        targets = LMTargets(to(state), to(token), torch.from_numpy(weight).to(embed))
    mask = None
    if s > 1:
        mask = to(_seen(shape, row, column, which, places < shared[row, 0, 0]))
    if not skip_pads:
        tokens, places = _on_grid(shape, real, tokens), _on_grid(shape, real, places)
    return Layout(
        shape,
        to(tokens),
        to(places),
        to(ends),
        index.reshape(given),
        targets,
        to(real) if skip_pads and len(real) < math.prod(shape) else None,
        mask,
    )


def common_prefix(ids: Array, lengths: Array) -> Array:
    """How many tokens `[n]` the sequences of each example begin with alike.

    A sequence's last token, the classify token, always counts as its own.
    """
    alike = np.logical_and.accumulate((ids == ids[:, :1]).all(1), axis=1).sum(1)
    return np.minimum(alike, lengths.min(1) - 1)


def computed(ids: Array, lengths: Array) -> Array:
    """Tokens `[n]` of each example that are computed with a shared prefix."""
    return lengths.sum(1) - (lengths.shape[1] - 1) * common_prefix(ids, lengths)


def _lm_targets(
    ids: Array, lengths: Array, kept: Array, shared: Array, index: Array
) -> tuple[Array, Array, Array]:
    """State, token and weight of every target: all tokens of a sequence but its first.

    A sequence weighs the same as any other, and so do its targets among each other.
    """
    row, which, place = (kept & (np.arange(ids.shape[2]) > 0)).nonzero()
    each = 1.0 / (np.maximum(lengths - 1, 1) * lengths.size)
    weight = np.where(place < shared[row, 0, 0], each.sum(1)[row], each[row, which])
    return index[row, which, place - 1], ids[row, which, place], weight


def _seen(
    shape: tuple[int, int], row: Array, column: Array, which: Array, in_prefix: Array
) -> Array:
    """`[n, 1, time, time]`: whether a token sees another."""
    branch = np.full(shape, -1, dtype=np.int64)  # the sequence a token is of; 0: of all, -1: a pad
    branch[row, column] = np.where(in_prefix, 0, which + 1)
    seen = (branch[:, None, :] == 0) | (branch[:, None, :] == branch[:, :, None])
    return (seen & np.tri(shape[1], dtype=bool))[:, None]


def _on_grid(shape: tuple[int, int], real: Array, values: Array) -> Array:
    grid = np.zeros(math.prod(shape), dtype=np.int64)
    grid[real] = values
    return grid
