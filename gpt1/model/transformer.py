"""The transformer decoder of GPT-1: twelve post-norm blocks over one embedding matrix.

Source: paper 4.1 ("Model specifications") and, for what the paper leaves open, the authors'
released code: layer norm after each residual sum, tanh GELU, weights stored `[in, out]`, token,
special and position rows in ONE matrix that is also the output layer.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gpt1.model.language_model import LanguageModel


class Conv1D(nn.Module):
    """The authors' convolution of size one: an affine map, its weight stored `[n_in, n_out]`."""

    def __init__(self, n_in: int, n_out: int):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_in, n_out))
        self.bias = nn.Parameter(torch.empty(n_out))

    def forward(self, x: Tensor) -> Tensor:
        """`[positions, n_in]` to `[positions, n_out]`."""
        return torch.addmm(self.bias, x, self.weight)


class Attention(nn.Module):
    """Causal multi-head self-attention, softmax(q k' / sqrt(d_head)) v (paper 3.1, eq. 2)."""

    def __init__(self, n_embd: int, n_head: int):
        super().__init__()
        self.n_head = n_head
        self.c_attn = Conv1D(n_embd, 3 * n_embd)
        self.c_proj = Conv1D(n_embd, n_embd)

    def forward(self, x: Tensor, layout: "Layout", attn_pdrop: float) -> Tensor:
        """Vectors `[positions, n_embd]` to the same; a token sees itself and what precedes it."""
        qkv = layout.spread(self.c_attn(x))
        q, k, v = qkv.unflatten(2, (3, self.n_head, -1)).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, dropout_p=attn_pdrop, is_causal=True)
        return self.c_proj(layout.gather(a.transpose(1, 2).flatten(2)))


class MLP(nn.Module):
    """The position-wise feed-forward part of a block."""

    def __init__(self, n_embd: int, n_ff: int):
        super().__init__()
        self.c_fc = Conv1D(n_embd, n_ff)
        self.c_proj = Conv1D(n_ff, n_embd)

    def forward(self, x: Tensor) -> Tensor:
        """`[positions, n_embd]` to the same."""
        return self.c_proj(F.gelu(self.c_fc(x), approximate="tanh"))


class Block(nn.Module):
    """One layer: n = LN1(x + attn(x)); h = LN2(n + mlp(n)) (authors' code; post-norm)."""

    def __init__(self, n_embd: int, n_head: int, n_ff: int):
        super().__init__()
        self.attn = Attention(n_embd, n_head)
        self.ln_1 = nn.LayerNorm(n_embd, eps=1e-5)
        self.mlp = MLP(n_embd, n_ff)
        self.ln_2 = nn.LayerNorm(n_embd, eps=1e-5)

    def forward(self, x: Tensor, layout: "Layout", attn_pdrop: float, resid_pdrop: float) -> Tensor:
        """Vectors `[positions, n_embd]` to the same; the rates are 0 outside training."""
        n = self.ln_1(x + F.dropout(self.attn(x, layout, attn_pdrop), resid_pdrop))
        return self.ln_2(n + F.dropout(self.mlp(n), resid_pdrop))


class Layout:
    """Where a batch's positions lie: all of `[batch, time]` in a row, or the real ones alone.

    All but attention works on each position by itself, so with `lengths` the pads at the end of
    the shorter sequences are never computed; what is read of the result is the same.
    """

    def __init__(self, ids: Tensor, lengths: Tensor | None):
        self.shape = ids.shape
        self.rows = None  # numbers of the real positions among all
        if lengths is not None:
            steps = torch.arange(ids.size(1), device=ids.device)
            self.rows = (steps < lengths[:, None]).flatten().nonzero().squeeze(1)

    def gather(self, x: Tensor) -> Tensor:
        """`[batch, time, ...]` to `[positions, ...]`."""
        flat = x.flatten(0, 1)
        return flat if self.rows is None else flat[self.rows]

    def spread(self, x: Tensor) -> Tensor:
        """`[positions, ...]` to `[batch, time, ...]`, zeros at the pads."""
        if self.rows is not None:
            size = self.shape.numel()
            x = x.new_zeros(size, *x.shape[1:]).index_copy(0, self.rows, x)
        return x.unflatten(0, self.shape)


class Transformer(LanguageModel):
    """GPT-1 of any size. `embed` holds the rows [BPE | start delimiter classify | positions]."""

    arch = "transformer"

    def __init__(
        self,
        n_vocab: int,
        n_ctx: int,
        n_layer: int,
        n_embd: int,
        n_head: int,
        n_ff: int,
        embd_dropout: str = "matrix",
        lm_softmax: str = "all_rows",
    ):
        super().__init__(n_vocab, n_ctx, embd_dropout, lm_softmax)
        if n_embd % n_head:
            raise ValueError(f"n_embd {n_embd} is not a multiple of n_head {n_head}")
        self.n_layer, self.n_hidden = n_layer, n_embd
        self.embed = nn.Parameter(torch.empty(self.n_rows + n_ctx, n_embd))
        self.h = nn.ModuleList(Block(n_embd, n_head, n_ff) for _ in range(n_layer))

    def reset(self, generator: torch.Generator, init_std: float = 0.02) -> None:
        """Every weight N(0, init_std), every bias 0, every gain 1 (paper 4.1; authors' code)."""
        for name, parameter in self.named_parameters():
            if parameter.ndim > 1:
                nn.init.normal_(parameter, std=init_std, generator=generator)
            else:
                nn.init.constant_(parameter, 1.0 if _is_gain(name) else 0.0)

    def forward(self, ids: Tensor, we: Tensor, lengths: Tensor | None = None) -> Tensor:
        """Token ids `[batch, time]` to the last block's output `[batch, time, n_embd]`.

        `we` is the embedding matrix of this step, from `step_embedding()`. With `lengths`
        `[batch]` no work is done for pads, and their output is zero.
        """
        rates = self.rates if self.training else {}
        layout = Layout(ids, lengths)
        x = layout.gather(F.embedding(ids, we) + we[self.n_rows : self.n_rows + ids.size(1)])
        if self.embd_dropout == "sum":
            x = F.dropout(x, rates.get("embd", 0.0))
        for block in self.h:
            x = block(x, layout, rates.get("attn", 0.0), rates.get("resid", 0.0))
        return layout.spread(x)

    def lm_features(self, hidden: Tensor) -> Tensor:
        """The vectors that meet the tied embedding: for the transformer the hidden states."""
        return hidden

    def embedding_rows(self) -> Tensor:
        """Indices of the rows that `n_transfer` 0 copies: BPE and positions, not special ones."""
        rows = torch.arange(self.embed.size(0))
        return torch.cat([rows[: self.n_vocab], rows[self.n_rows :]])

    def layer_prefixes(self, n_transfer: int) -> tuple[str, ...]:
        """Name prefixes of the parameters of the lowest `n_transfer` blocks."""
        return tuple(f"h.{i}." for i in range(n_transfer))


def parameter_count(n_vocab: int, n_ctx: int, n_layer: int, n_embd: int, n_ff: int) -> int:
    """Number of released values (no special rows, no head): 116,534,784 at GPT-1's shape."""
    block = 4 * n_embd * n_embd + 2 * n_embd * n_ff + 9 * n_embd + n_ff
    return (n_vocab + n_ctx) * n_embd + n_layer * block


def _is_gain(name: str) -> bool:
    return name.endswith((".ln_1.weight", ".ln_2.weight"))
