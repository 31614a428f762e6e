"""A run in three processes that lasts for ever: python -m tests.distributed.hanging"""

import sys
import time

import torch

from gpt1.training import distributed, launch
from gpt1.training.distributed import join, launched
from gpt1.training.runtime import Runtime
from tasks.common.errors import run

SECONDS = 10.0  # until one that does not answer is taken to hang; all must have started by then


def main() -> None:
    """As a program does, start the processes or be one of them."""
    launch.HANG_SECONDS = distributed.HANG_SECONDS = SECONDS
    launch.GRACE_SECONDS = 1.0
    if not launched():
        return launch.launch("tests.distributed.hanging", Runtime(processes=3))
    torch.set_num_threads(1)
    processes, _ = join(Runtime())
    while True:
        processes.sum(torch.ones(3))
        print("ready", flush=True)
        time.sleep(0.1)


if __name__ == "__main__":
    sys.exit(run(main))
