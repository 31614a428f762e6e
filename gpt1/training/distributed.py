"""Train one model in several processes: each takes a share of the batch, gradients are summed.

The optimizer's gradients are one flat buffer, so an update costs one all-reduce. The windows of an
update do not depend on the number of processes, and dropout masks belong to a micro-batch, not to a
process. torchrun starts the processes, and stops the others when one of them fails.
"""

import functools
import math
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import NoReturn

import torch
import torch.distributed as dist
from torch import Tensor

from gpt1.training.runtime import Runtime
from tasks.common.errors import InputError

LOST = 3  # exit code of a process that had to stop because another one ended
LOST_SECONDS = 2.0  # its wait before exiting, so that torchrun blames the one that ended first
# A process that has not responded for this long is considered hung. The others wait for its share
# of an update or of the held-out windows, or for the first process to deal with the files, which
# takes a minute or two on slow machines. The limit for finding each other at the start is the same.
HANG_SECONDS = 600.0


@dataclass(frozen=True)
class Processes:
    """The processes of a run, as one of them sees them; by default there is only this one."""

    rank: int = 0
    count: int = 1
    parent: int = 0  # process id of torchrun

    @property
    def leads(self) -> bool:
        """Whether this is the process that reads and writes the run's files."""
        return self.rank == 0

    def share(self, n: int) -> range:
        """This process's rows of a batch of `n`; empty if there are more processes than rows."""
        size = math.ceil(n / self.count)
        return range(min(n, self.rank * size), min(n, (self.rank + 1) * size))

    def sum(self, tensor: Tensor) -> None:
        """Sum a tensor over the processes, in place. Exits if another one has ended or hangs."""
        self._together(dist.all_reduce, tensor)

    def broadcast(self, tensor: Tensor) -> None:
        """Give every process the first one's tensor, in place. Exits as `sum` does."""
        self._together(functools.partial(dist.broadcast, src=0), tensor)

    def _together(self, collective: Callable[[Tensor], object], tensor: Tensor) -> None:
        if self.count == 1:
            return
        if os.getppid() != self.parent:  # torchrun has ended, so nobody waits for this process
            self._leave()
        begun = time.monotonic()
        try:
            collective(tensor)
        except RuntimeError:  # the connection is closed, or nothing arrived for too long
            if time.monotonic() - begun >= HANG_SECONDS:
                print(
                    f"warning: process {self.rank + 1} of {self.count} has waited "
                    f"{HANG_SECONDS:.0f} s for another one and gives up",
                    file=sys.stderr,
                )
            self._leave()

    def close(self) -> None:
        """End the connections, after the last tensor: torch's threads must not outlive Python."""
        if self.count > 1:
            dist.destroy_process_group()

    def _leave(self) -> NoReturn:
        """Exit without giving a reason, which is left to the process that ended first."""
        time.sleep(LOST_SECONDS)
        sys.stderr.flush()
        os._exit(LOST)  # an orderly exit may wait for the lost process


def join(runtime: Runtime) -> tuple[Processes, Runtime]:
    """This process's rank among those that torchrun started, and the runtime with its device.

    A process started in any other way is alone. Raises InputError if there are fewer GPUs than
    processes on this machine, or if the others do not join within HANG_SECONDS.
    """
    if not dist.is_torchelastic_launched():
        return Processes(), runtime
    if runtime.device == "cuda":
        here, count = int(os.environ["LOCAL_RANK"]), int(os.environ["LOCAL_WORLD_SIZE"])
        if torch.cuda.device_count() < count:
            raise InputError(
                f"{count} processes need as many GPUs, but torch sees {torch.cuda.device_count()}; "
                "lower runtime.pretrain_processes"
            )
        runtime = runtime.model_copy(update={"device": f"cuda:{here}"})
        torch.cuda.set_device(here)
    try:  # gloo on CPUs, nccl on GPUs
        dist.init_process_group(timeout=timedelta(seconds=HANG_SECONDS))
    except (RuntimeError, ValueError) as error:
        raise InputError(
            f"did not find the other processes within {HANG_SECONDS:.0f} s "
            f"({str(error).splitlines()[0]:.100}); start all of them at once, with torchrun"
        ) from None
    return Processes(dist.get_rank(), dist.get_world_size(), os.getppid()), runtime
