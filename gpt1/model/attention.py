"""Causal attention of a training step on a CPU, with dropout, as one operation.

torch's own computes the same by a dozen operations, three of which guard against tokens that see
nothing, and draws a random number for each probability. Here every token sees itself. In bfloat16
scores and probabilities are bfloat16, as they are in `transformers`; torch widens them there.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from gpt1.model.dropout import drops, zero_at
from gpt1.model.layout import Layout


def attention(qkv: Tensor, layout: Layout, n_head: int, dropout: float) -> Tensor:
    """softmax(q k' / sqrt(d_head)) v of a grid `[rows, time, 3 n_embd]`, to `[rows, time, n_embd]`.

    A token attends to what the layout lets it see (paper 3.1, eq. 2); `dropout` falls on the
    probabilities.
    """
    stacked = qkv.unflatten(2, (3, n_head, -1)).permute(2, 0, 3, 1, 4)  # [3, rows, heads, time, d]
    if dropout > 0 and qkv.device.type == "cpu" and not torch.compiler.is_compiling():
        a = _Attention.apply(stacked, layout, dropout)
    else:
        mask = layout.mask
        q, k, v = stacked
        a = F.scaled_dot_product_attention(
            *(q, k, v),
            attn_mask=None if mask is None else mask.to(qkv.dtype),
            dropout_p=dropout,
            is_causal=mask is None,
        )
    return a.transpose(1, 2).flatten(2)


class _Attention(torch.autograd.Function):
    """`[3, rows, heads, time, d_head]` to `[rows, heads, time, d_head]`."""

    @staticmethod
    def forward(ctx: Any, stacked: Tensor, layout: Layout, rate: float) -> Tensor:
        """Keeps the probabilities with and without dropout.

        Factors go to queries and values, which as a rule are smaller than the scores.
        """
        rows, heads, time, d_head = shape = stacked.shape[1:]
        q, k, v = (x.reshape(-1, time, d_head) for x in stacked)
        q, v = q * d_head**-0.5, v / (1 - rate)
        mask = layout.scores_mask(q.dtype)
        if mask.ndim == 4:  # one for each row
            mask = mask.expand(rows, heads, time, time).reshape(-1, time, time)
        p = torch.softmax(torch.baddbmm(mask, q, k.mT), -1)
        ctx.places, ctx.rate = drops(p.numel(), rate), rate
        kept = zero_at(ctx.places, p.clone())
        ctx.save_for_backward(q, k, v, p, kept)
        return (kept @ v).view(shape)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        """The gradient of queries, keys and values."""
        q, k, v, p, kept = ctx.saved_tensors
        out = grad.reshape(q.shape)
        d_kept = zero_at(ctx.places, out @ v.mT)
        d_scores = torch._softmax_backward_data(d_kept, p, -1, p.dtype)
        d_q = (d_scores @ k).mul_(q.shape[-1] ** -0.5)
        d_v = (kept.mT @ out).div_(1 - ctx.rate)
        d_stacked = torch.stack((d_q, d_scores.mT @ q, d_v))
        return d_stacked.view(3, *grad.shape), None, None
