"""The log-probability of text under a language model, on which all zero-shot heuristics rest.

There is no start-of-text token, so the newline token precedes every text (chosen here; nothing was
published). Special tokens and positions are outside the softmax, since they are not text.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

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
        model = build(facts.arch, facts.model, facts.n_vocab, skip_pads=runtime.skip_pads)
        model.load_state_dict(checkpoint.tensors)
        return cls(model.to(runtime.device), newline, runtime)

    def sequence(self, context: Sequence[np.ndarray], scored: np.ndarray) -> Scored:
        """Newline + context + scored; the context loses its left end where `n_ctx` is too small."""
        scored = scored[: self.model.n_ctx - 1]
        room = self.model.n_ctx - 1 - len(scored)
        before = np.concatenate([np.asarray(c, dtype=np.int64) for c in context] or [scored[:0]])
        before = before[max(0, len(before) - room) :]
        ids = np.concatenate([[self.newline], before, scored]).astype(np.int64)
        return ids, len(ids) - len(scored)

    def log_probabilities(
        self, sequences: list[Scored], sizes: Sequence[int] | None = None
    ) -> list[np.ndarray]:
        """For each sequence the log-probabilities (nats) of its scored tokens.

        `sizes` says how many sequences following each other are an item (None: one each). What an
        item's sequences begin with is computed once, with `runtime.shared_prefix`. Raises
        InputError if the memory does not suffice.
        """
        counts = np.ones(len(sequences), dtype=int) if sizes is None else np.asarray(sizes)
        starts = np.cumsum(counts) - counts
        found: dict[int, np.ndarray] = {}
        for size in np.unique(counts):
            rows = starts[counts == size, None] + np.arange(size)  # [items, size]
            lengths = np.array([len(ids) for ids, _ in sequences])[rows]
            for items in by_length(lengths.sum(1), self.runtime.scoring_tokens):
                numbers = rows[items].ravel()
                with self.runtime.scoring():
                    scores = self._score([sequences[i] for i in numbers], size)
                found |= zip(numbers.tolist(), scores, strict=True)
        return [found[i] for i in range(len(sequences))]

    def best_choices(self, sequences: list[Scored], sizes: Sequence[int]) -> np.ndarray:
        """The sequence of each item with the highest mean log-probability of its scored tokens.

        Counted from 0, `[items]`; of equal ones the first. `sizes` as in `log_probabilities`.
        """
        means = np.array([values.mean() for values in self.log_probabilities(sequences, sizes)])
        return np.array([item.argmax() for item in np.split(means, np.cumsum(sizes)[:-1])])

    @torch.no_grad()
    def _score(self, batch: list[Scored], size: int) -> Iterator[np.ndarray]:
        """As `log_probabilities`, for items of `size` sequences each."""
        lengths = np.array([len(ids) for ids, _ in batch])
        starts = np.array([start for _, start in batch])
        ids = np.zeros((len(batch), lengths.max()), dtype=np.int64)
        for row, (sequence, _) in zip(ids, batch, strict=True):
            row[: len(sequence)] = sequence
        place = np.arange(ids.shape[1])
        scored = (place >= starts[:, None]) & (place < lengths[:, None])
        shared = self.runtime.shared_prefix and self.model.can_share_prefix and size > 1
        shape = (-1, size, ids.shape[1])
        layout = self.model.lay_out(
            torch.from_numpy(ids.reshape(shape)),
            torch.from_numpy(lengths.reshape(-1, size)),
            shared_prefix=shared,
        )
        before = layout.index.reshape(ids.shape)[:, :-1][scored[:, 1:]]
        device = self.runtime.device
        tokens = torch.from_numpy(ids[scored]).to(device)
        with self.runtime.autocast():
            hidden, _ = self.model.states(layout)
            states = hidden[torch.from_numpy(before).to(device)]
            logits = self.model.logits(states, n_rows=self.model.n_vocab).float()
        values = logits.log_softmax(-1).gather(1, tokens[:, None]).squeeze(1)
        return map(Tensor.numpy, values.cpu().split(scored.sum(1).tolist()))
