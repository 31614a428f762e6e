"""A run: fine-tunes one language model on one task or several, from first values to scores.

Source: paper 3.2 and 4.1 (three epochs, batch 32, linear decay, 0.2 % warm-up, lambda 0.5); the
authors' code for the rest: fresh special tokens and classifier, clipping, shuffling, dropping the
last partial batch, scoring after each epoch (and at updates 1000, 2000, 4000, ... of the first),
keeping the best-scoring weights (the latest of equals, where theirs keeps the first).

Each task has a head: its rows and a classifier of its own on the shared language model. The paper
leaves training on several tasks to later work ("our model will benefit from multi-task training",
4.2). Here each batch is of one task, and every task keeps the batches of a run of its own, in their
order; the order of the tasks' turns is random, with one turn for each batch (as in MT-DNN, Liu et
al. 2019, arXiv:1901.11504). So a row is seen as often as in a run of its task alone, with the
same weight of the auxiliary loss, and a head starts from the same values. While other tasks have
their turns, a classifier has no gradient, but its moments are still updated and its weights decay.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from gpt1.cell import NTransfer
from gpt1.model.classifier import Classifier, TaskModel, classification_loss
from gpt1.settings import FinetuneSettings
from gpt1.special_tokens import SpecialTokens
from gpt1.streams import stream, torch_seed
from gpt1.training import batching
from gpt1.training.batching import Sequences
from gpt1.training.encoded import EncodedSplit
from gpt1.training.inference import predict
from gpt1.training.layer_rates import LayerRates
from gpt1.training.optim import SCHEDULES, Adam, Schedule
from gpt1.training.runtime import Runtime, cpu, seed_step
from gpt1.training.task_data import TaskData
from gpt1.weights.checkpoint import Checkpoint, build
from tasks.metrics import score, score_split
from tasks.stsb import soft_labels

FIRST_EPOCH_EVALS = {1000 * 2**k for k in range(6)}  # authors' code
CHUNK = 4096  # rows of an unlabelled split that are laid out as sequences at a time

Scores = dict[str, dict[str, float]]  # by split (or split_group) and metric, 0 to 100


@dataclass(frozen=True, kw_only=True)
class Answers:
    """What a model, trained on a task or not, answers on it under one seed.

    `rows` is the number of rows of each split; `predictions` are those for the reported splits, in
    the order of the examples; `constant` says whether any reported split has the same prediction
    for all rows.
    """

    seed: int
    scores: Scores
    rows: dict[str, int]
    constant: bool
    predictions: dict[str, list[float]]
    train_tokens: int = 0
    train_seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class RunRecord(Answers):
    """The result of a run on one task; losses in nats, times in seconds.

    `loss_*` are total losses and `clf_loss_*` classification losses, means over the first and the
    last updates; `label_entropy` is the least classification loss of a constant prediction.
    `truncated` is, by split, the share of examples that lost tokens; `copied` names the transferred
    tensors.
    """

    select_by_epoch: list[dict[str, float]]
    best_epoch: int
    best_update: int
    loss_start: float
    loss_end: float
    clf_loss_start: float
    clf_loss_end: float
    label_entropy: float
    steps: int
    train_rows: int
    peak_mb: float
    cpu: str
    copied: list[str]
    truncated: dict[str, float]


class Head:
    """One task of a run: its rows, and its classifier on the language model of the run.

    `history` holds the total and the classification loss of each of its updates, `tokens` the
    number of tokens trained on, pads left out, and `seconds` the time that its updates took.
    """

    def __init__(
        self, data: TaskData, settings: FinetuneSettings, model: TaskModel, runtime: Runtime
    ):
        self.data, self.settings, self.model, self.runtime = data, settings, model, runtime
        n = len(data.splits["train"])
        self.batch = min(settings.batch, n)
        self.updates = n // self.batch * settings.epochs
        self.tokens, self.seconds = 0, 0.0
        self.history: list[tuple[float, float]] = []
        self.select_by_epoch: list[dict[str, float]] = []

    def batches(self, seed: int) -> list[np.ndarray]:
        """The rows of each of its updates, over all epochs."""
        n, epochs = len(self.data.splits["train"]), range(self.settings.epochs)
        return [rows for e in epochs for rows in batching.epoch(n, self.batch, seed, e)]

    def train_mode(self) -> None:
        """Dropout on, except in a frozen language model."""
        self.model.train()
        if self.settings.method.frozen:
            self.model.language_model.eval()

    def targets(self, labels: np.ndarray) -> Tensor:
        """Class numbers `[B]`, or for STS-B six soft labels `[B, 6]`, on the device."""
        if self.data.spec.soft_labels:
            return torch.from_numpy(soft_labels(labels)).to(self.model.language_model.embed)
        return torch.from_numpy(np.asarray(labels, dtype=np.int64)).to(self.runtime.device)

    def losses(self, rows: np.ndarray, split: Sequences) -> tuple[Tensor, Tensor]:
        """Total loss (paper eq. 5) and classification loss of some rows, in nats."""
        lm_coef = self.settings.lm_coef
        ids, lengths = map(torch.from_numpy, split.take(rows))
        with self.runtime.autocast():
            logits, lm = self.model(ids, lengths, with_lm_loss=lm_coef > 0)
            clf = classification_loss(logits, self.targets(split.labels[rows]))
            return (clf if lm is None else clf + lm_coef * lm), clf

    def predict(self, split: Sequences) -> np.ndarray:
        """Predictions `[n]` for a split: class or choice numbers, or expected scores (STS-B)."""
        return predict(self.model, self.data.spec, split, self.runtime)[0]

    def predict_unlabelled(self, split: EncodedSplit) -> list[float]:
        """Predictions for a split of any size: its sequences are never in memory all at once."""
        model = self.model.language_model
        special, family = SpecialTokens.after(model.n_vocab), self.data.spec.family
        chunks = np.split(np.arange(len(split)), range(CHUNK, len(split), CHUNK))
        built = (batching.build(family, split.take(c), special, model.n_ctx) for c in chunks)
        return [value for sequences in built for value in self.predict(sequences).tolist()]

    def select_score(self) -> float:
        """The main metric on the split that selects the best weights."""
        spec, select = self.data.spec, self.data.splits["select"]
        return score(spec, self.predict(select), select.labels)[spec.metric]

    def record(self, seed: int, copied: list[str], best: tuple[int, int], steps: int) -> RunRecord:
        """The result, with scores of the present weights, those of the `best` epoch and update."""
        scores: Scores = {}
        rows, reported, constant = {}, {}, False
        for name, split in self.data.splits.items():
            if name == "train":
                continue
            predictions, shown = self.predict(split), name.removesuffix("_eval")
            scores |= score_split(self.data.spec, predictions, split.labels, split.groups, shown)
            rows[shown] = len(split)
            if name not in ("train_eval", "select"):
                constant |= float(np.ptp(predictions)) < 1e-6
                reported[name] = predictions.tolist()
        k = max(1, min(10, len(self.history) // 4))
        start, end = (np.mean(part, axis=0) for part in (self.history[:k], self.history[-k:]))
        return RunRecord(
            seed=seed,
            scores=scores,
            rows=rows,
            select_by_epoch=self.select_by_epoch,
            best_epoch=best[0],
            best_update=best[1],
            loss_start=float(start[0]),
            loss_end=float(end[0]),
            clf_loss_start=float(start[1]),
            clf_loss_end=float(end[1]),
            label_entropy=self.data.label_entropy,
            steps=steps,
            train_rows=self.data.train_rows,
            train_tokens=self.tokens,
            train_seconds=round(self.seconds, 4),
            peak_mb=round(self.runtime.peak_mb(), 1),
            cpu=cpu(),
            copied=copied,
            constant=constant,
            truncated={s: d.truncated for s, d in self.data.splits.items() if s != "train_eval"},
            predictions=reported,
        )


class FineTuning:
    """A run: one language model with a head for each of its tasks, and one optimizer.

    `data` and `settings` are keyed by task; all settings share the model, the learning rate, the
    warm-up, the method and the optimizer. After construction the weights are those of step 0, and
    `copied` names the transferred tensors; nothing has been trained yet.
    """

    def __init__(
        self,
        data: Mapping[str, TaskData],
        checkpoint: Checkpoint,
        settings: Mapping[str, FinetuneSettings],
        n_transfer: NTransfer,
        seed: int,
        runtime: Runtime,
    ):
        self.seed, self.runtime = seed, runtime
        own, facts = next(iter(settings.values())), checkpoint.facts
        method, model = own.method, own.model
        first_values = torch_seed("first values of fine-tuning", seed)
        generator = torch.Generator().manual_seed(first_values)
        language_model = build(facts.arch, model, facts.n_vocab, own.dropout, runtime.skip_pads)
        language_model.reset(generator)
        drawn, classifiers = generator.get_state(), {}
        for task, of in data.items():
            spec, rate = of.spec, settings[task].dropout.clf
            classifiers[task] = Classifier(
                spec.family, language_model.n_hidden, spec.n_labels, rate
            )
            generator.set_state(drawn)  # the same values as in a run of this task alone
            classifiers[task].reset(generator, model.init_std)
        self.copied = language_model.transfer(checkpoint.tensors, n_transfer, method)
        if method.read_layer != "top":
            language_model.cut(method.read_layer)
        language_model.requires_grad_(not method.frozen)
        self.heads: dict[str, Head] = {}
        for task, classifier in classifiers.items():
            whole = TaskModel(language_model, classifier, runtime.shared_prefix)
            rows = data[task]
            if method.train_share < 1:
                rows = rows.share(method.train_share, seed, settings[task].eval_train)
            self.heads[task] = Head(rows, settings[task], whole.to(runtime.device), runtime)
        if runtime.compile:
            language_model.compile_trunk()
        self.updates = sum(head.updates for head in self.heads.values())
        schedule = Schedule(own.lr, SCHEDULES[method.schedule], own.warmup, self.updates)
        modules = [language_model, *classifiers.values()]
        trained = [p for module in modules for p in module.parameters() if p.requires_grad]
        self.optimizer = Adam(trained, schedule, own.optimizer, method.decay)
        self.layer_rates = LayerRates(language_model, classifiers.values(), method)
        for head in self.heads.values():
            head.train_mode()

    def turns(self) -> list[tuple[Head, np.ndarray]]:
        """The head and the rows of every update, a function of the seed."""
        batches = [(head, iter(head.batches(self.seed))) for head in self.heads.values()]
        turns = [own for own in batches for _ in range(own[0].updates)]
        order = stream("order of several tasks", self.seed).permutation(len(turns))
        return [(turns[i][0], next(turns[i][1])) for i in order]

    def update(self, head: Head, rows: np.ndarray) -> None:
        """One optimizer update on these training rows of a head.

        Raises FloatingPointError if the loss is not finite.
        """
        if not head.model.training:  # as after scoring; not each time: it visits all modules
            head.train_mode()
        if self.layer_rates.needed:
            self.layer_rates.apply(self.optimizer)
        seed_step("dropout of fine-tuning", self.seed, self.optimizer.updates)
        self.optimizer.zero_grad()
        train = head.data.splits["train"]
        sums = torch.zeros(2, device=self.runtime.device)
        size = self.runtime.micro_batch or len(rows)
        for micro_batch in np.split(rows, range(size, len(rows), size)):
            total, clf = head.losses(micro_batch, train)
            share = len(micro_batch) / len(rows)
            (total * share).backward()
            sums += torch.stack([total.detach(), clf.detach()]).float() * share
        self.optimizer.step()
        head.tokens += int(train.lengths[rows].sum())
        total_loss, clf_loss = sums.tolist()
        head.history.append((total_loss, clf_loss))
        if not np.isfinite(total_loss):
            raise FloatingPointError(f"update {self.optimizer.updates}: the loss is {total_loss}")

    def train(self) -> dict[str, RunRecord]:
        """Train, restore the weights that scored best on `select`, score every split of each task.

        `select` is scored after each epoch and within the first. With several tasks, epochs are
        equal parts of training, as many as the task with the most epochs has, and the mean of the
        tasks' scores decides. Raises FloatingPointError if a loss, or a weight to be scored, is not
        finite.
        """
        self.runtime.reset_peak()
        parts = max(head.settings.epochs for head in self.heads.values())
        ends = [round(self.updates * part / parts) for part in range(1, parts + 1)]
        scored = {*ends, *(done for done in FIRST_EPOCH_EVALS if done < ends[0])}
        best, best_flat, best_at = -np.inf, self.optimizer.flat.clone(), (0, 0)
        for done, (head, rows) in enumerate(self.turns(), 1):
            started = time.perf_counter()
            self.update(head, rows)
            head.seconds += time.perf_counter() - started
            if done not in scored:
                continue
            if not self.optimizer.flat.isfinite().all():  # no loss has been taken since this update
                raise FloatingPointError(f"update {done}: a weight is not finite")
            part = int(np.searchsorted(ends, done)) + 1
            value = self._score(part, done)
            if value >= best:  # a select split of few rows has many ties
                best, best_at = value, (part, done)
                best_flat.copy_(self.optimizer.flat)
        self.optimizer.flat.copy_(best_flat)
        steps = self.optimizer.updates
        return {
            task: head.record(self.seed, self.copied, best_at, steps)
            for task, head in self.heads.items()
        }

    def _score(self, part: int, done: int) -> float:
        """The mean of the tasks' `select` scores; adds each to `select_by_epoch`."""
        values = []
        for head in self.heads.values():
            values.append(head.select_score())
            point = {"epoch": part, "update": done, head.data.spec.metric: values[-1]}
            head.select_by_epoch.append(point)
        return float(np.mean(values))
