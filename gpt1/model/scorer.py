"""The log-probability of text under a language model, on which all zero-shot heuristics rest.

There is no start-of-text token, so the newline token precedes every text (chosen here; nothing was
published). Special tokens and positions are outside the softmax, since they are not text.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import torch

from gpt1.model.language_model import LanguageModel
from gpt1.training.runtime import Runtime

Scored = tuple[np.ndarray, int]  # token ids, and the index (>= 1) at which scoring begins


class Scorer:
    """Log-probabilities of token sequences under a language model, without dropout."""

    def __init__(self, model: LanguageModel, newline: int, runtime: Runtime):
        self.model, self.newline, self.runtime = model.eval(), newline, runtime

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
        out: list[np.ndarray] = [np.empty(0)] * len(sequences)
        for rows in self._batches([len(ids) for ids, _ in sequences]):
            batch = [sequences[i] for i in rows]
            places = [
                (n, t) for n, (ids, at) in enumerate(batch) for t in range(at - 1, len(ids) - 1)
            ]
            logits = self._logits([ids for ids, _ in batch], places)
            targets = torch.from_numpy(np.concatenate([ids[at:] for ids, at in batch]))
            scores = logits.log_softmax(-1).gather(1, targets.to(logits.device)[:, None])
            ends = np.cumsum([len(ids) - at for ids, at in batch])[:-1]
            for i, values in zip(
                rows, np.split(scores.squeeze(1).cpu().numpy(), ends), strict=True
            ):
                out[i] = values
        return out

    def continuations(self, contexts: list[np.ndarray], words: list[np.ndarray]) -> np.ndarray:
        """Log-probabilities `[n, len(words)]` of each word (all its tokens) after each context."""
        pairs = [self.sequence([context], word) for context in contexts for word in words]
        sums = [values.sum() for values in self.log_probabilities(pairs)]
        return np.array(sums).reshape(len(contexts), len(words))

    @staticmethod
    def _batches(lengths: list[int], tokens: int = 8192) -> Iterator[list[int]]:
        """Row numbers in order of length, in batches of at most `tokens` padded tokens."""
        batch: list[int] = []
        for i in sorted(range(len(lengths)), key=lambda i: lengths[i]):
            if batch and (len(batch) + 1) * lengths[i] > tokens:
                yield batch
                batch = []
            batch.append(i)
        if batch:
            yield batch

    @torch.no_grad()
    def _logits(self, sequences: list[np.ndarray], places: list[tuple[int, int]]) -> torch.Tensor:
        """Logits `[len(places), n_vocab]` at (row, position) `places` of some sequences."""
        ids = torch.zeros((len(sequences), max(map(len, sequences))), dtype=torch.int64)
        for row, sequence in enumerate(sequences):
            ids[row, : len(sequence)] = torch.from_numpy(sequence)
        at, position = torch.tensor(places).T.to(self.runtime.device)
        with self.runtime.autocast():
            hidden, _ = self.model(ids.to(self.runtime.device))
            return self.model.logits(hidden[at, position], n_rows=self.model.n_vocab).float()
