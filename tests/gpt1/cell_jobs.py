"""Small tasks of every family, and jobs that train cells on them with models as small as can be."""

import json

import numpy as np
import pyarrow.parquet as parquet

from gpt1.cell import UNCHANGED, Cell
from gpt1.encode import encode
from gpt1.finetune import CellJob
from gpt1.settings import JobSettings
from gpt1.text.tokenizer import Tokenizer
from gpt1.training.runtime import Runtime
from gpt1.weights.checkpoint import save_checkpoint
from tasks import task
from tasks.common.files import sha256_file, write_json
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


def write_task(folder, name, reported=40):
    """Everything that a job of cells on a task reads, below `folder`; returns its rows."""
    write_tokenizer(folder / "tokenizer")
    report = task(name).main
    sizes = {"train": 12, "select": 6, report: reported}
    splits = {split: rows_of(name, n, i) for i, (split, n) in enumerate(sizes.items())}
    write_encoded(folder, name, splits)
    scores = {split: dict.fromkeys(task(name).metrics, 50.0) for split in sizes}
    facts = {"task": name, "majority": scores, "bag_of_words": scores}
    write_json(folder / "baselines" / f"{name}.json", facts)
    for arch in toy.ARCHS:
        write_checkpoint(folder, arch, arch)
    return splits


def write_encoded(folder, name, splits, unlabelled=()):
    """The encoded task of some rows, in `folder`/encoded/NAME."""
    write_examples(folder / "examples" / name, name, splits, unlabelled)
    encode(name, folder / "examples" / name, folder / "tokenizer", folder / "encoded" / name)


def write_checkpoint(folder, name, arch="transformer", seed=5, **facts):
    """A language model of that pre-training seed; returns its digest."""
    tokenizer = Tokenizer.load(folder / "tokenizer")
    model = toy.random_model(arch, seed, tokenizer.n_vocab, init_std=0.2)
    path = folder / f"{name}.safetensors"
    save_checkpoint(path, model, **{"tokenizer": tokenizer.digest, "seed": seed} | facts)
    return sha256_file(path)


def finetune_words(folder, cells, checkpoints=("transformer",), seeds=(0,), out=None):
    """What the program is given for the cells of one task, with settings; it writes to `out`."""
    out, task = out or folder, next(iter(cells)).task
    return [
        *(cell.path(out) for cell in cells),
        *("--encoded", folder / "encoded" / task),
        *("--baselines", folder / "baselines" / f"{task}.json"),
        *("--checkpoints", *(folder / f"{name}.safetensors" for name in checkpoints)),
        *("--settings", JobSettings(variants={c.variant: of for c, of in cells.items()}).to_json()),
        *("--seeds", *seeds),
        *("--cache", out / "cache", "--code", "c"),
    ]


def cells(*layers, arch="transformer", **options):
    """Cells of RTE, one for each number of layers transferred, and the settings of each."""
    lines = {n: UNCHANGED if n == toy.SHAPES[arch].n_layer else f"n_transfer-{n}" for n in layers}
    return {Cell(lines[n], "rte"): toy.cell_settings(arch, n, **options) for n in layers}


def job(files, own, code="", runtime=None, weights=None, vectors=(), keep=False, name=""):
    """A job of these cells, which are of one task; `name` is that of another task's files."""
    cell, settings = next(iter(own.items()))
    name = name or cell.task
    names = [settings.model.arch] if weights is None else weights
    weights = [files / f"{each}.safetensors" for each in names]
    encoded, baselines = files / "encoded" / name, files / "baselines" / f"{name}.json"
    inputs = (encoded, baselines, weights, runtime or Runtime(), files / "cache", code)
    tokenizer = files / "tokenizer" if keep else None
    return CellJob(own, files, *inputs, pretrain=[5], vectors=vectors, tokenizer=tokenizer)


def paths(files, own):
    return [cell.path(files) for cell in own]


def train(files, own, seeds, **options):
    """What the job of these cells says of failed runs."""
    return job(files, own, **options).train(seeds)


def predictions(files, cell):
    """The predictions behind a cell: rows, and the file's metadata."""
    table = parquet.read_table(cell.predictions(files))
    return table.to_pylist(), json.loads(table.schema.metadata[b"gpt1"])


def kept_cell(files, name, arch="transformer", **options):
    """A cell of which one layer is transferred, and the folder of its weights."""
    cell = Cell("n_transfer-1", name)
    own = {cell: toy.cell_settings(arch, 1, toy.DROPOUT, **options)}
    assert train(files, own, SEEDS, keep=True) == []
    return cell, cell.kept(files)
