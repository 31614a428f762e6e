"""Small models, settings and encoded tasks for the tests of training."""

import numpy as np
import torch

from gpt1.data import EncodedSplit, EncodedTask
from gpt1.records import CheckpointFacts, EncodedFacts, SplitFacts
from gpt1.settings import (
    CellSettings,
    Dropout,
    FinetuneDropout,
    FinetuneSettings,
    LSTMShape,
    ModelSettings,
    OptimizerSettings,
    PretrainSettings,
    TransformerShape,
)
from gpt1.training.finetuning import FineTuning
from gpt1.training.runtime import Runtime
from gpt1.weights.checkpoint import Checkpoint, build
from tasks import task
from tasks.common.files import sha256_file, write_json

N_VOCAB, N_CTX = 40, 24
ARCHS = ("transformer", "lstm")
SHAPES = {
    "transformer": TransformerShape(n_layer=2, n_embd=32, n_head=4, n_ff=64),
    "lstm": LSTMShape(n_layer=1, n_embd=32, n_hidden=48),
}
NO_DROPOUT = FinetuneDropout(embd=0, attn=0, resid=0, clf=0)
DROPOUT = FinetuneDropout()  # 0.1 everywhere


def model(arch, **options):
    """Settings of a model."""
    return ModelSettings(**{"n_ctx": N_CTX, "shape": SHAPES[arch], **options})


def settings(arch, dropout=NO_DROPOUT, **options):
    """How a cell is trained."""
    given = {"epochs": 2, "batch": 4, "lr": 3e-3, "eval_train": 8, "model": model(arch)}
    return FinetuneSettings(
        **{**given, "dropout": dropout, "optimizer": OptimizerSettings(), **options}
    )


def cell_settings(arch, n_transfer, dropout=NO_DROPOUT, **options):
    """What `gpt1.finetune` is given of a cell."""
    return CellSettings(**dict(settings(arch, dropout, **options)), n_transfer=n_transfer)


def pretrain_settings(arch, **options):
    """What `gpt1.pretrain` is given."""
    given = {"updates": 8, "warmup": 2, "batch": 4, "lr": 1e-2, "heldout_tokens": 150}
    given |= {"checkpoints": [0, 3, 8], "dropout": Dropout(), "model": model(arch)}
    return PretrainSettings(**{**given, "optimizer": OptimizerSettings(), **options})


def random_model(arch, seed=0, n_vocab=N_VOCAB, rates=None, **options):
    """A language model with the initial values of a seed."""
    found = build(arch, model(arch, **options), n_vocab, *([rates] if rates else []))
    found.reset(torch.Generator().manual_seed(seed))
    return found


def checkpoint(language_model):
    """A language model's weights as a loaded checkpoint."""
    facts = CheckpointFacts(
        **{"model": language_model.settings, "tokenizer": "t" * 64, "sha256": "c" * 64},
        **{"arch": language_model.arch, "n_vocab": language_model.n_vocab},
    )
    weights = {name: p.detach().clone() for name, p in language_model.named_parameters()}
    return Checkpoint(weights, facts)


def source(arch, seed=77):
    """A checkpoint of wide random weights."""
    return checkpoint(random_model(arch, seed, init_std=0.05))


def start(
    name="rte",
    arch="transformer",
    n_transfer=2,
    lm_coef=0.5,
    seed=0,
    runtime=None,
    sizes=None,
    start_from=None,
    **options,
):
    """A run at step 0; by default it starts from wide random weights."""
    own = cell_settings(arch, n_transfer, lm_coef=lm_coef, **options)
    start_from = start_from or source(arch)
    sizes = sizes or {"train": 8, "select": 8, "dev": 8}
    of_task = encoded(task(name), start_from.facts.n_vocab, **sizes)
    if n_transfer != "none":
        own = own.model_copy(update={"n_transfer": min(n_transfer, own.model.shape.n_layer)})
    return tuning(of_task, start_from, own, seed, runtime)


def tuning(encoded, checkpoint, settings, seed=0, runtime=None):
    """A run at step 0 on an encoded task."""
    spec, splits = encoded.spec, encoded.sequences(settings.model.n_ctx)
    return FineTuning(spec, splits, checkpoint, settings, seed, runtime or Runtime())


def split(task, n, name):
    """An encoded split of `n` random rows of a task: lengths 2 to 6, labels in turn."""
    rng = np.random.default_rng([0, len(name), n])

    def text(low=2, high=7):
        return rng.integers(1, N_VOCAB, rng.integers(low, high)).astype(np.int32)

    n_choices = {"race": 4, "story_cloze": 2, "dprd": 2}.get(task.name, 0)
    has_second = task.family in ("entailment", "similarity") or task.name == "race"
    labels = np.arange(n) % (n_choices or len(task.labels))
    if task.metric == "pearson":
        labels = rng.random(n) * 5
    return encoded_split(
        [text() for _ in range(n)],
        [text() if has_second else [] for _ in range(n)],
        [[text(1, 4) for _ in range(n_choices)] for _ in range(n)],
        labels,
        [("middle", "high")[i % 2] if task.name == "race" else "" for i in range(n)],
    )


def encoded_split(first, second=None, choices=None, labels=None, groups=None):
    """An encoded split of ids, one entry for each row; absent texts are empty, labels 0."""
    n = len(first)
    first, second = (
        [np.array(ids, dtype=np.int32) for ids in of] for of in (first, second or [[]] * n)
    )
    choices = [[np.array(ids, dtype=np.int32) for ids in row] for row in choices or [[]] * n]
    labels = np.zeros(n, dtype=np.int64) if labels is None else np.array(labels)
    guids = [str(i) for i in range(n)]
    return EncodedSplit(guids, groups or [""] * n, labels, first, second, choices)


def encoded_task(spec, n_vocab=N_VOCAB, **splits):
    """Encoded splits as a loaded task; every split but `train` and `select` is reported."""
    facts = {
        name: SplitFacts(
            role=name if name in ("train", "select") else "report",
            rows=len(split),
            sha256=name,
            examples=name,
            lengths={},
            n_ctx_needed={},
        )
        for name, split in splits.items()
    }
    return EncodedTask(
        EncodedFacts(spec=spec, tokenizer="t" * 64, n_vocab=n_vocab, splits=facts), splits
    )


def encoded(task, n_vocab=N_VOCAB, **sizes):
    """An encoded task of random rows; `sizes` gives the number of rows of each split."""
    splits = {name: split(task, n, name) for name, n in sizes.items()}
    return encoded_task(task.spec, n_vocab, **splits)


def corpus(folder, train=2000, heldout=200, tokenizer="t" * 64, made=False):
    """A corpus of a repeating pattern, as `gpt1.corpus tokens` writes it; returns its JSON."""
    folder.mkdir(exist_ok=True)
    splits = {}
    for name, n in (("train", train), ("heldout", heldout)):
        (np.arange(n) * 7 % 31).astype("<u2").tofile(folder / f"{name}.bin")
        digest = sha256_file(folder / f"{name}.bin")
        splits[name] = {"file": f"{name}.bin", "tokens": n, "sha256": digest, "source_bytes": 3 * n}
    path = folder / "corpus.json"
    facts = {"tokenizer": tokenizer, "n_vocab": N_VOCAB, "corpus": "books", "documents": ""}
    write_json(path, {**facts, "splits": splits, "made": made})
    return path
