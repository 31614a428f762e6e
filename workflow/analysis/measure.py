"""How long the programs of a config take on this machine: a few updates of each kind, timed.

On a CPU the seconds are those of the processor, which other programs' load hardly changes, so they
are core-seconds; on a GPU they pass on the clock. Rows are drawn, of the lengths that are expected.
"""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from gpt1.cell import Arch, Aux
from gpt1.settings import ModelSettings
from gpt1.special_tokens import SpecialTokens
from gpt1.training import batching
from gpt1.training.encoded import EncodedSplit
from gpt1.training.finetuning import FineTuning
from gpt1.training.optim import Adam, Schedule, warmup_cosine
from gpt1.training.runtime import Runtime
from gpt1.training.task_data import TaskData
from gpt1.weights.checkpoint import Checkpoint, StoredFacts, build
from tasks import task as task_named
from workflow.analysis import flops
from workflow.analysis.workload import CHOICES, TaskSize
from workflow.configuration.model import Config

MOST_FLOPS = 30e9  # of a timed update on a CPU: of a larger one a part of the batch is timed
SECONDS, LEAST, MOST = 0.25, 2, 20  # for timing one kind of update, and the updates in it
SCORED = 100  # rows
SHORT_TEXT = {"race": (12, 8), "story_cloze": (0, 10)}  # tokens of question and choice


@dataclass(frozen=True)
class Pace:
    """Seconds of one update of a whole batch, and of predicting one row."""

    update: float
    row: float


class Clock:
    """Seconds of the processor, or of the wall for a GPU, which is waited for."""

    def __init__(self, runtime: Runtime):
        self.is_gpu = runtime.device.startswith("cuda")

    def now(self) -> float:
        """Seconds from somewhere."""
        if not self.is_gpu:
            return time.process_time()
        torch.cuda.synchronize()
        return time.perf_counter()

    def median(self, work: Callable[[], object]) -> float:
        """Median seconds of the work, after one to warm up."""
        work()
        seconds: list[float] = []
        while len(seconds) < LEAST or (sum(seconds) < SECONDS and len(seconds) < MOST):
            started = self.now()
            work()
            seconds.append(self.now() - started)
        return statistics.median(seconds)


def part_of(batch: int, tokens: float, model: ModelSettings, n_vocab: int, device: str) -> int:
    """How many rows of `tokens` each are timed in place of the whole batch."""
    if device.startswith("cuda"):
        return batch
    row = tokens * flops.per_token(model, n_vocab, model.n_ctx)
    return max(1, min(batch, int(MOST_FLOPS / row)))


def whole(
    clock: Clock, update: Callable[[], None], optimizer: Adam, rows: int, batch: int
) -> float:
    """Seconds of an update of the whole batch, of which `update` takes so many rows."""
    seconds = clock.median(update)
    if rows == batch:
        return seconds
    step = clock.median(optimizer.step)  # the same for any number of rows
    return max(0.0, seconds - step) * batch / rows + step


def pretraining(config: Config, arch: Arch, n_vocab: int) -> float:
    """Seconds of one update of pre-training."""
    settings = config.pretrain(arch, 0)
    runtime = Runtime(**config.runtime_of("pretrain").model_dump())
    runtime.start()
    clock, own = Clock(runtime), settings.model
    model = build(arch, own, n_vocab, settings.dropout)
    model.reset(torch.Generator().manual_seed(0))
    model.to(runtime.device).train()
    if runtime.compile:
        model.compile_trunk()
    schedule = Schedule(settings.lr, warmup_cosine, 0.0, 10**9)
    optimizer = Adam(model.parameters(), schedule, settings.optimizer)
    rows = part_of(settings.batch, own.n_ctx, own, n_vocab, runtime.device)
    random = np.random.default_rng(0)

    def update() -> None:
        optimizer.zero_grad()
        ids = torch.from_numpy(random.integers(0, n_vocab, (rows, own.n_ctx)))
        for micro_batch in ids.split(runtime.micro_batch or rows):
            with runtime.autocast():
                _, loss = model(micro_batch, with_lm_loss=True)
            (loss * (len(micro_batch) / rows)).backward()
        optimizer.step()

    return whole(clock, update, optimizer, rows, settings.batch)


def fine_tuning(
    config: Config, arch: Arch, task: str, aux: Aux, size: TaskSize, n_vocab: int
) -> Pace:
    """Seconds of one update and of predicting one row of a task."""
    settings = config.finetune(arch, task, aux)
    runtime = Runtime(**config.runtime_of("finetune").model_dump())
    runtime.start()
    own = settings.model
    batch = max(1, min(settings.batch, size.train))
    sequences = CHOICES.get(task, 1)
    rows = part_of(batch, sequences * size.length, own, n_vocab, runtime.device)
    train = drawn(task, size.length, 8 * rows, n_vocab, own.n_ctx)
    scored = drawn(task, size.length, min(SCORED, 8 * rows), n_vocab, own.n_ctx)
    facts = StoredFacts(arch=arch, model=own, tokenizer="", n_vocab=n_vocab, sha256="")
    data = TaskData(task_named(task).spec, {"train": train})
    settings = settings.model_copy(update={"batch": rows, "epochs": 10**6})
    run = FineTuning({task: data}, Checkpoint({}, facts), {task: settings}, "none", 0, runtime)
    head = run.heads[task]
    batches = batching.epoch(len(train), rows, 0, 0)

    def update() -> None:
        nonlocal batches
        which = next(batches, None)
        if which is None:
            batches = batching.epoch(len(train), rows, 0, 0)
            which = next(batches)
        run.update(head, which)

    clock = Clock(runtime)
    seconds = whole(clock, update, run.optimizer, rows, batch)
    return Pace(seconds, clock.median(lambda: head.predict(scored)) / len(scored))


def drawn(task: str, length: float, n: int, n_vocab: int, n_ctx: int) -> batching.Sequences:
    """`n` rows of a task from random tokens, their lengths around the mean."""
    random, spec = np.random.default_rng(0), task_named(task).spec

    def text(mean: float) -> np.ndarray:
        return random.integers(0, n_vocab, max(1, round(mean * random.uniform(0.6, 1.4))))

    first, second, choices = [], [], []
    for _ in range(n):
        if spec.family == "multiple_choice":
            question, choice = SHORT_TEXT[task]
            share = min(1.0, length / 2 / (question + choice))  # of small worlds
            first.append(text(length - 3 - share * (question + choice)))
            second.append(text(share * question) if question else np.empty(0, int))
            choices.append([text(share * choice) for _ in range(CHOICES[task])])
        elif spec.family == "classification":
            first.append(text(length - 2))
            second.append(np.empty(0, int))
            choices.append([])
        else:
            first.append(text((length - 3) / 2))
            second.append(text((length - 3) / 2))
            choices.append([])
    labels = random.integers(0, CHOICES.get(task, spec.n_labels), n)
    names = [""] * n
    split = EncodedSplit(
        names, names, labels * (1.0 if spec.soft_labels else 1), first, second, choices
    )
    return batching.build(spec.family, split, SpecialTokens.after(n_vocab), n_ctx)


def start() -> float:
    """Core-seconds that a process takes to start."""
    code = "import gpt1.finetune, time; print(time.process_time())"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(said.stdout)
