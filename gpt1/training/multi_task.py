"""Fine-tune one model on several tasks at once: a shared body, a classifier for each task.

The paper leaves it to later work ("our model will benefit from multi-task training", 4.2). Each
batch is of one task, and every task gives the batches of its own cell, in their order; whose turn
it is, is drawn in proportion to their numbers (as in MT-DNN, Liu et al. 2019, arXiv:1901.11504). So
a row is seen as often as in its own cell, with the same weight of the auxiliary loss. Body and
classifiers start from the values that they have in the cells of their tasks. At the turns of other
tasks a classifier has no gradient, but its moments follow and its weights decay.
"""

import time

import numpy as np

from gpt1.cell import NTransfer
from gpt1.settings import FinetuneSettings
from gpt1.streams import stream
from gpt1.training import batching
from gpt1.training.finetune import FIRST_EPOCH_EVALS, FineTuning, RunRecord
from gpt1.training.optim import SCHEDULES, Adam, Schedule
from gpt1.training.runtime import Runtime
from gpt1.training.task_data import TaskData
from gpt1.weights.checkpoint import Checkpoint


class MultiTask:
    """A run of several tasks: one `FineTuning` each, which share their body and their optimizer.

    `data` and `settings` are by task; the settings have the same model, learning rate, warm-up and
    optimizer, and no rates by layer. `updates` are those of all tasks together.
    """

    def __init__(
        self,
        data: dict[str, TaskData],
        checkpoint: Checkpoint,
        settings: dict[str, FinetuneSettings],
        n_transfer: NTransfer,
        seed: int,
        runtime: Runtime,
    ):
        self.runs = {
            task: FineTuning(of, checkpoint, settings[task], n_transfer, seed, runtime)
            for task, of in data.items()
        }
        self.runtime, self.seed = runtime, seed
        first, *others = self.runs.values()
        for run in others:
            run.model.language_model = first.model.language_model
        self.updates = sum(run.updates for run in self.runs.values())
        own = first.settings
        schedule = Schedule(own.lr, SCHEDULES[own.method.schedule], own.warmup, self.updates)
        modules = [first.model, *(run.model.classifier for run in others)]
        parameters = [p for module in modules for p in module.parameters() if p.requires_grad]
        self.optimizer = Adam(parameters, schedule, own.optimizer, own.method.decay)
        for run in self.runs.values():
            run.optimizer = self.optimizer

    def turns(self) -> list[tuple[str, np.ndarray]]:
        """The task and the rows of every update, a function of the seed."""
        batches = {task: self._batches(run) for task, run in self.runs.items()}
        names = [task for task, of in batches.items() for _ in of]
        waiting = {task: iter(of) for task, of in batches.items()}
        order = stream("order of several tasks", self.seed).permutation(len(names))
        return [(names[i], next(waiting[names[i]])) for i in order]

    def _batches(self, run: FineTuning) -> list[np.ndarray]:
        """The batches of a task in all its epochs, as in its own cell."""
        n, epochs = len(run.data.splits["train"]), range(run.settings.epochs)
        return [rows for e in epochs for rows in batching.epoch(n, run.batch, self.seed, e)]

    def train(self) -> dict[str, RunRecord]:
        """Train, restore the weights with the best mean on the `select` splits, score every task.

        The model is scored after each part of training, as many as the most epochs of a task, and
        where a single task is in its first epoch. Raises FloatingPointError if a loss is not
        finite, or weights that are to be scored.
        """
        self.runtime.reset_peak()
        parts = max(run.settings.epochs for run in self.runs.values())
        ends = [round(self.updates * part / parts) for part in range(1, parts + 1)]
        scored = {*ends, *(done for done in FIRST_EPOCH_EVALS if done < ends[0])}
        points: dict[str, list[dict[str, float]]] = {task: [] for task in self.runs}
        seconds = dict.fromkeys(self.runs, 0.0)
        best, best_flat, best_at = -np.inf, self.optimizer.flat.clone(), (0, 0)
        for done, (task, rows) in enumerate(self.turns(), 1):
            started = time.perf_counter()
            self.runs[task].update(rows)
            seconds[task] += time.perf_counter() - started
            if done not in scored:
                continue
            if not self.optimizer.flat.isfinite().all():  # no loss shows what the last did
                raise FloatingPointError(f"update {done}: a weight is not finite")
            part = int(np.searchsorted(ends, done)) + 1
            for name, run in self.runs.items():
                point = {"epoch": part, "update": done, run.data.spec.metric: run.select_score()}
                points[name].append(point)
            value = np.mean([p[-1][self.runs[t].data.spec.metric] for t, p in points.items()])
            if value >= best:
                best, best_at = float(value), (part, done)
                best_flat.copy_(self.optimizer.flat)
        self.optimizer.flat.copy_(best_flat)
        return {
            task: run.record(points[task], best_at, seconds[task])
            for task, run in self.runs.items()
        }
