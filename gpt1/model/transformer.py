"""The transformer decoder of GPT-1: twelve post-norm blocks over one embedding matrix.

Source: paper 4.1 ("Model specifications") and, for what the paper leaves open, the authors'
released code: layer norm after each residual sum, tanh GELU, weights stored `[in, out]`, token,
special and position rows in ONE matrix that is also the output layer.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gpt1.model.language_model import NO_DROPOUT, LanguageModel
from gpt1.model.layout import Layout
from gpt1.settings import Dropout, TransformerShape


class Conv1D(nn.Module):
    """The authors' convolution of width one: an affine map with its weight as `[n_in, n_out]`."""

    def __init__(self, n_in: int, n_out: int):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_in, n_out))
        self.bias = nn.Parameter(torch.empty(n_out))

    def forward(self, x: Tensor) -> Tensor:
        """Map `[positions, n_in]` to `[positions, n_out]`."""
        return torch.addmm(self.bias, x, self.weight)


class Attention(nn.Module):
    """Causal multi-head self-attention, softmax(q k' / sqrt(d_head)) v (paper 3.1, eq. 2)."""

    def __init__(self, n_embd: int, n_head: int):
        super().__init__()
        self.n_head = n_head
        self.c_attn = Conv1D(n_embd, 3 * n_embd)
        self.c_proj = Conv1D(n_embd, n_embd)

    def forward(self, x: Tensor, layout: Layout, dropout: float) -> Tensor:
        """Map `[positions, n_embd]` to the same shape; tokens attend to none that come later."""
        qkv = layout.pad(self.c_attn(x)).unflatten(2, (3, self.n_head, -1))
        q, k, v = qkv.permute(2, 0, 3, 1, 4)  # [rows, heads, time, d_head] each
        a = layout.attention(q, k, v, dropout)
        return self.c_proj(layout.unpad(a.transpose(1, 2).flatten(2)))


class MLP(nn.Module):
    """The position-wise feed-forward layer of a block."""

    def __init__(self, n_embd: int, n_ff: int):
        super().__init__()
        self.c_fc = Conv1D(n_embd, n_ff)
        self.c_proj = Conv1D(n_ff, n_embd)

    def forward(self, x: Tensor) -> Tensor:
        """Map `[positions, n_embd]` to the same shape."""
        return self.c_proj(F.gelu(self.c_fc(x), approximate="tanh"))


class Block(nn.Module):
    """One layer: n = LN1(x + attn(x)); h = LN2(n + mlp(n)) (authors' code; post-norm)."""

    def __init__(self, shape: TransformerShape):
        super().__init__()
        self.attn = Attention(shape.n_embd, shape.n_head)
        self.ln_1 = nn.LayerNorm(shape.n_embd, eps=1e-5)
        self.mlp = MLP(shape.n_embd, shape.n_ff)
        self.ln_2 = nn.LayerNorm(shape.n_embd, eps=1e-5)

    def forward(self, x: Tensor, layout: Layout, rates: Dropout) -> Tensor:
        """Map `[positions, n_embd]` to the same shape; the rates are 0 outside training."""
        n = self.ln_1(x + F.dropout(self.attn(x, layout, rates.attn), rates.resid))
        return self.ln_2(n + F.dropout(self.mlp(n), rates.resid))


class Transformer(LanguageModel):
    """GPT-1 of any size. `embed` holds the rows [BPE | start delimiter classify | positions]."""

    arch = "transformer"
    can_share_prefix = True

    def add_layers(self) -> None:
        """The embedding matrix and the blocks."""
        shape = self.settings.shape
        assert isinstance(shape, TransformerShape), shape
        self.n_layer, self.n_hidden = shape.n_layer, shape.n_embd
        self.embed = nn.Parameter(torch.empty(self.n_rows + self.n_ctx, shape.n_embd))
        self.h = nn.ModuleList(Block(shape) for _ in range(shape.n_layer))

    def trunk(self, batch: Layout, we: Tensor) -> Tensor:
        """Map a layout and the embeddings to the last block's output `[positions, n_embd]`."""
        rates = self.dropout if self.training else NO_DROPOUT
        rows = torch.stack((batch.tokens, batch.places + self.n_rows))
        x = self.input_dropout(F.embedding(rows, we).sum(0))
        for block in self.h:
            x = block(x, batch, rates)
        return x
