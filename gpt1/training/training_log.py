"""The log of a pre-training run: its mean losses, and the time that training took.

It is written as CSV at the end and, if requested, as TensorBoard event files along the way.
"""

import csv
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from tasks.common.errors import InputError
from tasks.common.files import write_atomic

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter


class LogRow(NamedTuple):
    """Mean training loss (nats) since the previous row, and the progress of training."""

    update: int
    loss: float
    lr: float
    tokens: int
    seconds: float


def event_writer(folder: Path, done: int) -> "SummaryWriter":
    """A writer of event files into a folder, for the updates after `done`.

    Raises InputError if the package is not installed.
    """
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise InputError(
            "runtime.tensorboard: the package tensorboard is not installed; run pip install "
            "tensorboard, or leave the key out"
        ) from None
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
