"""The layout of a batch: the tokens that a model computes, their places, and the LM loss's targets.

Everything but attention works on each token independently. So pads need not be computed, and a
prefix that several sequences of an example share need be computed only once: its states are the
same in every sequence, because a token never attends to later ones.
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
    """The targets of the LM loss: the computed token at `state[i]` predicts `token[i]`.

    The loss is the sum of the targets' losses times `weight`. All fields are `[targets]`.
    """

    state: Tensor
    token: Tensor
    weight: Tensor


@dataclass(frozen=True)
class Layout:
    """The computed tokens of a batch, row by row, from a grid that is padded on the right.

    A row is one sequence or, with a shared prefix, one example: the prefix, then the rest of each
    sequence in turn. `real` holds the computed places of the grid, `mask` the tokens that each
    token attends to.
    """

    shape: tuple[int, int]  # rows and time of the grid
    tokens: Tensor  # [positions]
    places: Tensor  # [positions], each token's place in its sequence, from 0
    ends: Tensor  # [sequences], index of each sequence's last token among the computed ones
    index: Array  # [n, S, time] like the given ids, each token's index among them; 0 at pads
    targets: LMTargets | None = None
    real: Tensor | None = None  # [positions]; None: every place of the grid, pads included
    mask: Tensor | None = None  # [rows, 1, time, time]; None: causal attention within each row

    def attention(self, q: Tensor, k: Tensor, v: Tensor, dropout: float) -> Tensor:
        """softmax(q k' / sqrt(d_head)) v, each `[rows, heads, time, d_head]` (paper 3.1, eq. 2).

        `dropout` is applied to the probabilities.
        """
        causal = self.mask is None
        return F.scaled_dot_product_attention(q, k, v, self.mask, dropout, is_causal=causal)

    def pad(self, x: Tensor) -> Tensor:
        """Map `[positions, ...]` to `[rows, time, ...]`, with zeros at the pads."""
        if self.real is not None:
            size = self.shape[0] * self.shape[1]
            x = x.new_zeros(size, *x.shape[1:]).index_copy(0, self.real, x)
        return x.unflatten(0, self.shape)

    def unpad(self, x: Tensor) -> Tensor:
        """Map `[rows, time, ...]` to `[positions, ...]`."""
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

    With `shared_prefix`, the common prefix of an example's sequences is computed once. The other
    tokens of a sequence attend to it and to each other, and their places continue from it. Its
    total weight in the LM loss is the same as in separate sequences; with dropout, the sequences
    share its masks. The tensors are on the device of `embed`; the targets' weights have its dtype.
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
    """The length `[n]` of the prefix that the sequences of each example share.

    A sequence's last token, the classify token, is never part of it.
    """
    alike = np.logical_and.accumulate((ids == ids[:, :1]).all(1), axis=1).sum(1)
    return np.minimum(alike, lengths.min(1) - 1)


def computed(ids: Array, lengths: Array) -> Array:
    """The number of tokens `[n]` computed for each example with a shared prefix."""
    return lengths.sum(1) - (lengths.shape[1] - 1) * common_prefix(ids, lengths)


def _lm_targets(
    ids: Array, lengths: Array, kept: Array, shared: Array, index: Array
) -> tuple[Array, Array, Array]:
    """State, token and weight of every target: all tokens of a sequence but its first.

    All sequences have the same weight, divided equally among their targets.
    """
    row, which, place = (kept & (np.arange(ids.shape[2]) > 0)).nonzero()
    each = 1.0 / (np.maximum(lengths - 1, 1) * lengths.size)
    weight = np.where(place < shared[row, 0, 0], each.sum(1)[row], each[row, which])
    return index[row, which, place - 1], ids[row, which, place], weight


def _seen(
    shape: tuple[int, int], row: Array, column: Array, which: Array, in_prefix: Array
) -> Array:
    """The mask `[n, 1, time, time]`: whether a token attends to another."""
    branch = np.full(shape, -1, dtype=np.int64)  # a token's sequence, from 1; 0: all, -1: a pad
    branch[row, column] = np.where(in_prefix, 0, which + 1)
    seen = (branch[:, None, :] == 0) | (branch[:, None, :] == branch[:, :, None])
    return (seen & np.tri(shape[1], dtype=bool))[:, None]


def _on_grid(shape: tuple[int, int], real: Array, values: Array) -> Array:
    grid = np.zeros(math.prod(shape), dtype=np.int64)
    grid[real] = values
    return grid
