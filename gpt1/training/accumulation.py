"""The gradients of a batch, a micro-batch at a time, in as much memory as there is."""

from collections.abc import Callable

import torch

from gpt1.model.language_model import LanguageModel
from gpt1.training.runtime import Runtime, seed_step
from tasks.common.errors import InputError, memory_fault


def accumulate(
    model: LanguageModel,
    ids: torch.Tensor,
    share: range,
    runtime: Runtime,
    seed: int,
    update: int,
    check: Callable[[], None] = lambda: None,
) -> torch.Tensor | None:
    """Add the gradients of the windows `share` of a batch `ids` `[batch, n_ctx]` to the model's.

    Returns their part of the batch's mean loss, in nats, or None if the memory did not suffice. The
    dropout masks of a micro-batch are a function of (seed, update, its first window).
    """
    total = torch.zeros((), device=runtime.device)
    size = runtime.micro_batch or len(ids)
    try:
        for first in range(share.start, share.stop, size):
            check()
            micro_batch = ids[first : min(first + size, share.stop)]
            seed_step("dropout of pre-training", seed, update, first)
            with runtime.autocast():
                _, loss = model(micro_batch, with_lm_loss=True)
            loss = loss * (len(micro_batch) / len(ids))
            loss.backward()
            total += loss.detach()
    except (MemoryError, RuntimeError) as error:
        if not memory_fault(error):
            raise
        return None  # for the caller to retry, once the exception has let go of the activations
    return total


def halve_micro_batch(runtime: Runtime, windows: int, update: int) -> Runtime:
    """The runtime with half the micro-batch, of `windows` at most; says so in one line.

    Raises InputError if a single window is too much.
    """
    size = min(runtime.micro_batch or windows, windows)
    if size == 1:
        raise InputError(
            "out of memory with one window at a time; lower experiment.model.n_ctx or use a device "
            "with more memory"
        )
    if runtime.device.startswith("cuda"):
        torch.cuda.empty_cache()
    print(
        f"warning: update {update + 1}: out of memory with a micro-batch of {size} windows; going "
        f"on with {size // 2}, the batch stays the same",
        flush=True,
    )
    return runtime.model_copy(update={"micro_batch": size // 2})
