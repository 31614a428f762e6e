"""A fine-tuning run: one language model on one task, from initial weights to scores.

Source: paper 3.2 and 4.1 (three epochs, batch 32, linear decay, 0.2 % warm-up, lambda 0.5); the
authors' code for the rest: fresh special tokens and classifier, clipping, shuffling, dropping the
last partial batch, scoring after each epoch (and at updates 1000, 2000, 4000, ... of the first),
keeping the best-scoring weights (the latest in a tie, where theirs keeps the first).
"""

import time
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gpt1.data import (
    EncodedSplit,
    Sequences,
    build_sequences,
    by_length,
    epoch_batches,
    sample,
)
from gpt1.model.classifier import Classifier, TaskModel, classification_loss
from gpt1.model.layout import computed
from gpt1.records import RunRecord
from gpt1.settings import CellSettings
from gpt1.streams import drawn_rows, torch_seed
from gpt1.text.tokens import SpecialTokens
from gpt1.training.optim import Adam, Schedule, warmup_linear
from gpt1.training.runtime import Runtime, cpu, seed_step
from gpt1.weights.checkpoint import Checkpoint, build
from tasks.common.records import Scores
from tasks.metrics import expected_score, score, score_split, soft_labels
from tasks.spec import TaskSpec

FIRST_EPOCH_EVALS = {1000 * 2**k for k in range(6)}  # authors' code
CHUNK = 4096  # rows that `answer` makes into sequences at a time

Answers = tuple[np.ndarray, np.ndarray]  # predictions `[n]`, probabilities `[n, classes]`


def label_entropy(spec: TaskSpec, labels: np.ndarray) -> float:
    """Entropy in nats of training labels `[n]`; for STS-B, of their mean soft label.

    No constant prediction has a lower classification loss.
    """
    totals = soft_labels(labels).sum(0) if spec.soft_labels else np.bincount(labels)
    shares = totals[totals > 0] / len(labels)
    return float(-(shares * np.log(shares)).sum())


def _chosen(split: Sequences, rows: np.ndarray) -> Sequences:
    arrays = {name: getattr(split, name)[rows] for name in ("ids", "lengths", "labels")}
    return replace(split, **arrays, groups=[split.groups[i] for i in rows])


class FineTuning:
    """A run: a language model with a classifier, the task's rows, and an optimizer.

    A run on a share of the training rows repeats them up to the number of all, so that an epoch has
    as many updates: shares differ in how many distinct rows are seen, not in how long the model is
    trained. The train score is of a sample of the distinct rows, `train_eval`.

    After construction the weights are those of step 0, and `copied` names the transferred tensors;
    nothing has been trained yet. `history` holds the total and the classification loss of each
    update, `tokens` the number of tokens trained on, without pads, and `seconds` the time that the
    updates took. `events`, if set, receives losses and scores.
    """

    def __init__(
        self,
        spec: TaskSpec,
        splits: dict[str, Sequences],
        checkpoint: Checkpoint,
        settings: CellSettings,
        seed: int,
        runtime: Runtime,
    ):
        method, facts = settings.method, checkpoint.facts
        train = splits["train"]
        drawn = np.arange(len(train))
        if method.train_share < 1:
            drawn = drawn_rows(len(train), method.train_share, seed)
            repeated = _chosen(train, np.sort(np.resize(drawn, len(train))))
            splits = {**splits, "train": repeated}
        self.train_rows = len(drawn)
        self.train_eval = _chosen(train, np.sort(drawn)[sample(len(drawn), settings.eval_train)])
        self.spec, self.splits = spec, splits
        self.settings, self.seed, self.runtime = settings, seed, runtime
        model, dropout = settings.model, settings.dropout
        generator = torch.Generator().manual_seed(torch_seed("first values of fine-tuning", seed))
        language_model = build(facts.arch, model, facts.n_vocab, dropout, runtime.skip_pads)
        language_model.reset(generator)
        n_hidden = language_model.n_hidden
        classifier = Classifier(spec.family, n_hidden, spec.n_labels, dropout.clf)
        classifier.reset(generator, model.init_std)
        self.copied = language_model.transfer(checkpoint.tensors, settings.n_transfer)
        if method.read_layer != "top":
            language_model.cut(method.read_layer)
        language_model.requires_grad_(not method.frozen)
        whole = TaskModel(language_model, classifier, runtime.shared_prefix)
        self.model = whole.to(runtime.device)
        if runtime.compile:
            language_model.compile_trunk()
        self.batch = min(settings.batch, len(train))
        self.updates = len(train) // self.batch * settings.epochs
        schedule = Schedule(settings.lr, warmup_linear, settings.warmup, self.updates)
        trained = [p for p in self.model.parameters() if p.requires_grad]
        self.optimizer = Adam(trained, schedule, settings.optimizer)
        self.tokens, self.seconds = 0, 0.0
        self.history: list[tuple[float, float]] = []
        self.select_by_epoch: list[dict[str, float]] = []
        self.events: Any = None  # TensorBoard's writer
        self.train_mode()

    def train_mode(self) -> None:
        """Turn dropout on, except in a frozen language model."""
        self.model.train()
        if self.settings.method.frozen:
            self.model.language_model.eval()

    def targets(self, labels: np.ndarray) -> Tensor:
        """Class numbers `[B]`, or for STS-B six soft labels `[B, 6]`, on the device."""
        if self.spec.soft_labels:
            return torch.from_numpy(soft_labels(labels)).to(self.model.language_model.embed)
        return torch.from_numpy(np.asarray(labels, dtype=np.int64)).to(self.runtime.device)

    def losses(self, rows: np.ndarray, split: Sequences) -> tuple[Tensor, Tensor]:
        """Total loss (paper eq. 5) and classification loss of some rows, in nats."""
        lm_coef = self.settings.lm_coef
        with self.runtime.autocast():
            logits, lm = self.model(*split.take(rows), with_lm_loss=lm_coef > 0)
            clf = classification_loss(logits, self.targets(split.labels[rows]))
            return (clf if lm is None else clf + lm_coef * lm), clf

    def show(self, **values: float) -> None:
        """Write values at the current update to TensorBoard, if `events` is set."""
        for name in values if self.events else ():
            self.events.add_scalar(name, values[name], self.optimizer.updates)

    def predict(self, split: Sequences) -> Answers:
        """Class or choice numbers, or expected scores (STS-B), and probabilities."""
        return predict(self.model, self.spec, split, self.runtime)

    def select_score(self, predictions: np.ndarray) -> float:
        """The main metric of predictions for `select`, the split that selects the best weights."""
        labels = self.splits["select"].labels
        return score(self.spec, predictions, labels)[self.spec.metric]

    def record(self, best_epoch: int, best_update: int, selected: Answers) -> RunRecord:
        """The result, with scores of the current weights, which are the best ones.

        `selected` holds their answers for the `select` split.
        """
        scores: Scores = {}
        rows, reported, probabilities, constant = {}, {}, {}, False
        for name, split in self.splits.items():
            scored = self.train_eval if name == "train" else split
            predictions, shares = selected if name == "select" else self.predict(scored)
            scores |= score_split(self.spec, predictions, scored.labels, scored.groups, name)
            rows[name] = len(scored)
            if name not in ("train", "select"):
                constant |= float(np.ptp(predictions)) < 1e-6
                reported[name], probabilities[name] = listed(predictions, shares)
        k = max(1, min(10, len(self.history) // 4))
        start, end = (np.mean(part, axis=0) for part in (self.history[:k], self.history[-k:]))
        return RunRecord(
            seed=self.seed,
            scores=scores,
            rows=rows,
            select_by_epoch=self.select_by_epoch,
            best_epoch=best_epoch,
            best_update=best_update,
            loss_start=float(start[0]),
            loss_end=float(end[0]),
            clf_loss_start=float(start[1]),
            clf_loss_end=float(end[1]),
            label_entropy=label_entropy(self.spec, self.splits["train"].labels),
            steps=self.optimizer.updates,
            train_rows=self.train_rows,
            train_tokens=self.tokens,
            train_seconds=round(self.seconds, 4),
            peak_mb=round(self.runtime.peak_mb(), 1),
            cpu=cpu(),
            copied=self.copied,
            constant=constant,
            truncated={name: split.truncated for name, split in self.splits.items()},
            predictions=reported,
            probabilities=probabilities,
        )

    def update(self, rows: np.ndarray) -> None:
        """One optimizer update on these training rows.

        Raises FloatingPointError if the loss is not finite.
        """
        if not self.model.training:  # after scoring; not every time, since it visits all modules
            self.train_mode()
        seed_step("dropout of fine-tuning", self.seed, self.optimizer.updates)
        self.optimizer.zero_grad()
        train = self.splits["train"]
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
        self.show(loss=total_loss, clf_loss=clf_loss)
        if not np.isfinite(total_loss):
            raise FloatingPointError(f"update {self.optimizer.updates}: the loss is {total_loss}")

    def train(self) -> RunRecord:
        """Train, restore the weights that scored best on `select`, and score every split.

        `select` is scored after each epoch and at FIRST_EPOCH_EVALS within the first. Raises
        FloatingPointError if a loss, or a weight to be scored, is not finite.
        """
        self.runtime.reset_peak()
        per_epoch = self.updates // self.settings.epochs
        best, best_flat, best_at, done = -np.inf, self.optimizer.flat.clone(), (0, 0), 0
        selected = np.empty(0), np.empty((0, 0))
        for epoch in range(self.settings.epochs):
            for rows in epoch_batches(len(self.splits["train"]), self.batch, self.seed, epoch):
                started = time.perf_counter()
                self.update(rows)
                self.seconds += time.perf_counter() - started
                done += 1
                is_within_first = done < per_epoch and done in FIRST_EPOCH_EVALS
                if done % per_epoch and not is_within_first:
                    continue
                if not self.optimizer.flat.isfinite().all():  # the loss was taken before the update
                    raise FloatingPointError(f"update {done}: a weight is not finite")
                # The last digits are noise: with two rows, every correlation is 100 or -100.
                answers = self.predict(self.splits["select"])
                value = round(self.select_score(answers[0]), 9)
                self.show(**{f"select_{self.spec.metric}": value})
                point = {"epoch": epoch + 1, "update": done, self.spec.metric: value}
                self.select_by_epoch.append(point)
                if value >= best:  # a select split of few rows has many ties
                    best, best_at, selected = value, (epoch + 1, done), answers
                    best_flat.copy_(self.optimizer.flat)
        self.optimizer.flat.copy_(best_flat)
        return self.record(*best_at, selected)


def listed(predictions: np.ndarray, probabilities: np.ndarray) -> tuple[list, list]:
    """Answers as lists for JSON, with probabilities to six decimals."""
    return predictions.tolist(), probabilities.astype(float).round(6).tolist()


def answer(model: TaskModel, spec: TaskSpec, split: EncodedSplit, runtime: Runtime) -> Answers:
    """Answers for a split of any size: its sequences are never in memory all at once."""
    special, n_ctx = SpecialTokens.after(model.language_model.n_vocab), model.language_model.n_ctx
    chunks = np.split(np.arange(len(split)), range(CHUNK, len(split), CHUNK))
    built = (build_sequences(spec.family, split.take(c), special, n_ctx) for c in chunks)
    predictions, shares = zip(*(predict(model, spec, of, runtime) for of in built), strict=True)
    return np.concatenate(predictions), np.concatenate(shares)


@torch.no_grad()
def predict(model: TaskModel, spec: TaskSpec, split: Sequences, runtime: Runtime) -> Answers:
    """Predictions `[n]` of a split and the probabilities `[n, classes]` behind them.

    A prediction is the number of a class or a choice, or the expected score (STS-B). Raises
    InputError if memory runs out.
    """
    model.eval()
    tokens = split.lengths.max(1) * split.lengths.shape[1]
    if model.shared_prefix:
        tokens = computed(split.ids, split.lengths)
    batches = list(by_length(tokens, runtime.scoring_tokens))
    predictions, probabilities = [], []
    for rows in batches:
        with runtime.scoring(), runtime.autocast():
            logits, _ = model(*split.take(rows))
        logits = logits.float()
        shares = logits.softmax(-1).cpu().numpy()
        probabilities.append(shares)
        classes = logits.argmax(-1).cpu().numpy()
        predictions.append(expected_score(shares) if spec.soft_labels else classes)
    order = np.argsort(np.concatenate(batches))
    return np.concatenate(predictions)[order], np.concatenate(probabilities)[order]
