"""Starts the processes of one run on one machine, as torchrun does, and ends with one line.

If a process fails, the others are stopped; a signal to stop is passed on to all of them.
"""

import os
import signal
import subprocess
import sys
import time

import torch.distributed as dist

from gpt1.training.distributed import HANG_SECONDS, LOST, LOST_SECONDS, check_gpus
from gpt1.training.runtime import Runtime
from tasks.common.errors import InputError, Interrupted, answer_signals

POLL_SECONDS = 0.1
GRACE_SECONDS = 30.0  # for the first process to save its state, once another one has failed

Process = subprocess.Popen[bytes]


def launch(module: str, runtime: Runtime) -> None:
    """Run `python -m module` with this program's arguments in `runtime.processes` processes.

    Returns when all have ended well. Exits with the code of the one that failed first, which has
    said why. Raises Interrupted if a signal to stop came before they could heed it, and InputError
    if one was killed or hangs, or there are fewer GPUs than processes.
    """
    if runtime.device == "cuda":
        check_gpus(runtime.processes)
    processes: list[Process] = []
    signals: list[int] = []

    def pass_on(number: int, _frame: object) -> None:
        signals.append(number)
        for process in processes:
            process.send_signal(number)

    answer_signals(pass_on)
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    shared = {
        **{"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": store.port},
        **{"WORLD_SIZE": runtime.processes, "LOCAL_WORLD_SIZE": runtime.processes},
        **{"TORCHELASTIC_RUN_ID": os.getpid(), "TORCHELASTIC_RESTART_COUNT": 0},
        "TORCHELASTIC_USE_AGENT_STORE": True,  # of this process, whose port is taken already
    }
    for rank in range(runtime.processes):
        own = {name: str(value) for name, value in (shared | _place(rank)).items()}
        command = [sys.executable, "-m", module, *sys.argv[1:]]
        processes.append(subprocess.Popen(command, env=os.environ | own))
    for early in [*signals]:  # which came before all had been started
        pass_on(early, None)
    failed = _wait(processes)
    if failed is None:
        return
    if processes[failed].returncode == LOST:  # and none ended before it: one did not answer
        raise InputError(_hung(processes))
    if processes[failed].returncode > 0:
        sys.exit(processes[failed].returncode)
    if signals:
        raise Interrupted(f"stopped by {signal.Signals(signals[0]).name} before training began")
    name = signal.Signals(-processes[failed].returncode).name
    raise InputError(
        f"process {failed + 1} of {runtime.processes} was ended by {name}, and the others were "
        "stopped; start again to go on from the last saved state"
    )


def _place(rank: int) -> dict[str, int]:
    return {"RANK": rank, "LOCAL_RANK": rank}


def _wait(processes: list[Process]) -> int | None:
    """Wait for all, stopping the others once one has failed; the rank of that one, or None."""
    first, deadline = None, float("inf")
    while None in [process.poll() for process in processes]:  # of all: `any` would look no further
        failed = _failed(processes)
        if failed is not None and first is None:
            if processes[failed].returncode == LOST:  # one hangs, the others waited as long
                time.sleep(2 * LOST_SECONDS)
            first, deadline = failed, time.monotonic() + GRACE_SECONDS
            processes[0].terminate()  # it alone has anything to save
            for process in processes[1:]:
                process.kill()
        if time.monotonic() > deadline:
            processes[0].kill()
        time.sleep(POLL_SECONDS)
    return _failed(processes) if first is None else first


def _hung(processes: list[Process]) -> str:
    """What to say of a run whose processes have waited for one of them in vain."""
    late = [rank for rank, process in enumerate(processes) if process.returncode != LOST]
    which = f"process {late[0] + 1}" if late else "a process"
    return (
        f"{which} of {len(processes)} did not answer for {HANG_SECONDS:.0f} s; it was stopped "
        "with the others, start again to go on from the last saved state"
    )


def _failed(processes: list[Process]) -> int | None:
    """The rank of a process that failed, if possible not because another one did."""
    failed = [rank for rank, process in enumerate(processes) if process.returncode]
    return min(failed, key=lambda rank: processes[rank].returncode == LOST, default=None)
