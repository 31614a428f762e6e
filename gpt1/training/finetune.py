"""Fine-tune one model on one task: one (arch, task, aux, n_transfer, seed) of the grid.

Source: paper 3.2 and 4.1 (three epochs, batch 32, linear decay, 0.2 % warm-up, lambda 0.5); the
authors' code for the rest: fresh special tokens and classifier, clipping, shuffling, dropping the
last partial batch, scoring after each epoch (and at updates 1000, 2000, 4000, ... of the first),
keeping the best-scoring weights (of equals the latest; theirs keeps the first). `gpt1.cells` runs
many of these in one process.
"""

import time
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from gpt1.cell import NTransfer
from gpt1.model.classifier import Classifier, TaskModel, classification_loss
from gpt1.settings import FinetuneSettings
from gpt1.special_tokens import SpecialTokens
from gpt1.streams import torch_seed
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
CHUNK = 4096  # rows of an unlabelled split that are made into sequences at once

Scores = dict[str, dict[str, float]]  # by split (or split_group) and metric, 0 to 100


@dataclass(frozen=True)
class RunRecord:
    """The result of one fine-tuning run; losses in nats, times in seconds.

    `loss_*` are total losses and `clf_loss_*` classification losses, means over the first and the
    last updates; `label_entropy` is the classification loss of chance. `rows` and `truncated` (a
    share) are by split, `copied` names the transferred tensors, `constant` says whether a reported
    split got one prediction for all rows.
    """

    seed: int
    scores: Scores
    rows: dict[str, int]
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
    train_tokens: int
    train_seconds: float
    peak_mb: float
    cpu: str
    copied: list[str]
    constant: bool
    truncated: dict[str, float]
    predictions: dict[str, list[float]]  # of the reported splits, in the examples' order


class FineTuning:
    """A language model with a classifier on one task, from its initial weights to its scores.

    After construction `model` holds the weights of step 0 and `copied` the names of the transferred
    tensors; nothing has been trained yet. `history` holds each update's total and classification
    loss, `tokens` the number of real tokens that training has seen.
    """

    def __init__(
        self,
        data: TaskData,
        checkpoint: Checkpoint,
        settings: FinetuneSettings,
        n_transfer: NTransfer,
        seed: int,
        runtime: Runtime,
    ):
        method = settings.method
        if method.train_share < 1:
            data = data.share(method.train_share, seed, settings.eval_train)
        self.data, self.settings, self.seed, self.runtime = data, settings, seed, runtime
        spec, facts, dropout = data.spec, checkpoint.facts, settings.dropout
        first_values = torch_seed("first values of fine-tuning", seed)
        generator = torch.Generator().manual_seed(first_values)
        own, skip_pads = settings.model, runtime.skip_pads
        language_model = build(facts.arch, own, facts.n_vocab, dropout, skip_pads)
        language_model.reset(generator)
        classifier = Classifier(spec.family, language_model.n_hidden, spec.n_labels, dropout.clf)
        classifier.reset(generator, own.init_std)
        self.copied = language_model.transfer(checkpoint.tensors, n_transfer, method)
        if method.read_layer != "top":
            language_model.cut(method.read_layer)
        model = TaskModel(language_model, classifier, runtime.shared_prefix)
        self.model = model.to(runtime.device)
        if runtime.compile:
            language_model.compile_trunk()
        n = len(data.splits["train"])
        self.batch = min(settings.batch, n)
        self.updates = n // self.batch * settings.epochs
        shape = SCHEDULES[method.schedule]
        schedule = Schedule(settings.lr, shape, settings.warmup, self.updates)
        language_model.requires_grad_(not method.frozen)
        trained = (p for p in self.model.parameters() if p.requires_grad)
        self.optimizer = Adam(trained, schedule, settings.optimizer, method.decay)
        self.layer_rates = LayerRates(self.model, method)
        self.tokens = 0
        self.history: list[tuple[float, float]] = []
        self._train_mode()

    def _train_mode(self) -> None:
        """Dropout on, in a frozen language model off."""
        self.model.train()
        if self.settings.method.frozen:
            self.model.language_model.eval()

    def targets(self, labels: np.ndarray) -> Tensor:
        """Class numbers `[B]`, or for STS-B six soft labels `[B, 6]`, on the device."""
        if self.data.spec.soft_labels:
            return torch.from_numpy(soft_labels(labels)).to(self.model.language_model.embed)
        return torch.from_numpy(np.asarray(labels, dtype=np.int64)).to(self.runtime.device)

    def inputs(self, rows: np.ndarray, split: Sequences) -> tuple[Tensor, Tensor]:
        """Ids `[B, S, time]` and lengths `[B, S]` of some rows, on the CPU."""
        ids, lengths = split.take(rows)
        return torch.from_numpy(ids), torch.from_numpy(lengths)

    def losses(self, rows: np.ndarray, split: Sequences) -> tuple[Tensor, Tensor]:
        """Total loss (paper eq. 5) and classification loss of some rows, in nats."""
        lm_coef = self.settings.lm_coef
        with self.runtime.autocast():
            logits, lm = self.model(*self.inputs(rows, split), lm_loss=lm_coef > 0)
            clf = classification_loss(logits, self.targets(split.labels[rows]))
            return (clf if lm is None else clf + lm_coef * lm), clf

    def update(self, rows: np.ndarray) -> None:
        """One optimizer update on these training rows.

        Raises FloatingPointError if the loss is not finite.
        """
        if not self.model.training:  # after scoring; a walk over all modules each time
            self._train_mode()
        if self.layer_rates.needed:
            self.layer_rates.apply(self.optimizer)
        seed_step("dropout of fine-tuning", self.seed, self.optimizer.updates)
        self.optimizer.zero_grad()
        train = self.data.splits["train"]
        sums = torch.zeros(2, device=self.runtime.device)
        size = self.runtime.micro_batch or len(rows)
        for micro_batch in np.split(rows, range(size, len(rows), size)):
            total, clf = self.losses(micro_batch, train)
            share = len(micro_batch) / len(rows)
            (total * share).backward()
            sums += torch.stack([total.detach(), clf.detach()]).float() * share
        self.optimizer.step()
        self.tokens += int(train.lengths[rows].sum())
        total_loss, clf_loss = sums.tolist()
        self.history.append((total_loss, clf_loss))
        if not np.isfinite(total_loss):
            raise FloatingPointError(f"update {self.optimizer.updates}: the loss is {total_loss}")

    def predict(self, split: Sequences) -> np.ndarray:
        """Predictions `[n]` for a split: class or choice numbers, or expected scores (STS-B)."""
        return predict(self.model, self.data.spec, split, self.runtime)[0]

    def predict_unlabelled(self, split: EncodedSplit) -> np.ndarray:
        """Predictions `[n]` for a split of any size, whose sequences may not fit in memory."""
        model = self.model.language_model
        special, family = SpecialTokens.after(model.n_vocab), self.data.spec.family
        chunks = np.split(np.arange(len(split)), range(CHUNK, len(split), CHUNK))
        built = (batching.build(family, split.take(c), special, model.n_ctx) for c in chunks)
        return np.concatenate([self.predict(sequences) for sequences in built])

    def select_score(self) -> float:
        """The main metric on the split that selects the best weights."""
        spec, select = self.data.spec, self.data.splits["select"]
        return score(spec, self.predict(select), select.labels)[spec.metric]

    def train(self) -> RunRecord:
        """Train, restore the weights that scored best on `select`, score every split.

        Raises FloatingPointError if a loss is not finite, or weights that are to be scored.
        """
        self.runtime.reset_peak()
        select_by_epoch: list[dict[str, float]] = []
        best, best_flat, best_at = -np.inf, self.optimizer.flat.clone(), (0, 0)
        n, seconds = len(self.data.splits["train"]), 0.0
        for epoch in range(self.settings.epochs):
            batches = list(batching.epoch(n, self.batch, self.seed, epoch))
            for i, rows in enumerate(batches):
                started = time.perf_counter()
                self.update(rows)
                seconds += time.perf_counter() - started
                done = self.optimizer.updates
                last = i == len(batches) - 1
                if not last and not (epoch == 0 and done in FIRST_EPOCH_EVALS):
                    continue
                if not self.optimizer.flat.isfinite().all():  # no loss shows what the last did
                    raise FloatingPointError(f"update {done}: a weight is not finite")
                value = self.select_score()
                point = {"epoch": epoch + 1, "update": done, self.data.spec.metric: value}
                select_by_epoch.append(point)
                if value >= best:  # a select split of few rows has many ties
                    best, best_at = value, (epoch + 1, done)
                    best_flat.copy_(self.optimizer.flat)
        self.optimizer.flat.copy_(best_flat)
        return self.record(select_by_epoch, best_at, seconds)

    def record(
        self, select_by_epoch: list[dict[str, float]], best_at: tuple[int, int], seconds: float
    ) -> RunRecord:
        """What the run has come to; its present weights score every split."""
        scores: Scores = {}
        rows, kept, constant = {}, {}, False
        for name, split in self.data.splits.items():
            if name == "train":
                continue
            predictions, shown = self.predict(split), name.removesuffix("_eval")
            scores |= score_split(self.data.spec, predictions, split.labels, split.groups, shown)
            rows[shown] = len(split)
            if name not in ("train_eval", "select"):
                constant |= float(np.ptp(predictions)) < 1e-6
                kept[name] = predictions.tolist()
        k = max(1, min(10, len(self.history) // 4))
        start, end = (np.mean(part, axis=0) for part in (self.history[:k], self.history[-k:]))
        return RunRecord(
            seed=self.seed,
            scores=scores,
            rows=rows,
            select_by_epoch=select_by_epoch,
            best_epoch=best_at[0],
            best_update=best_at[1],
            loss_start=float(start[0]),
            loss_end=float(end[0]),
            clf_loss_start=float(start[1]),
            clf_loss_end=float(end[1]),
            label_entropy=self.data.label_entropy,
            steps=self.optimizer.updates,
            train_rows=self.data.train_rows,
            train_tokens=self.tokens,
            train_seconds=round(seconds, 4),
            peak_mb=round(self.runtime.peak_mb(), 1),
            cpu=cpu(),
            copied=self.copied,
            constant=constant,
            truncated={s: d.truncated for s, d in self.data.splits.items() if s != "train_eval"},
            predictions=kept,
        )
