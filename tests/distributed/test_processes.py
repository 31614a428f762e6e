"""Several processes train the model that one would, and one that ends stops the others.

They are forked from a server that has imported PyTorch already; those under torchrun are slower.
"""

import csv
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
import torch

from gpt1 import pretrain as program
from gpt1.settings import Dropout, PretrainSettings
from gpt1.training import distributed
from gpt1.training.distributed import LOST, Processes, join
from gpt1.training.runtime import Runtime
from gpt1.weights.checkpoint import read_tensors
from tasks.common.errors import InputError
from tasks.common.files import read_json
from tasks.common.programs import Interrupted
from tests.gpt1 import toy
from tests.gpt1.toy import corpus, pretrain_settings
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

    `stop_at`: stop as by a signal after that many updates, with the state saved.
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
    if stop_at is None:
        training.train()
        training.publish(folder / "out")
        return
    update = training.update

    def stopped() -> torch.Tensor:
        if training.optimizer.updates == stop_at:
            training.signals.append("SIGTERM")
        return update()

    training.update = stopped
    with pytest.raises(Interrupted, match=f"stopped by SIGTERM at update {stop_at} of"):
        training.train()


LAST = "update-8.safetensors"


def weights(out: Path) -> torch.Tensor:
    return torch.cat([tensor.flatten() for tensor in read_tensors(out / LAST).values()])


@pytest.mark.parametrize("batch", [1, 6, 64])
@pytest.mark.parametrize("count", [1, 2, 4, 5])
def test_the_shares_of_a_batch_are_every_row_once(batch, count):
    shares = [Processes(rank, count).share(batch) for rank in range(count)]
    assert [row for share in shares for row in share] == list(range(batch))


@pytest.mark.parametrize("arch", toy.ARCHS)
def test_the_losses_do_not_depend_on_the_number_of_processes(tmp_path, arch):
    """With dropout, whose masks belong to a micro-batch and not to a process."""
    books, settings = corpus(tmp_path / "corpus"), pretrain_settings(arch, batch=8)
    outs = [pretrain(n, books, settings, tmp_path / str(n), micro_batch=2) for n in (1, 2, 4)]
    for count, out in zip((2, 4), outs[1:], strict=True):
        assert losses(out) == pytest.approx(losses(outs[0]), abs=1e-5)
        assert torch.allclose(weights(out), weights(outs[0]), atol=1e-4)
        facts = [read_json(o / "update-8.json") for o in (outs[0], out)]
        assert facts[0]["heldout_loss"] == pytest.approx(facts[1]["heldout_loss"], abs=1e-5)
        assert facts[1]["runtime"]["processes"] == count


def test_a_batch_that_the_processes_cannot_divide_evenly_is_the_same_batch(tmp_path):
    plain = Dropout(embd=0, attn=0, resid=0)
    books = corpus(tmp_path / "corpus")
    settings = pretrain_settings("transformer", batch=5, dropout=plain)
    one, four = (pretrain(n, books, settings, tmp_path / str(n)) for n in (1, 4))
    assert losses(four) == pytest.approx(losses(one), abs=1e-5)


def test_a_run_resumes_with_another_number_of_processes(tmp_path):
    books, settings = corpus(tmp_path / "corpus"), pretrain_settings("transformer", batch=8)
    whole = pretrain(1, books, settings, tmp_path / "whole", micro_batch=2)
    parts = tmp_path / "parts"
    pretrain(4, books, settings, parts, micro_batch=2, stop_at=5)
    (state,) = parts.glob("work/*/state.safetensors")
    assert int(read_tensors(state, of=state.parent.name)["updates"]) == 5
    pretrain(2, books, settings, parts, micro_batch=2)
    assert not [*parts.glob("work/*/*.damaged")]  # as a state is called that is not resumed from
    assert losses(parts / "out") == pytest.approx(losses(whole), abs=1e-5)
    assert torch.allclose(weights(parts / "out"), weights(whole), atol=1e-4)


def _sum_for_ever(ready, hang_seconds=SECONDS) -> None:
    distributed.HANG_SECONDS = hang_seconds
    processes, _ = join(Runtime())
    processes.sum(torch.ones(3))
    ready.release()
    while True:
        processes.sum(torch.ones(3))
        time.sleep(0.01)


@pytest.mark.parametrize("hanging", [0, 1])
def test_a_process_that_hangs_stops_the_others(hanging):
    ready = FORKS.Semaphore(0)  # not a barrier, whose lock a stopped process may hold
    with started(3, _sum_for_ever, ready, 3.0) as processes:
        assert all(ready.acquire(timeout=SECONDS) for _ in processes)
        os.kill(processes[hanging].pid, signal.SIGSTOP)
        others = [process for process in processes if process is not processes[hanging]]
        for process in others:
            process.join(SECONDS)
        assert [process.exitcode for process in others] == [LOST, LOST]
        assert processes[hanging].exitcode is None


def _join(late: float) -> None:
    """All but the first; that one is late."""
    if os.environ["RANK"] == "0":
        time.sleep(late)
        return
    distributed.HANG_SECONDS = 1.0
    with pytest.raises(InputError, match="did not find the other processes within 1 s"):
        join(Runtime())


def test_a_process_that_the_others_never_join_ends_with_one_line():
    with started(2, _join, 5.0) as processes:
        for process in processes:
            process.join(SECONDS)
        assert [process.exitcode for process in processes] == [0, 0]


faults = pytest.mark.faults  # under torchrun
LONG = {"updates": 100_000, "checkpoints": [0, 100_000], "batch": 8}
TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=3")
SIGNALS = "--signals-to-handle=SIGTERM,SIGUSR1"


def command(tmp_path, settings):
    words = [sys.executable, *TORCHRUN, SIGNALS, "-m", "gpt1", "pretrain", "transformer"]
    words += ["--corpus", corpus(tmp_path / "corpus"), "--settings", settings.to_json()]
    return list(map(str, [*words, "--work", tmp_path / "work", "--out", tmp_path / "out"]))


def workers(launcher: int, count: int) -> list[int]:
    """The process ids of the launcher's processes, once training has begun."""
    children = Path(f"/proc/{launcher}/task/{launcher}/children")
    found: list[int] = []
    while len(found) < count:
        time.sleep(0.2)
        found = [int(pid) for pid in children.read_text().split()]
    return found


def running(tmp_path, settings):
    """A run under way: its launcher, and its processes by rank."""
    launcher = subprocess.Popen(
        command(tmp_path, settings), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    found = workers(launcher.pid, 3)
    while not list(tmp_path.glob("work/*/update-0.json")):
        assert launcher.poll() is None
        time.sleep(0.2)
    time.sleep(1)
    return launcher, found


def alive(pid: int) -> bool:
    """Whether the process exists and is not waiting to be reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@faults
def test_torchrun_trains_in_three_processes(tmp_path):
    subprocess.run(command(tmp_path, pretrain_settings("transformer")), check=True)
    assert read_json(tmp_path / "out" / "update-8.json")["runtime"]["processes"] == 3


@faults
@pytest.mark.parametrize("rank", [0, 2])
def test_a_killed_process_stops_the_others_within_a_minute_and_is_named(tmp_path, rank):
    launcher, pids = running(tmp_path, pretrain_settings("transformer", **LONG))
    begun = time.monotonic()
    os.kill(pids[rank], signal.SIGKILL)
    said = launcher.communicate(timeout=60)[0]
    assert time.monotonic() - begun < 60 and launcher.returncode == 1
    assert re.search(rf"rank +: {rank} .*\n +exitcode +: -9 ", said), said
    assert not any(alive(pid) for pid in pids)


@faults
def test_a_process_that_fails_says_why_in_one_line(tmp_path):
    done = subprocess.run(
        command(tmp_path, pretrain_settings("transformer", lr=1e30)),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert done.returncode == 1
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("error:"))
    assert "the loss is" in line


@faults
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1])
def test_a_signal_to_the_launcher_stops_all_processes(tmp_path, number):
    launcher, pids = running(tmp_path, pretrain_settings("transformer", **LONG))
    launcher.send_signal(number)
    said = launcher.communicate(timeout=60)[0]
    assert launcher.returncode != 0
    assert f"error: stopped by {number.name} at update" in said, said
    assert list(tmp_path.glob("work/*/state.safetensors"))
    assert not any(alive(pid) for pid in pids)


@faults
def test_processes_whose_launcher_is_killed_stop(tmp_path):
    launcher, pids = running(tmp_path, pretrain_settings("transformer", **LONG))
    launcher.kill()
    launcher.wait()
    end = time.monotonic() + 60
    while any(alive(pid) for pid in pids) and time.monotonic() < end:
        time.sleep(0.5)
    assert not any(alive(pid) for pid in pids)
