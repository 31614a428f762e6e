"""A task's labelled splits as sequences, ready for training."""

from dataclasses import dataclass, replace

import numpy as np

from gpt1.data import batching
from gpt1.data.batching import Sequences
from gpt1.data.encoded import EncodedTask
from gpt1.settings import FinetuneSettings
from gpt1.streams import drawn_rows
from gpt1.text.tokens import SpecialTokens
from tasks.metrics import soft_labels
from tasks.spec import TaskSpec


@dataclass(frozen=True)
class TaskData:
    """A task's labelled splits as sequences.

    `train_eval` is the sample of training rows for the train score. `drawn` is the number of
    distinct training rows if only a share of them is trained on, otherwise None.
    """

    spec: TaskSpec
    splits: dict[str, Sequences]
    drawn: int | None = None

    @classmethod
    def of(cls, encoded: EncodedTask, n_vocab: int, settings: FinetuneSettings) -> "TaskData":
        """Build every labelled split."""
        spec, special = encoded.spec, SpecialTokens.after(n_vocab)
        splits = {
            name: batching.build(spec.family, encoded.splits[name], special, settings.model.n_ctx)
            for name in encoded.named("train", "select", "report")
        }
        return cls(spec, _with_sample(splits, settings.eval_train))

    def share(self, share: float, seed: int, eval_train: int) -> "TaskData":
        """The same task with a share of its training rows, drawn by the seed; at least one row.

        The rows are repeated up to the original number, so that an epoch has as many updates:
        shares differ in how many distinct rows are seen, not in how long the model is trained. With
        the same seed, the rows of a smaller share are among those of a larger one.
        """
        train = self.splits["train"]
        drawn = drawn_rows(len(train), share, seed)
        sample = _with_sample({"train": _chosen(train, np.sort(drawn))}, eval_train)["train_eval"]
        repeated = _chosen(train, np.sort(np.resize(drawn, len(train))))
        splits = {**self.splits, "train": repeated, "train_eval": sample}
        return TaskData(self.spec, splits, len(drawn))

    @property
    def train_rows(self) -> int:
        """Number of distinct training rows."""
        return len(self.splits["train"]) if self.drawn is None else self.drawn

    @property
    def label_entropy(self) -> float:
        """Entropy in nats of the training labels; for STS-B, of their mean soft label.

        No constant prediction has a lower classification loss.
        """
        labels = self.splits["train"].labels
        totals = soft_labels(labels).sum(0) if self.spec.soft_labels else np.bincount(labels)
        shares = totals[totals > 0] / len(labels)
        return float(-(shares * np.log(shares)).sum())


def _with_sample(splits: dict[str, Sequences], eval_train: int) -> dict[str, Sequences]:
    train = splits["train"]
    return {**splits, "train_eval": _chosen(train, batching.sample(len(train), eval_train))}


def _chosen(split: Sequences, rows: np.ndarray) -> Sequences:
    arrays = {name: getattr(split, name)[rows] for name in ("ids", "lengths", "labels")}
    return replace(split, **arrays, groups=[split.groups[i] for i in rows])
