"""Settings for speed: device, precision, threads, micro-batch, pads, compilation."""

import contextlib
import resource
import sys
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import nn

from tasks.common.errors import InputError


@dataclass(frozen=True)
class Runtime:
    """How a program runs. Without dropout no field changes a loss beyond rounding (bfloat16: 2 %).

    With dropout, micro-batches and `skip_pads` draw other masks from the same seed: each
    micro-batch has its own, as each of the authors' GPUs had. So a run's numbers are those of
    `decides()`, which a cell's JSON tells.
    """

    device: str = "cpu"
    precision: str = "float32"  # or bfloat16: autocast, parameters stay float32
    threads: int = 1
    micro_batch: int | None = None  # examples per training pass; None = the whole batch
    skip_pads: bool = False  # no work for pads: quicker on a CPU, uneven shapes for a GPU
    compile: bool = False

    def decides(self) -> dict[str, Any]:
        """All that may change a number, if by rounding or by other masks alone: not the threads."""
        return {key: value for key, value in asdict(self).items() if key != "threads"}

    def start(self) -> None:
        """Set torch's threads and check that the device is there."""
        torch.set_num_threads(self.threads)
        if self.device.startswith("cuda") and not torch.cuda.is_available():
            raise InputError(f"runtime.device is {self.device}, but torch sees no GPU; use cpu")

    def reset_peak(self) -> None:
        """Begin to count a run's peak memory; on a CPU there is but the process's own."""
        if self.device.startswith("cuda"):
            torch.cuda.reset_peak_memory_stats()

    def autocast(self) -> contextlib.AbstractContextManager:
        """The context of every forward pass."""
        if self.precision == "float32":
            return contextlib.nullcontext()
        return torch.autocast(self.device.split(":")[0], dtype=getattr(torch, self.precision))

    def ready(self, module: nn.Module) -> nn.Module:
        """The module as it is to be called: compiled where that is asked for."""
        return torch.compile(module) if self.compile else module

    def peak_mb(self) -> float:
        """Peak memory in MB: the GPU's since `reset_peak`; on a CPU the process's, so far."""
        if self.device.startswith("cuda"):
            return torch.cuda.max_memory_allocated() / 2**20
        unit = 2**20 if sys.platform == "darwin" else 2**10  # bytes there, KB on Linux
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def seed_step(*numbers: int) -> None:
    """Make torch's random numbers (dropout) a pure function of `numbers`, for exact restarts."""
    import numpy as np

    torch.manual_seed(int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> 1))
