"""The log-probability of text under a language model, on which all zero-shot heuristics rest.

There is no start-of-text token, so the newline token precedes every text (chosen here; nothing was
published). Special tokens and positions are outside the softmax, since they are not text.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from gpt1.model.language_model import LanguageModel
from gpt1.training.batching import by_length
from gpt1.training.runtime import Runtime
from gpt1.weights.checkpoint import Checkpoint, build

Scored = tuple[np.ndarray, int]  # token ids, and the index (>= 1) at which scoring begins


class Scorer:
    """Log-probabilities of token sequences under a language model, without dropout."""

    def __init__(self, model: LanguageModel, newline: int, runtime: Runtime):
        self.model, self.newline, self.runtime = model.eval(), newline, runtime

    @classmethod
    def of(cls, checkpoint: Checkpoint, newline: int, runtime: Runtime) -> "Scorer":
        """A scorer of the model that a checkpoint holds."""
        facts = checkpoint.facts
        model = build(facts.arch, facts.model, facts.n_vocab).to(runtime.device)
        model.load_state_dict(checkpoint.tensors)
        return cls(model, newline, runtime)

    def sequence(self, context: Sequence[np.ndarray], scored: np.ndarray) -> Scored:
        """Newline + context + scored; the context loses its left end where `n_ctx` is too small."""
        scored = scored[: self.model.n_ctx - 1]
        room = self.model.n_ctx - 1 - len(scored)
        before = np.concatenate([np.asarray(c, dtype=np.int64) for c in context] or [scored[:0]])
        before = before[max(0, len(before) - room) :]
        ids = np.concatenate([[self.newline], before, scored]).astype(np.int64)
        return ids, len(ids) - len(scored)

    def log_probabilities(self, sequences: list[Scored]) -> list[np.ndarray]:
        """For each sequence the log-probabilities (nats) of its scored tokens."""
        found: dict[int, np.ndarray] = {}
        for rows in by_length(np.array([len(ids) for ids, _ in sequences]), limit=8192):
            found |= zip(rows.tolist(), self._score([sequences[i] for i in rows]), strict=True)
        return [found[i] for i in range(len(sequences))]

    @torch.no_grad()
    def _score(self, batch: list[Scored]) -> Iterator[np.ndarray]:
        ids = pad_sequence([torch.from_numpy(ids) for ids, _ in batch], batch_first=True)
        ids = ids.to(self.runtime.device)
        scored = torch.zeros_like(ids, dtype=torch.bool)
        for row, (sequence, start) in zip(scored, batch, strict=True):
            row[start : len(sequence)] = True
        with self.runtime.autocast():
            hidden, _ = self.model(ids)
            states = hidden[:, :-1][scored[:, 1:]]
            logits = self.model.logits(states, n_rows=self.model.n_vocab).float()
        values = logits.log_softmax(-1).gather(1, ids[scored][:, None]).squeeze(1)
        return map(Tensor.numpy, values.cpu().split(scored.sum(1).tolist()))
