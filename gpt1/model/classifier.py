"""The supervised head on the classify token's state (paper 3.2, eq. 3; authors' code)."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gpt1.model.fused import widen
from gpt1.model.language_model import LanguageModel
from gpt1.model.layout import Array


class Classifier(nn.Module):
    """One linear map from states `[B, S, n_hidden]` to logits `[B, classes]`.

    Similarity adds the states of the two orders first; multiple choice gives one logit per choice,
    hence `[B, S]`. All choices of an example share one dropout mask. The parameters are
    uninitialised until `reset` draws them or saved ones are loaded.
    """

    def __init__(self, family: str, n_hidden: int, n_classes: int, dropout: float = 0.0):
        super().__init__()
        self.family, self.dropout = family, dropout
        n_out = 1 if family == "multiple_choice" else n_classes
        self.weight = nn.Parameter(torch.empty(n_hidden, n_out))
        self.bias = nn.Parameter(torch.empty(n_out))

    def reset(self, generator: torch.Generator, init_std: float = 0.02) -> None:
        """Draw the weight from N(0, init_std); the bias is 0."""
        nn.init.normal_(self.weight, std=init_std, generator=generator)
        nn.init.zeros_(self.bias)

    def forward(self, states: Tensor) -> Tensor:
        """Map states `[B, S, n_hidden]` to logits; dropout is applied in training mode only."""
        if self.family == "similarity":
            states = states.sum(1, keepdim=True)
        rate = self.dropout if self.training else 0.0
        mask = F.dropout(torch.ones_like(states[:, :1]), rate)
        logits = (states * mask) @ self.weight + self.bias
        return logits.squeeze(2) if self.family == "multiple_choice" else logits.squeeze(1)


class TaskModel(nn.Module):
    """A language model with a classifier: the one forward pass of training and prediction.

    With `shared_prefix`, the common prefix of an example's choices is computed only once if the
    language model supports it. That changes no loss and no gradient, except that with dropout the
    choices share the prefix's masks.
    """

    def __init__(
        self, language_model: LanguageModel, classifier: Classifier, shared_prefix: bool = False
    ):
        super().__init__()
        self.language_model, self.classifier = language_model, classifier
        has_choices = classifier.family == "multiple_choice"
        self.shared_prefix = shared_prefix and has_choices and language_model.can_share_prefix

    def forward(
        self, ids: Array, lengths: Array, with_lm_loss: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        """Class logits and, if requested, the LM loss in nats (else None, and no LM head is run).

        ids `[B, S, time]` and lengths `[B, S]` hold S sequences for each example. The classifier
        reads the state at each sequence's last real token, the classify token.
        """
        options = {"shared_prefix": self.shared_prefix, "with_targets": with_lm_loss}
        batch = self.language_model.lay_out(ids, lengths, **options)
        hidden, lm_loss = self.language_model.states(batch)
        return self.classifier(hidden[batch.ends].view(*lengths.shape, -1)), lm_loss


def classification_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean cross-entropy in nats of targets `[B]` (class numbers) or `[B, classes]` (soft)."""
    return F.cross_entropy(widen(logits), targets)
