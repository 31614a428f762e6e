"""Learning rates that differ from layer to layer: discriminative rates and gradual unfreezing.

Source: ULMFiT (Howard and Ruder 2018, 3.2 and 3.3), which unfreezes one layer per epoch. Here there
are more layers than epochs, so layers join at even intervals until half of the updates are done.
The special tokens start from fresh values, as the classifier does, which reads the state of one of
them. So their rows of the embedding matrix have the classifier's rate from the first update on.
"""

import re
from collections.abc import Iterable

import torch
from torch import Tensor, nn

from gpt1.model.language_model import LanguageModel
from gpt1.settings import FinetuneMethod
from gpt1.training.optim import Adam

ALL_TRAINED = 0.5  # the share of the updates after which every layer is trained
_LAYER = re.compile(r"h\.(\d+)\.")


class LayerRates:
    """A factor for each parameter's learning rate, by its depth below the classifiers."""

    def __init__(
        self, model: LanguageModel, classifiers: Iterable[nn.Module], method: FinetuneMethod
    ):
        self.method, self.n_layer = method, model.n_layer
        self.below = {p: self._below(name) for name, p in model.named_parameters()}
        self.below |= {p: 0 for head in classifiers for p in head.parameters()}
        self.embed = model.embed
        self.special = slice(model.n_vocab, model.n_rows)
        self.factors: list[float] = []  # of the last update, by depth

    @property
    def needed(self) -> bool:
        """Whether any layer has a rate of its own."""
        return self.method.layer_decay < 1 or self.method.gradual_unfreezing

    def factor(self, below: int, progress: float) -> float:
        """The factor at a depth (0 is the classifier, 1 the top layer) and fraction of training."""
        if self.method.gradual_unfreezing:
            trained = progress / ALL_TRAINED * (self.n_layer + 1)
            if below > trained:
                return 0.0
        return self.method.layer_decay ** max(0, below - 1)

    def apply(self, optimizer: Adam) -> None:
        """Set the factors of the optimizer's next update."""
        progress = optimizer.updates / optimizer.schedule.total
        factors = [self.factor(below, progress) for below in range(self.n_layer + 2)]
        if factors != self.factors:
            optimizer.set_factors(lambda p: self._of(p, factors))
            self.factors = factors

    def _of(self, parameter: nn.Parameter, factors: list[float]) -> float | Tensor:
        """A parameter's factor; for the embeddings, one for each row `[rows, 1]`."""
        factor = factors[self.below[parameter]]
        if parameter is not self.embed:
            return factor
        rows = torch.full_like(parameter.data[:, :1], factor)
        rows[self.special] = factors[0]
        return rows

    def _below(self, name: str) -> int:
        """The depth of a parameter below the classifiers; the embeddings are the deepest."""
        if name.startswith("proj."):
            return 1
        layer = _LAYER.match(name)
        return self.n_layer - int(layer[1]) if layer else self.n_layer + 1
