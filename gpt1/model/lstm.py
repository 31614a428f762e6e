"""The LSTM language model that the paper compares with (section 5, "Ablation studies").

Known from the paper: one layer of 2048 units in the same framework. Chosen here, since nothing
else was published: the transformer's BPE, windows and optimizer; embeddings of width `n_embd`
without positions; zero state at the start of each sequence; a linear map from the hidden state
back to `n_embd` before the tied softmax; the classifier reads the hidden state; matrices
N(0, init_std), forget bias 1. `embd` dropout as for the transformer, `resid` dropout on each
layer's output.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gpt1.model.language_model import NO_DROPOUT, LanguageModel
from gpt1.model.layout import Layout
from gpt1.settings import LSTMShape


class LSTM(LanguageModel):
    """A stack of LSTM layers with the transformer's interface. `embed` rows = [BPE | special]."""

    arch = "lstm"

    def add_layers(self) -> None:
        """The embedding matrix, the LSTM and the map from its states back to the embeddings."""
        self.skip_pads = False  # cuDNN and oneDNN need whole grids
        shape = self.settings.shape
        assert isinstance(shape, LSTMShape), shape
        self.n_layer, self.n_hidden = shape.n_layer, shape.n_hidden
        self.embed = nn.Parameter(torch.empty(self.n_rows, shape.n_embd))
        widths = [shape.n_embd] + [shape.n_hidden] * (shape.n_layer - 1)
        self.h = nn.ModuleList(nn.LSTM(w, shape.n_hidden, batch_first=True) for w in widths)
        self.proj = nn.Linear(shape.n_hidden, shape.n_embd)

    @property
    def init_std(self) -> float:
        """The shape's own value if it gives one, otherwise the model's."""
        shape = self.settings.shape
        assert isinstance(shape, LSTMShape), shape
        return shape.init_std or super().init_std

    def reset(self, generator: torch.Generator) -> None:
        """Draw every matrix from N(0, init_std); biases are 0, the forget gates' input biases 1."""
        super().reset(generator)
        for layer in self.h:  # gates are stored as input, forget, cell, output
            bias = layer.get_parameter("bias_ih_l0").data
            nn.init.ones_(bias[self.n_hidden : 2 * self.n_hidden])

    def trunk(self, batch: Layout, we: Tensor) -> Tensor:
        """Map a layout, pads included, to the last layer's output `[positions, n_hidden]`.

        Pads come after all real tokens of a row, so they affect no state that is read.
        """
        rates = self.dropout if self.training else NO_DROPOUT
        x = self.input_dropout(F.embedding(batch.tokens.view(batch.shape), we))
        for layer in self.h:
            x = F.dropout(layer(x)[0], rates.resid)
        return x.flatten(0, 1)

    def lm_features(self, hidden: Tensor) -> Tensor:
        """Map `[..., n_hidden]` to `[..., n_embd]`."""
        return self.proj(hidden)
