"""The gradients of a batch, a micro-batch at a time, in as much memory as there is."""

from collections.abc import Callable

import torch

from gpt1.model.language_model import LanguageModel
from gpt1.training.runtime import Runtime, seed_step


def accumulate(
    model: LanguageModel,
    ids: torch.Tensor,
    share: range,
    runtime: Runtime,
    seed: int,
    update: int,
    check: Callable[[], None] = lambda: None,
) -> torch.Tensor:
    """Add the gradients of the windows `share` of a batch `ids` `[batch, n_ctx]` to the model's.

    Returns their part of the batch's mean loss, in nats. The dropout masks of a micro-batch are a
    function of (seed, update, its first window). `check` is called before each. Raises InputError
    if the memory does not suffice.
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
