"""Small tasks of every family, and cells on them whose weights are kept."""

import numpy as np
import torch

from gpt1.cell import Cell
from gpt1.encode import encode
from gpt1.finetune import finetune, keep
from gpt1.training.cell_job import CellJob
from gpt1.training.encoded import load as load_encoded
from gpt1.training.run_cache import RunCache
from gpt1.training.runtime import Runtime
from gpt1.weights.checkpoint import CheckpointFacts, build, save_checkpoint
from tasks import task
from tasks.common.files import write_json
from tests.gpt1 import toy
from tests.gpt1.examples import CHARACTERS, write_examples, write_tokenizer

SEEDS = [3, 4]
TASKS = ("rte", "mrpc", "stsb", "sst2", "race", "story_cloze")


def rows_of(name, n, seed):
    """Labelled rows of a task: texts of letters, as long as they come."""
    rng, own = np.random.default_rng([seed, len(name)]), task(name)

    def text(low=2, high=9):
        return " ".join(rng.choice(list(CHARACTERS), rng.integers(low, high)))

    n_choices = {"race": 4, "story_cloze": 2}.get(name, 0)
    rows = []
    for i in range(n):
        label = i % (n_choices or len(own.labels))
        row = {"first": text(), "label": round(rng.random() * 5, 2) if own.soft_labels else label}
        if own.family in ("entailment", "similarity") or name == "race":
            row["second"] = text()
        rows.append({**row, "choices": [text(1, 4) for _ in range(n_choices)]})
    return rows


def write_task(folder, name):
    """Everything that a job of cells on a task reads, below `folder`; returns its reported rows."""
    n_vocab = write_tokenizer(folder / "tokenizer")
    report = task(name).main
    sizes = {"train": 12, "select": 6, report: 40}
    splits = {split: rows_of(name, n, i) for i, (split, n) in enumerate(sizes.items())}
    write_examples(folder / "examples" / name, name, splits)
    encoded = folder / "encoded" / name
    encode(name, folder / "examples" / name, folder / "tokenizer", encoded)
    scores = {split: dict.fromkeys(task(name).metrics, 50.0) for split in sizes}
    write_json(
        folder / "baselines.json", {"task": name, "majority": scores, "bag_of_words": scores}
    )
    for arch in toy.ARCHS:
        model = build(arch, toy.model(arch, init_std=0.2), n_vocab)
        model.reset(torch.Generator().manual_seed(5))
        digest = load_encoded(encoded).tokenizer
        facts = CheckpointFacts(model=toy.model(arch), tokenizer=digest, update=1)
        save_checkpoint(folder / f"{arch}.safetensors", model, facts)
    return splits[report]


def job(folder, cell, kept=(), **options):
    """What trains the cell, or recalls it; `kept` are the places whose weights are kept."""
    settings = {cell.task: toy.settings(cell.arch, toy.DROPOUT, lm_coef=0.5, **options)}
    files = ([folder / "encoded" / cell.task], [folder / "baselines.json"])
    weights, cache = [folder / f"{cell.arch}.safetensors"], RunCache(folder / "c")
    return CellJob([cell], *files, weights, settings, Runtime(), cache, "", kept)


def train(folder, cell, kept=(), **options):
    """Write the cell; its weights stay in the cache if its place is in `kept`."""
    paths = {cell: (cell.path(folder), cell.predictions(folder))}
    assert finetune(job(folder, cell, kept, **options), paths, SEEDS) == []


def keep_weights(folder, cell, **options):
    """Write the weights of the cell."""
    own = job(folder, cell, [cell.place], **options)
    task_of = task(cell.task)
    labels = None if task_of.family == "multiple_choice" else task_of.label_names
    keep(own, cell.path(folder), SEEDS, folder / "tokenizer", cell.kept(folder), labels)


def kept_cell(folder, name, arch="transformer", **options):
    """A cell, and the folder of its weights."""
    cell = Cell(arch, name, "on", 1)
    train(folder, cell, [cell.place], **options)
    keep_weights(folder, cell, **options)
    return cell, cell.kept(folder)
