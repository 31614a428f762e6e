"""Windows of token ids, for pre-training updates and for scoring checkpoints (paper 4.1)."""

import numpy as np

from gpt1.streams import stream


def windows(tokens: np.ndarray, n_ctx: int, batch: int, seed: int, update: int) -> np.ndarray:
    """The `[batch, n_ctx]` windows of one update, uniform over the corpus: a pure function."""
    starts = stream("windows", seed, update).integers(0, len(tokens) - n_ctx + 1, batch)
    return np.stack([tokens[s : s + n_ctx] for s in starts])


def heldout_windows(tokens: np.ndarray, n_ctx: int, limit: int) -> np.ndarray:
    """Windows `[n, n_ctx]` of at most `limit` tokens, spread evenly over the held-out documents.

    They do not overlap; if everything fits, they are contiguous. Fewer tokens than one window make
    a single shorter window.
    """
    n_ctx = min(n_ctx, len(tokens))
    n = max(1, min(limit, len(tokens)) // n_ctx)
    starts = np.linspace(0, len(tokens) - n_ctx, n).astype(np.int64)
    if n == len(tokens) // n_ctx:
        starts = np.arange(n) * n_ctx
    return np.stack([tokens[s : s + n_ctx] for s in starts])
