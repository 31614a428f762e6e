"""A transformer decoder as they have been built since 2018, to see how much of the paper's findings
depends on its architecture.

Norms come before each half of a block and after the last block (pre-norm: Xiong et al. 2020,
arXiv:2002.04745) and are RMSNorm (Zhang and Sennrich 2019, arXiv:1910.07467), without gains as in
nanochat, which norms the token embeddings too. Queries and keys are rotated by their places (RoPE:
Su et al. 2021, arXiv:2104.09864); no row of the embedding matrix is a position. The feed-forward
layer is SwiGLU (Shazeer 2020, arXiv:2002.05202). There are no biases. Weights start at
N(0, 1 / n_in), those that write to the residual sums smaller by the root of their number (GPT-2).
The tied softmax, the dropout rates and the special tokens are GPT-1's.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gpt1.model.language_model import NO_DROPOUT, LanguageModel
from gpt1.model.layout import Layout
from gpt1.settings import Dropout, ModernShape

EPS = 1e-5  # inside the root of RMSNorm
BASE = 10_000.0  # of the wavelengths of RoPE


def norm(x: Tensor) -> Tensor:
    """RMSNorm over the last axis."""
    return F.rms_norm(x, x.shape[-1:], eps=EPS)


def rotation(places: Tensor, d_head: int, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Cosines and sines `[positions, 1, 1, d_head / 2]` of the angles that places are turned by."""
    exponents = torch.arange(0, d_head, 2, device=places.device, dtype=dtype) / d_head
    angles = places.to(dtype)[:, None] * BASE**-exponents
    return angles.cos()[:, None, None], angles.sin()[:, None, None]


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turn `[positions, ..., d_head]`, the i-th value of the first half with that of the second."""
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, a * sin + b * cos), -1)


class Attention(nn.Module):
    """Causal multi-head self-attention over rotated queries and keys."""

    def __init__(self, n_embd: int, n_head: int):
        super().__init__()
        self.n_head = n_head
        self.c_attn = nn.Linear(n_embd, 3 * n_embd, bias=False)
        self.c_proj = nn.Linear(n_embd, n_embd, bias=False)

    def forward(
        self, x: Tensor, layout: Layout, turn: tuple[Tensor, Tensor], dropout: float
    ) -> Tensor:
        """`[positions, n_embd]` to the same; a token attends to itself and to earlier tokens."""
        qkv = self.c_attn(x).unflatten(1, (3, self.n_head, -1))
        rotated = rotate(qkv[:, :2], *turn).to(qkv.dtype)
        grid = layout.pad(torch.cat((rotated, qkv[:, 2:]), 1))
        q, k, v = grid.permute(2, 0, 3, 1, 4)
        a = layout.attention(q, k, v, dropout)
        return self.c_proj(layout.unpad(a.transpose(1, 2).flatten(2)))


class MLP(nn.Module):
    """SwiGLU: (silu(x w1) * x w2) w3, with w1 and w2 in one matrix."""

    def __init__(self, n_embd: int, n_ff: int):
        super().__init__()
        self.c_fc = nn.Linear(n_embd, 2 * n_ff, bias=False)
        self.c_proj = nn.Linear(n_ff, n_embd, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """`[positions, n_embd]` to the same."""
        gate, value = self.c_fc(x).chunk(2, -1)
        return self.c_proj(F.silu(gate) * value)


class Block(nn.Module):
    """One layer: n = x + attn(norm(x)); h = n + mlp(norm(n))."""

    def __init__(self, shape: ModernShape):
        super().__init__()
        self.attn = Attention(shape.n_embd, shape.n_head)
        self.mlp = MLP(shape.n_embd, shape.n_ff)

    def forward(
        self, x: Tensor, layout: Layout, turn: tuple[Tensor, Tensor], rates: Dropout
    ) -> Tensor:
        """`[positions, n_embd]` to the same; `rates` are 0 outside training."""
        n = x + F.dropout(self.attn(norm(x), layout, turn, rates.attn), rates.resid)
        return n + F.dropout(self.mlp(norm(n)), rates.resid)


class ModernTransformer(LanguageModel):
    """The model. `embed` holds the rows [BPE | start delimiter classify], and no positions."""

    arch = "transformer"
    can_share_prefix = True
    decay = "adamw"

    def add_layers(self) -> None:
        """The embedding matrix and the blocks."""
        shape = self.settings.shape
        assert isinstance(shape, ModernShape), shape
        self.n_layer, self.n_hidden = shape.n_layer, shape.n_embd
        self.d_head = shape.n_embd // shape.n_head
        self.embed = nn.Parameter(torch.empty(self.n_rows, shape.n_embd))
        self.h = nn.ModuleList(Block(shape) for _ in range(shape.n_layer))

    def reset(self, generator: torch.Generator | None = None) -> None:
        """Draw the embeddings from N(0, init_std) and each matrix by its width."""
        nn.init.normal_(self.embed, std=self.settings.init_std, generator=generator)
        for name, matrix in self.h.named_parameters():
            std = matrix.shape[1] ** -0.5
            if name.endswith("c_proj.weight"):
                std *= (2 * self.n_layer) ** -0.5
            nn.init.normal_(matrix, std=std, generator=generator)

    def trunk(self, batch: Layout, we: Tensor) -> Tensor:
        """A layout and the embedding matrix to the normed states `[positions, n_embd]`."""
        rates = self.dropout if self.training else NO_DROPOUT
        x = self.input_dropout(norm(F.embedding(batch.tokens, we)))
        turn = rotation(batch.places, self.d_head, x.dtype)
        for block in self.h:
            x = block(x, batch, turn, rates)
        return norm(x)
