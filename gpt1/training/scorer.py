"""The log-probability of text under a language model, the basis of all zero-shot heuristics.

There is no start-of-text token, so the newline token precedes every text (chosen here; nothing was
published). Special tokens and positions are outside the softmax, since they are not text.
"""

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from gpt1.data import by_length
from gpt1.model.language_model import LanguageModel
from gpt1.training.runtime import Runtime
from tasks.common.files import write_atomic

Scored = tuple[np.ndarray, int]  # token ids, and the index (>= 1) at which scoring begins


def margins(scores: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The score of each row's right choice, and its margin over the best wrong one, both [n].

    `scores` [n, choices] are of at least two choices, `labels` [n] the numbers of the right ones.
    """
    rows, others = np.arange(len(scores)), scores.copy()
    others[rows, labels] = -np.inf
    return scores[rows, labels], scores[rows, labels] - others.max(axis=1)


def write_rows(path: Path, frames: Sequence[pd.DataFrame]) -> None:
    """Write what is behind scores, row by row, as Parquet, atomically."""
    with write_atomic(path, "wb") as file:
        pd.concat(frames).to_parquet(file, index=False, write_page_checksum=True)


class Scorer:
    """Log-probabilities of token sequences under a language model, without dropout."""

    def __init__(self, model: LanguageModel, newline: int, runtime: Runtime):
        self.model, self.newline, self.runtime = model.eval(), newline, runtime

    def sequence(self, context: Sequence[np.ndarray], scored: np.ndarray) -> Scored:
        """Newline + context + scored; the context loses its left end if `n_ctx` is too small."""
        scored = scored[: self.model.n_ctx - 1]
        room = self.model.n_ctx - 1 - len(scored)
        before = np.concatenate([np.asarray(c, dtype=np.int64) for c in context] or [scored[:0]])
        before = before[max(0, len(before) - room) :]
        ids = np.concatenate([[self.newline], before, scored]).astype(np.int64)
        return ids, len(ids) - len(scored)

    def log_probabilities(self, items: Sequence[Sequence[Scored]]) -> list[list[np.ndarray]]:
        """The log-probabilities (nats) of the scored tokens of each sequence of each item.

        With `runtime.shared_prefix`, the common prefix of an item's sequences is computed once.
        Raises InputError if memory runs out.
        """
        sizes = np.array([len(item) for item in items])
        tokens = np.array([sum(len(ids) for ids, _ in item) for item in items])
        values: dict[int, list[np.ndarray]] = {}
        for size in np.unique(sizes):
            (same,) = np.nonzero(sizes == size)
            for rows in by_length(tokens[same], self.runtime.scoring_tokens):
                numbers = same[rows].tolist()
                with self.runtime.scoring():
                    scores = self._score([s for i in numbers for s in items[i]], size)
                values |= {i: list(itertools.islice(scores, size)) for i in numbers}
        return [values[i] for i in range(len(items))]

    @torch.no_grad()
    def _score(self, batch: list[Scored], size: int) -> Iterator[np.ndarray]:
        """The values of each sequence in turn; every `size` consecutive ones form an item."""
        lengths = np.array([len(ids) for ids, _ in batch])
        starts = np.array([start for _, start in batch])
        ids = np.zeros((len(batch), lengths.max()), dtype=np.int64)
        for row, (sequence, _) in zip(ids, batch, strict=True):
            row[: len(sequence)] = sequence
        position = np.arange(ids.shape[1])
        scored = (position >= starts[:, None]) & (position < lengths[:, None])
        shared = self.runtime.shared_prefix and self.model.can_share_prefix and size > 1
        shape = (-1, size, ids.shape[1])
        layout = self.model.lay_out(
            ids.reshape(shape), lengths.reshape(-1, size), shared_prefix=shared
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
