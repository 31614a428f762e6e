"""The supervised head on the classify token's state (paper 3.2, eq. 3; authors' code).

One linear map. Similarity adds the states of the two orders first; a multiple choice gives one
logit per choice, with one dropout mask for all choices of an example.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gpt1.model.language_model import LanguageModel


class Classifier(nn.Module):
    """States `[B, S, n_hidden]` to logits `[B, classes]`, or `[B, S]` for a choice."""

    def __init__(self, family: str, n_hidden: int, n_classes: int):
        super().__init__()
        self.family = family
        self.weight = nn.Parameter(torch.empty(n_hidden, 1 if family == "choice" else n_classes))
        self.bias = nn.Parameter(torch.empty(self.weight.size(1)))

    def reset(self, generator: torch.Generator, init_std: float = 0.02) -> None:
        """Weight N(0, init_std), bias 0."""
        nn.init.normal_(self.weight, std=init_std, generator=generator)
        nn.init.zeros_(self.bias)

    def forward(self, states: Tensor, clf_pdrop: float) -> Tensor:
        """`clf_pdrop` is the dropout rate, 0 outside training."""
        if self.family == "similarity":
            states = states.sum(1, keepdim=True)
        mask = F.dropout(torch.ones_like(states[:, :1]), clf_pdrop, training=clf_pdrop > 0)
        logits = (states * mask) @ self.weight + self.bias
        return logits.squeeze(2) if self.family == "choice" else logits.squeeze(1)


def classify_states(hidden: Tensor, lengths: Tensor) -> Tensor:
    """Hidden states `[n, time, width]` at each sequence's last real token, the classify token."""
    return hidden[torch.arange(len(hidden), device=hidden.device), lengths - 1]


def losses(
    model: LanguageModel,
    classifier: Classifier,
    batch: tuple[Tensor, Tensor, Tensor],
    lm_coef: float,
    clf_pdrop: float,
    forward: nn.Module | None = None,
    skip_pads: bool = False,
) -> tuple[Tensor, Tensor, Tensor | None]:
    """The training loss of a batch, its classification part and its LM part (paper eq. 5).

    ids `[B, S, T]`, lengths `[B, S]`, targets `[B]` (class numbers) or `[B, classes]` (soft
    labels). `lm_coef` 0 leaves the LM head out altogether; the LM part is then None. `forward` is
    the model as it is to be called (compiled, say).
    """
    ids, lengths, targets = batch
    flat, flat_lengths = ids.flatten(0, 1), lengths.flatten()
    we = model.step_embedding()
    called = model if forward is None else forward
    hidden = called(flat, we, flat_lengths if skip_pads else None)
    states = classify_states(hidden, flat_lengths).view(*lengths.shape, -1)
    logits = classifier(states, clf_pdrop)
    wide = logits.float() if logits.dtype.itemsize < 4 else logits
    clf = F.cross_entropy(wide, targets.to(wide.dtype) if targets.ndim == 2 else targets)
    if lm_coef == 0:
        return clf, clf, None
    lm = model.lm_loss(hidden, flat, flat_lengths, we)
    return clf + lm_coef * lm, clf, lm
