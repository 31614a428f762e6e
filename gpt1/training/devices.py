"""Run a command on the GPUs with the fewest jobs, and hold them for as long as it runs.

    python -m gpt1 devices 4 torchrun --standalone --nproc-per-node=4 -m gpt1 pretrain ...

A job that trains on `cuda` in one process takes a GPU in the same way. So concurrent jobs have GPUs
of their own as long as there are enough, and share them evenly otherwise; Snakemake decides how
many run at once (`--resources gpu=8`).
"""

import argparse
import fcntl
import os
import tempfile
from collections import Counter
from pathlib import Path

import torch


def take(n: int) -> None:
    """Let this process, and those that it starts, see only `n` GPUs, or all if there are fewer.

    They are chosen from CUDA_VISIBLE_DEVICES, which Slurm sets too, or from all; with fewer than
    two to choose from, nothing is done. CUDA must not have been used yet. A process lists its GPUs
    in a file that it locks until it ends; a command that replaces the process keeps the lock.
    """
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    known = range(torch.cuda.device_count()) if given is None else given.split(",")
    if len(cards := [*map(str, known)]) < 2:
        return
    folder = Path(tempfile.gettempdir(), f"gpt1-gpus-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    with open(folder / "turn", "w", encoding="utf-8") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)  # one process at a time looks and takes
        jobs = Counter(card for path in folder.glob("job-*") for card in _held(path))
        taken = sorted(cards, key=lambda card: jobs[card])[:n]
        lock, _ = tempfile.mkstemp(prefix="job-", dir=folder)  # never closed: held to the end
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.write(lock, ",".join(taken).encode())
        os.set_inheritable(lock, True)
    os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(taken)
    print(f"GPU {', '.join(taken)} of {', '.join(cards)}", flush=True)


def _held(path: Path) -> list[str]:
    """The GPUs of a process that is still running; the file of one that has ended is removed."""
    with open(path, encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return file.read().split(",")
        path.unlink()
        return []


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("n", type=int, help="how many GPUs")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    a = parser.parse_args()
    if a.n < 1 or not a.command:
        parser.error("give at least one GPU, and a command")
    take(a.n)
    os.execvp(a.command[0], a.command)
