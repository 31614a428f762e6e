"""The files of a training run: the work folder from which pre-training resumes, and its log.

The log has the run's mean losses, and the time that training took. It is written as CSV at the end
and, if requested, as TensorBoard event files along the way.
"""

import csv
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from gpt1.weights.checkpoint import (
    check_checkpoint,
    read_facts,
    read_tensors,
    sidecar,
    write_tensors,
)
from tasks.common.errors import InputError
from tasks.common.files import sha256_json, sweep, write_atomic

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

State = dict[str, Tensor]


class WorkFolder:
    """The checkpoints of a run and its last two states, in a folder below `parent`.

    The folder's name has digests of `run`, the run's settings and data, and of `made`: the code,
    precision and versions that a resumed run must share. If the last state is damaged, the run
    resumes from the one before it and loses only minutes.
    """

    def __init__(self, parent: Path, run: dict[str, Any], made: dict[str, Any]) -> None:
        self.run = _name(run)
        self.folder = parent / f"{self.run}-{sha256_json(made)[:8]}"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.last = self.folder / "state.safetensors"
        self.older = self.folder / "older-state.safetensors"

    def checkpoint(self, update: int) -> Path:
        """The path of the checkpoint of an update."""
        return self.folder / f"update-{update}.safetensors"

    def save(self, state: State) -> None:
        """Write a state and keep the previous one. Raises InputError if the disk is full."""
        if self.last.exists():
            self.last.replace(self.older)
        write_tensors(self.last, state, of=self.folder.name)

    def load(self, checkpoints: Sequence[int]) -> State | None:
        """The newest undamaged state for which all earlier `checkpoints` are intact, or None.

        A state that cannot be used is renamed, with a one-line warning. Leftovers of killed writes
        are removed from this folder and those of other runs.
        """
        for folder in self.folder.parent.glob("*"):
            sweep(folder)
        states = [path for path in (self.last, self.older) if path.exists()]
        for path in states:
            try:
                state = read_tensors(path, of=self.folder.name)
                for update in checkpoints:
                    if update < int(state["updates"]):  # a checkpoint at the state is made again
                        self._check(self.checkpoint(update))
                return state
            except InputError as error:
                path.replace(path.with_suffix(".damaged"))
                last = path == states[-1]
                rest = "starting again from update 0" if last else "trying the state before it"
                print(f"warning: {error}; {rest}", flush=True)
        if any(path != self.folder for path in self.folder.parent.glob(f"{self.run}-*")):
            print(
                "starting from update 0: what is saved of this run was made by other code, in "
                "another precision, or with another version of torch or numpy",
                flush=True,
            )
        return None

    def _check(self, path: Path) -> None:
        """Raise InputError if a checkpoint is missing, damaged or of another run."""
        check_checkpoint(path)
        facts = read_facts(path).model_dump(mode="json")
        settings = facts["settings"] or {}
        settings.pop("heldout_tokens", None)
        run = {"settings": settings, "corpus": facts["corpus_sha256"]}
        run |= {key: facts[key] for key in ("arch", "tokenizer")}
        if _name(run) != self.run:
            raise InputError(f"{path}: of another run, with other settings or data")

    def publish(self, updates: Sequence[int], out: Path) -> None:
        """Copy the checkpoints of these updates, and their JSON files, to `out`."""
        out.mkdir(parents=True, exist_ok=True)
        for path in map(self.checkpoint, updates):
            for source in (path, sidecar(path)):
                with write_atomic(out / source.name, "wb") as file, open(source, "rb") as original:
                    shutil.copyfileobj(original, file)


def _name(run: dict[str, Any]) -> str:
    """The name of a run: its architecture, with a digest of its settings and data."""
    return f"{run['arch']}-{sha256_json(run)[:16]}"


class LogRow(NamedTuple):
    """Mean training loss (nats) since the previous row, and the progress of training."""

    update: int
    loss: float
    lr: float
    tokens: int
    seconds: float


def event_writer(folder: Path, done: int) -> "SummaryWriter":
    """A writer of event files into a folder, for the updates after `done`.

    Those of an earlier run there go if none is done. Raises InputError if the package is not
    installed.
    """
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise InputError(
            "runtime.tensorboard: the package tensorboard is not installed; run pip install "
            "tensorboard, or leave the key out"
        ) from None
    for old in folder.glob("events.out.tfevents.*") if not done else ():
        old.unlink()
    return SummaryWriter(str(folder), purge_step=done + 1, flush_secs=10)


class TrainingLog:
    """Rows of losses, the losses since the last row, and the seconds of training so far.

    The losses are summed on the device until a row is made, so that no update waits for them.
    """

    def __init__(self, tokens_per_update: int, device: str):
        self.rows: list[LogRow] = []
        self.loss_sum = torch.zeros((), device=device)  # since the last row
        self.n_summed = 0
        self.seconds = 0.0
        self.events: SummaryWriter | None = None
        self._tokens_per_update, self._clock = tokens_per_update, time.perf_counter()

    def add(self, loss: Tensor) -> None:
        """Add the loss of one update."""
        self.loss_sum += loss
        self.n_summed += 1

    def end_row(self, update: int, lr: float) -> LogRow:
        """Append a row for the losses since the last row, which must be of at least one update."""
        loss = float(self.loss_sum) / self.n_summed
        self.take_time()  # after waiting for the device
        self.loss_sum.zero_()
        self.n_summed = 0
        tokens = update * self._tokens_per_update
        self.rows.append(LogRow(update, loss, lr, tokens, self.seconds))
        self.show(update, loss=loss, lr=lr)
        return self.rows[-1]

    def show(self, update: int, **values: float) -> None:
        """Write values at an update to TensorBoard, if `events` is set."""
        if self.events:
            for name, value in values.items():
                self.events.add_scalar(name, value, update)

    def start_clock(self) -> None:
        """Restart the clock: the time since the last call of `take_time` was not training."""
        self._clock = time.perf_counter()

    def take_time(self) -> None:
        """Count the time since the last call of `start_clock` or `take_time` as training."""
        now = time.perf_counter()
        self.seconds += now - self._clock
        self._clock = now

    def state(self) -> dict[str, Tensor]:
        """The log as tensors, for a saved state."""
        return {
            "log": torch.tensor(self.rows, dtype=torch.float64).reshape(-1, len(LogRow._fields)),
            "loss_sum": self.loss_sum,
            "n_summed": torch.tensor(self.n_summed),
            "seconds": torch.tensor(self.seconds, dtype=torch.float64),
        }

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Restore the log from a saved state."""
        for update, loss, lr, tokens, seconds in state["log"].tolist():
            self.rows.append(LogRow(int(update), loss, lr, int(tokens), seconds))
        self.loss_sum.copy_(state["loss_sum"])
        self.n_summed, self.seconds = int(state["n_summed"]), float(state["seconds"])

    def write(self, path: Path) -> None:
        """Write the rows as CSV."""
        with write_atomic(path) as file:
            csv.writer(file).writerows([LogRow._fields, *self.rows])
