"""How a program runs: device, precision, threads, micro-batches, pads, prefixes, compilation."""

import contextlib
import platform
import resource
import sys
from pathlib import Path
from typing import Any

import torch

from gpt1.settings import RuntimeSettings
from gpt1.streams import Purpose, torch_seed
from gpt1.training import devices
from tasks.common.errors import MORE_MEMORY, InputError, within_memory


class Runtime(RuntimeSettings):
    """The runtime settings, with methods that apply them.

    Without dropout, no field changes a loss beyond rounding (bfloat16: 2 %). With dropout,
    micro-batches, `skip_pads`, `shared_prefix`, `compile` and another device draw different masks
    from the same seed: each micro-batch has its own masks, as each of the authors' GPUs had, and
    the choices of an example share those of their common prefix. So a run's numbers hold only for
    its `numeric()` settings, which a cell's JSON records.
    """

    def numeric(self) -> dict[str, Any]:
        """The settings recorded with a run's numbers: all but `threads` and `tensorboard`.

        Another number of threads may change the rounding too, but no finished run is repeated for
        it.
        """
        return self.model_dump(exclude={"threads", "tensorboard"})

    @property
    def scoring_tokens(self) -> int:
        """Tokens in a batch scored without gradients; on a CPU, as many as fit its cache."""
        return 4096 if self.device == "cpu" else 32768

    def scoring(self) -> contextlib.AbstractContextManager[None]:
        """A context for scoring a batch, in which running out of memory raises InputError."""
        return within_memory(f"scoring {self.scoring_tokens} tokens at once")

    def holding(self, n: int, what: str) -> contextlib.AbstractContextManager[None]:
        """A context for `n` examples at once, in which running out of memory raises InputError.

        `what` names the examples. The suggested remedy is a smaller `micro_batch`.
        """
        fewer = f"give runtime.micro_batch: {n // 2}, " if n > 1 else ""
        return within_memory(f"{n} {what} at once", fewer + MORE_MEMORY)

    def start(self) -> None:
        """Set torch's threads; `cuda` takes a GPU. Raises InputError if there is no such device."""
        torch.set_num_threads(self.threads)
        if self.device == "cuda":
            devices.take(1)
        self.check_device()

    def check_device(self) -> None:
        """Raise InputError if the device does not exist."""
        try:
            torch.empty(0, device=self.device)
        except (AssertionError, RuntimeError):  # torch was built without support, or there is none
            raise InputError(
                f"runtime.device is {self.device}, but torch sees no such device; use cpu"
            ) from None

    def reset_peak(self) -> None:
        """Start measuring a run's peak memory; on a CPU nothing is reset (see `peak_mb`)."""
        if self.device.startswith("cuda"):
            torch.cuda.reset_peak_memory_stats(self.device)

    def autocast(self) -> contextlib.AbstractContextManager:
        """The context of every forward pass; parameters stay float32."""
        if self.precision == "float32":
            return contextlib.nullcontext()
        onednn = torch.backends.mkldnn
        if onednn.is_available() and not torch.ops.mkldnn._is_mkldnn_bf16_supported():
            # Without AVX-512, oneDNN fails for an LSTM in bfloat16; PyTorch's own code works.
            onednn.enabled = False  # type: ignore[assignment]
        return torch.autocast(self.device.split(":")[0], dtype=torch.bfloat16)

    def peak_mb(self) -> float:
        """Peak memory in MB: the GPU's since `reset_peak`; on a CPU the process's so far."""
        if self.device.startswith("cuda"):
            return torch.cuda.max_memory_allocated(self.device) / 2**20
        unit = 2**20 if sys.platform == "darwin" else 2**10  # bytes on macOS, KB on Linux
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def cpu() -> str:
    """The CPU's model and the instruction set that torch uses: individual scores depend on both."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.is_file() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    model = models[0] if models else platform.processor() or platform.machine()
    return f"{model}, {torch.backends.cpu.get_cpu_capability()}"


def seed_step(purpose: Purpose, *numbers: int) -> None:
    """Make torch's random numbers (dropout) a pure function of the arguments, for exact restarts.

    Does what `torch.manual_seed` does, without the stack trace that it records for each unused
    device.
    """
    seed = torch_seed(purpose, *numbers)
    torch.default_generator.manual_seed(seed)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(seed)
    if torch.backends.mps.is_available():
        torch.mps.manual_seed(seed)
