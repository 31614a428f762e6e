"""The LSTM language model that the paper compares with (section 5, "Ablation studies").

Known from the paper: one layer of 2048 units in the same framework. Chosen here, since nothing
else was published: the transformer's BPE, windows and optimizer; embeddings of width `n_embd`
without positions; zero state at the start of each sequence; a linear map from the hidden state
back to `n_embd` before the tied softmax; the classifier reads the hidden state; gates N(0, 0.02),
forget bias 1. `embd` dropout as for the transformer, `resid` dropout on each layer's output.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gpt1.model.language_model import LanguageModel


class LSTM(LanguageModel):
    """A stack of LSTM layers with the transformer's interface. `embed` rows = [BPE | special]."""

    arch = "lstm"

    def __init__(
        self,
        n_vocab: int,
        n_ctx: int,
        n_layer: int,
        n_embd: int,
        n_hidden: int,
        embd_dropout: str = "matrix",
        lm_softmax: str = "all_rows",
    ):
        super().__init__(n_vocab, n_ctx, embd_dropout, lm_softmax)
        self.n_layer, self.n_hidden = n_layer, n_hidden
        self.embed = nn.Parameter(torch.empty(self.n_rows, n_embd))
        widths = [n_embd] + [n_hidden] * (n_layer - 1)
        self.h = nn.ModuleList(nn.LSTM(width, n_hidden, batch_first=True) for width in widths)
        self.proj = nn.Linear(n_hidden, n_embd)

    def reset(self, generator: torch.Generator, init_std: float = 0.02) -> None:
        """Weights N(0, init_std), biases 0 but the forget gates' input bias, which is 1."""
        for name, parameter in self.named_parameters():
            if parameter.ndim > 1:
                nn.init.normal_(parameter, std=init_std, generator=generator)
            else:
                nn.init.zeros_(parameter)
            if name.endswith("bias_ih_l0"):  # gates are stored as input, forget, cell, output
                nn.init.ones_(parameter.data[self.n_hidden : 2 * self.n_hidden])

    def forward(self, ids: Tensor, we: Tensor, lengths: Tensor | None = None) -> Tensor:
        """Token ids `[batch, time]` to the last layer's output `[batch, time, n_hidden]`.

        `lengths` changes nothing: the steps over pads come after all that is read.
        """
        rates = self.rates if self.training else {}
        x = F.embedding(ids, we)
        if self.embd_dropout == "sum":
            x = F.dropout(x, rates.get("embd", 0.0))
        for layer in self.h:
            x = F.dropout(layer(x)[0], rates.get("resid", 0.0))
        return x

    def lm_features(self, hidden: Tensor) -> Tensor:
        """`[..., n_hidden]` to `[..., n_embd]`."""
        return self.proj(hidden)

    def embedding_rows(self) -> Tensor:
        """Indices of the rows that `n_transfer` 0 copies: the BPE rows."""
        return torch.arange(self.n_vocab)

    def layer_prefixes(self, n_transfer: int) -> tuple[str, ...]:
        """The lowest layers; the output map belongs to the top one, whose states it reads."""
        layers = tuple(f"h.{i}." for i in range(n_transfer))
        return (*layers, "proj.") if n_transfer == self.n_layer else layers
