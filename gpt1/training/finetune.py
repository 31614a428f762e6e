"""Fine-tune one model on one task: one (arch, task, aux, n_transfer, seed) of the sweep.

Source: paper 3.2 and 4.1 (three epochs, batch 32, linear decay, 0.2 % warm-up, lambda 0.5); the
authors' code for the rest: fresh special rows and classifier, clipping, shuffling, the last
partial batch dropped, scoring after each epoch (and at updates 1000, 2000, 4000, ... of the first),
the best scored weights kept. `gpt1.cells` runs many of these in one process.
"""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gpt1.model.classifier import Classifier, classify_states, losses
from gpt1.training import batching
from gpt1.training.batching import Sequences, Special
from gpt1.training.encoded import EncodedSplit, EncodedTask
from gpt1.training.optim import Adam, warmup_linear
from gpt1.training.runtime import Runtime, seed_step
from gpt1.weights.checkpoint import build
from tasks.common.errors import InputError
from tasks.metrics import score_split
from tasks.spec import Kind
from tasks.stsb import expected_score, soft_labels

FIRST_EPOCH_EVALS = {1000 * 2**k for k in range(6)}  # authors' code
CHUNK = 4096  # rows of a split without labels that are made into sequences at once


@dataclass(frozen=True)
class TaskData:
    """A task's splits as sequences, with the rows' groups (RACE's middle and high)."""

    task: Kind
    splits: dict[str, Sequences]
    groups: dict[str, list[str]]

    @classmethod
    def of(cls, encoded: EncodedTask, n_vocab: int, n_ctx: int, eval_train: int) -> "TaskData":
        """Build every split; a sample of `eval_train` training rows is the split `train_eval`."""
        task, special = encoded.kind, Special(n_vocab, n_vocab + 1, n_vocab + 2)
        splits = {
            name: batching.build(task.family, split, special, n_ctx)
            for name, split in encoded.splits.items()
        }
        for needed in ("train", "select"):
            if needed not in splits:
                raise InputError(f"{task.name}: no {needed} rows in the encoded task; prepare it")
        groups = {name: split.groups for name, split in encoded.splits.items()}
        train = splits["train"]
        rows = batching.sample(len(train), eval_train)
        splits["train_eval"] = Sequences(
            train.ids[rows], train.lengths[rows], train.labels[rows], train.truncated
        )
        groups["train_eval"] = [groups["train"][i] for i in rows]
        return cls(task, splits, groups)


class FineTuning:
    """A model with a classifier on one task's data, from its initial weights to its scores.

    After construction `model` and `classifier` hold the weights of step 0 and `copied` the names of
    the transferred tensors; nothing has been trained yet.
    """

    def __init__(
        self,
        data: TaskData,
        arch: str,
        n_vocab: int,
        settings: dict[str, Any],
        source: dict[str, Tensor] | None,
        n_transfer: int,
        lm_coef: float,
        seed: int,
        runtime: Runtime,
    ):
        self.data, self.seed, self.lm_coef, self.runtime = data, seed, lm_coef, runtime
        self.options = settings["finetune"]
        task = data.task
        generator = torch.Generator().manual_seed(seed)
        self.model = build(arch, settings["model"], n_vocab)
        self.model.reset(generator, settings["model"]["init_std"])
        self.classifier = Classifier(task.family, self.model.n_hidden, task.n_labels)
        self.classifier.reset(generator, settings["model"]["init_std"])
        self.copied = self.model.transfer(source, n_transfer) if source is not None else []
        for module in (self.model, self.classifier):
            module.to(runtime.device)
        self.model.rates = self.options["dropout"]
        self.forward = runtime.ready(self.model)
        n = len(data.splits["train"])
        self.batch = min(self.options["batch"], n)
        self.updates = n // self.batch * self.options["epochs"]
        self.optimizer = Adam(
            [*self.model.parameters(), *self.classifier.parameters()],
            lr=self.options["lr"],
            schedule=warmup_linear,
            warmup=self.options["warmup"],
            total=self.updates,
            **settings["optimizer"],
        )
        self.tokens = 0  # real tokens that training has seen
        self.history: list[tuple[float, float]] = []  # total and classification loss by update

    def targets(self, labels: np.ndarray) -> Tensor:
        """Class numbers `[B]`, or for STS-B six soft labels `[B, 6]`."""
        if self.data.task.soft_labels:
            return torch.from_numpy(soft_labels(labels)).to(self.model.embed)
        return torch.from_numpy(np.asarray(labels, dtype=np.int64)).to(self.runtime.device)

    def tensors(self, rows: np.ndarray, split: Sequences) -> tuple[Tensor, Tensor, Tensor]:
        """Ids `[B, S, T]`, lengths `[B, S]` and targets of some rows, on the device."""
        return *self.inputs(rows, split), self.targets(split.labels[rows])

    def inputs(self, rows: np.ndarray, split: Sequences) -> tuple[Tensor, Tensor]:
        """Ids `[B, S, T]` and lengths `[B, S]` of some rows, which need no label."""
        ids, lengths = split.take(rows)
        device = self.runtime.device
        return torch.from_numpy(ids).to(device), torch.from_numpy(lengths).to(device)

    def update(self, rows: np.ndarray) -> None:
        """One optimizer update on the training rows `rows`."""
        self.model.train()
        seed_step(self.seed, self.optimizer.updates)
        self.optimizer.zero_grad()
        train = self.data.splits["train"]
        pdrop = self.options["dropout"]["clf"]
        sums = torch.zeros(2, device=self.runtime.device)
        size = self.runtime.micro_batch or len(rows)
        for part in np.split(rows, range(size, len(rows), size)):
            batch = self.tensors(part, train)
            with self.runtime.autocast():
                total, clf, _ = losses(
                    self.model,
                    self.classifier,
                    batch,
                    self.lm_coef,
                    pdrop,
                    self.forward,
                    self.runtime.skip_pads,
                )
            share = len(part) / len(rows)
            (total * share).backward()
            sums += torch.stack([total.detach(), clf.detach()]).float() * share
        self.optimizer.step()
        self.tokens += int(train.lengths[rows].sum())
        self.history.append(tuple(sums.tolist()))
        if not np.isfinite(self.history[-1][0]):
            at = self.optimizer.updates
            raise FloatingPointError(f"update {at}: the loss is {self.history[-1][0]}")

    @torch.no_grad()
    def predict(self, split: Sequences) -> np.ndarray:
        """Predictions for a split: class or choice numbers, or expected scores for STS-B."""
        self.model.eval()
        out: np.ndarray | None = None
        for rows in batching.by_length(split):
            ids, lengths = self.inputs(rows, split)
            with self.runtime.autocast():
                we = self.model.step_embedding()
                flat = lengths.flatten()
                hidden = self.forward(
                    ids.flatten(0, 1), we, flat if self.runtime.skip_pads else None
                )
                states = classify_states(hidden, flat).view(*lengths.shape, -1)
                logits = self.classifier(states, 0.0).float()
            if self.data.task.soft_labels:
                values = expected_score(logits.softmax(-1).cpu().numpy())
            else:
                values = logits.argmax(-1).cpu().numpy()
            out = np.empty(len(split), dtype=values.dtype) if out is None else out
            out[rows] = values
        return out

    def predict_texts(self, split: EncodedSplit) -> np.ndarray:
        """Predictions for a split of any size, whose sequences need not fit in memory at once."""
        family, model, found = self.data.task.family, self.model, []
        special = Special(model.start_id, model.delimiter_id, model.classify_id)
        for rows in np.split(np.arange(len(split)), range(CHUNK, len(split), CHUNK)):
            sequences = batching.build(family, split.take(rows), special, model.n_ctx)
            found.append(self.predict(sequences))
        return np.concatenate(found)

    def score(self, name: str) -> dict[str, dict[str, float]]:
        """Scores of a split and of its groups, 0 to 100."""
        split, groups = self.data.splits[name], self.data.groups[name]
        return score_split(self.data.task, self.predict(split), split.labels, groups, name)

    def train(self) -> dict[str, Any]:
        """Train, keep the weights that select best, score every split; the record of the run."""
        self.runtime.reset_peak()
        select, metric = [], self.data.task.metric
        best, best_flat, best_at = -np.inf, self.optimizer.flat.clone(), (0, 0)
        n, seconds = len(self.data.splits["train"]), 0.0
        for number in range(self.options["epochs"]):
            batches = list(batching.epoch(n, self.batch, self.seed, number))
            for i, rows in enumerate(batches):
                started = time.perf_counter()
                self.update(rows)
                seconds += time.perf_counter() - started
                last = i == len(batches) - 1
                if not last and not (number == 0 and self.optimizer.updates in FIRST_EPOCH_EVALS):
                    continue
                value = self.score("select")["select"][metric]
                select.append(
                    {"epoch": number + 1, "update": self.optimizer.updates, metric: value}
                )
                if value > best:
                    best, best_at = value, (number + 1, self.optimizer.updates)
                    best_flat.copy_(self.optimizer.flat)
        self.optimizer.flat.copy_(best_flat)
        return self.record(select, best_at, seconds)

    def record(
        self, select: list[dict[str, Any]], best_at: tuple[int, int], seconds: float
    ) -> dict[str, Any]:
        """What a cell's files keep of this run."""
        scores, rows, kept, constant = {}, {}, {}, False
        for name, split in self.data.splits.items():
            if name == "train":
                continue
            predictions = self.predict(split)
            labels, groups = split.labels, self.data.groups[name]
            found = score_split(self.data.task, predictions, labels, groups, name)
            scores |= {k.replace("train_eval", "train"): v for k, v in found.items()}
            rows[name.replace("train_eval", "train")] = len(split)
            if name not in ("train_eval", "select"):
                constant |= float(np.ptp(predictions)) < 1e-6
                kept[name] = predictions.tolist()
        k = max(1, min(10, len(self.history) // 4))
        start, end = (np.mean(part, axis=0) for part in (self.history[:k], self.history[-k:]))
        return {
            "seed": self.seed,
            "scores": scores,
            "rows": rows,
            "select_by_epoch": select,
            "best_epoch": best_at[0],
            "best_update": best_at[1],
            "loss_start": float(start[0]),
            "loss_end": float(end[0]),
            "clf_loss_start": float(start[1]),
            "clf_loss_end": float(end[1]),
            "steps": self.optimizer.updates,
            "train_rows": len(self.data.splits["train"]),
            "train_tokens": self.tokens,
            "train_seconds": round(seconds, 4),
            "peak_mb": round(self.runtime.peak_mb(), 1),
            "copied": self.copied,
            "constant": constant,
            "predictions": kept,
            "truncated": {s: d.truncated for s, d in self.data.splits.items() if s != "train_eval"},
        }
