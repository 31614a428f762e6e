"""Pre-training in several processes, forked from a server that has imported PyTorch already."""

import csv
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path

from gpt1 import pretrain as program
from gpt1.settings import PretrainSettings
from gpt1.training.distributed import join
from gpt1.training.runtime import Runtime
from tests.support.forks import FORKS

SECONDS = 60


def pretrain(
    count: int,
    corpus: Path,
    settings: PretrainSettings,
    folder: Path,
    micro_batch: int | None = None,
    stop_at: int | None = None,
) -> Path:
    """Pre-train in `count` processes; returns the folder of the declared outputs.

    `stop_at`: leave after that many updates, with the state saved.
    """
    arguments = (corpus, settings, folder, micro_batch, stop_at)
    with started(count, train, *arguments) as processes:
        for process in processes:
            process.join(SECONDS)
            assert process.exitcode == 0
    return folder / "out"


def losses(out: Path) -> list[float]:
    """The training losses in the log of a run."""
    with open(out / "log.csv", encoding="utf-8") as file:
        return [float(row["loss"]) for row in csv.DictReader(file)]


@contextmanager
def started(count: int, target, *arguments) -> Iterator[list[BaseProcess]]:
    """`count` processes that call `target` where torchrun's variables name the others."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    processes = [
        FORKS.Process(target=_member, args=(rank, count, port, target, arguments))
        for rank in range(count)
    ]
    for process in processes:
        process.start()
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.join()


def _member(rank: int, count: int, port: int, target, arguments) -> None:
    if count > 1:
        own = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": count, "LOCAL_WORLD_SIZE": count}
        own |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "TORCHELASTIC_RUN_ID": "test"}
        os.environ.update({name: str(value) for name, value in own.items()})
    target(*arguments)


def train(
    corpus: Path,
    settings: PretrainSettings,
    folder: Path,
    micro_batch: int | None,
    stop_at: int | None,
) -> None:
    """Be one of the processes of `pretrain`."""
    processes, runtime = join(Runtime(micro_batch=micro_batch))
    training = program.Pretraining(
        "transformer" if hasattr(settings.model.shape, "n_head") else "lstm",
        *(corpus, settings, runtime, folder / "work", "", processes),
    )
    if stop_at:
        program.STATE_SECONDS = 0.0
        training.settings = settings.model_copy(update={"updates": stop_at})
        training.train()
        return
    training.train()
    training.publish(folder / "out")
