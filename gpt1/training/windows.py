"""Windows of token ids: those of an update with their gradients, held-out ones with their loss."""

from collections.abc import Callable

import numpy as np
import torch

from gpt1.model.language_model import LanguageModel
from gpt1.streams import stream
from gpt1.training.runtime import Runtime, seed_step

WINDOWS = 32  # held-out windows that are scored at once


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


def accumulate(
    model: LanguageModel,
    ids: np.ndarray,
    share: range,
    runtime: Runtime,
    seed: int,
    update: int,
    check: Callable[[], None] = lambda: None,
) -> torch.Tensor:
    """Add the gradients of the windows `share` of a batch `ids` `[batch, n_ctx]` to the model's.

    Returns their contribution to the batch's mean loss, in nats. The dropout masks of a micro-batch
    are a function of (seed, update, its first window). `check` is called before each micro-batch.
    Raises InputError if memory runs out.
    """
    total = torch.zeros((), device=runtime.device)
    size = runtime.micro_batch or len(ids)
    with runtime.holding(min(size, len(share)), "windows"):
        for first in range(share.start, share.stop, size):
            check()
            micro_batch = ids[first : min(first + size, share.stop)]
            seed_step("dropout of pre-training", seed, update, first)
            with runtime.autocast():
                _, loss = model(micro_batch, with_lm_loss=True)
            loss = loss * (len(micro_batch) / len(ids))
            loss.backward()
            total += loss.detach()
    return total


@torch.no_grad()
def heldout_loss(
    model: LanguageModel,
    rows: np.ndarray,
    runtime: Runtime,
    check: Callable[[], None] = lambda: None,
    share: range | None = None,
) -> float:
    """Mean next-token loss in nats over windows `[n, n_ctx]`; `check` is called between batches.

    Given a `share` of the windows, it returns their contribution to the mean. A batch has as many
    windows as a micro-batch of training, at most WINDOWS. Raises InputError if memory runs out.
    """
    was_training = model.training
    model.eval()
    total = 0.0
    size = min(runtime.micro_batch or WINDOWS, WINDOWS)
    own = range(len(rows)) if share is None else share
    for start in range(own.start, own.stop, size):
        ids = rows[start : min(start + size, own.stop)]
        check()
        with runtime.holding(size, "held-out windows"), runtime.autocast():
            _, loss = model(ids, with_lm_loss=True)
        total += float(loss) * len(ids)
    model.train(was_training)
    return total / len(rows)
