"""Jobs that train cells of RTE with models as small as can be."""

import json

import pyarrow.parquet as parquet

from gpt1 import finetune
from gpt1.cell import FULL, Cell
from gpt1.training.cell_job import CellJob
from gpt1.training.run_cache import RunCache
from gpt1.training.runtime import Runtime
from tests.gpt1 import toy


def cells(*layers, arch="transformer", **options):
    """Cells of RTE, one for each number of layers transferred, and the settings of each."""
    lines = {n: FULL if n == toy.SHAPES[arch].n_layer else f"n_transfer-{n}" for n in layers}
    return {Cell(lines[n], "rte"): toy.cell_settings(arch, n, **options) for n in layers}


def job(files, own, code="", runtime=None, weights=None, vectors=()):
    """A job of these cells."""
    arch = next(iter(own.values())).model.arch
    names = [arch] if weights is None else weights
    weights = [files / f"{name}.safetensors" for name in names]
    inputs = (files / "encoded/rte", files / "baselines/rte.json", weights)
    cache = RunCache(files / "cache")
    return CellJob(own, *inputs, runtime or Runtime(), cache, code, pretrain=[5], vectors=vectors)


def paths(files, own):
    return [cell.path(files) for cell in own]


def train(files, own, seeds, **options):
    """What the job of these cells says of failed runs."""
    files_of = {cell: (cell.path(files), cell.predictions(files)) for cell in own}
    return finetune.finetune(job(files, own, **options), files_of, seeds)


def predictions(files, cell):
    """The predictions behind a cell: rows, and the file's metadata."""
    table = parquet.read_table(cell.predictions(files))
    return table.to_pylist(), json.loads(table.schema.metadata[b"gpt1"])
