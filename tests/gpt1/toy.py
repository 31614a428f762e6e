"""Small models, settings and encoded tasks for the tests of training."""

from dataclasses import dataclass, field

import numpy as np

from gpt1.training.encoded import EncodedSplit, EncodedTask

N_VOCAB, N_CTX = 40, 24
ARCHS = ("transformer", "lstm")
SHAPES = {
    "transformer": {"n_layer": 2, "n_embd": 32, "n_head": 4, "n_ff": 64},
    "lstm": {"n_layer": 1, "n_embd": 32, "n_hidden": 48},
}
NO_DROPOUT = {"embd": 0.0, "attn": 0.0, "resid": 0.0, "clf": 0.0}
DROPOUT = {"embd": 0.1, "attn": 0.1, "resid": 0.1, "clf": 0.1}


def settings(arch, dropout=None, **finetune):
    """What `gpt1.cells` is given as `--settings`."""
    options = {"epochs": 2, "batch": 4, "lr": 3e-3, "warmup": 0.002, "lm_coef": 0.5}
    options |= {"eval_train": 8, "dropout": dropout or NO_DROPOUT, **finetune}
    return {"model": model(arch), "optimizer": optimizer(), "finetune": options}


def model(arch):
    """The model part of the settings."""
    common = {"n_ctx": N_CTX, "init_std": 0.02, "embd_dropout": "matrix", "lm_softmax": "all_rows"}
    return {**common, "shape": SHAPES[arch]}


def optimizer():
    """The optimizer part of the settings."""
    return {
        "b1": 0.9,
        "b2": 0.999,
        "eps": 1e-8,
        "l2": 0.01,
        "vector_l2": False,
        "max_grad_norm": 1.0,
    }


@dataclass
class Rows:
    """Random token rows of one task: `n` examples, lengths 2 to 6, labels in turn."""

    task: object
    seed: int = 0
    guids: list = field(default_factory=list)

    def split(self, n, name):
        """An encoded split of `n` rows."""
        rng = np.random.default_rng([self.seed, len(name), n])
        task = self.task

        def text(low=2, high=7):
            return rng.integers(1, N_VOCAB, rng.integers(low, high)).astype(np.int32)

        n_choices = {"race": 4, "story_cloze": 2, "dprd": 2}.get(task.name, 0)
        none = np.empty(0, dtype=np.int32)
        has_second = task.family in ("entailment", "similarity") or task.name == "race"
        kinds = n_choices or len(task.labels)
        labels = np.arange(n) % kinds
        if task.metric == "pearson":
            labels = rng.random(n) * 5
        return EncodedSplit(
            guids=[f"{task.name}/{name}/{i}" for i in range(n)],
            groups=[("middle", "high")[i % 2] if task.name == "race" else "" for i in range(n)],
            labels=labels,
            first=[text() for _ in range(n)],
            second=[text() if has_second else none for _ in range(n)],
            choices=[[text(1, 4) for _ in range(n_choices)] for _ in range(n)],
        )


def encoded(task, **sizes):
    """An encoded task of random rows; `sizes` gives the number of rows of each split."""
    rows = Rows(task)
    splits = {name: rows.split(n, name) for name, n in sizes.items()}
    return EncodedTask(kind=task.kind, tokenizer="t" * 64, data="d" * 64, splits=splits)
