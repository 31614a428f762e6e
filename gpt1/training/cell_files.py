"""The files of a cell: the cache of finished runs, its predictions, its alarms, its kept weights.

The kept weights of a fine-tuned cell are a folder with all that is needed to use them:

    kept/full/sst2/
        cell.json                      the cell's own JSON: scores, settings, digests
        encoder.json, merges.bpe       the tokenizer
        seed-0.safetensors, ...        the weights of each seed
        manifest.json                  the digests of these files

The weights are those that scored best on the selection split; they gave the cell's scores.
`gpt1.predict` loads them.
"""

import json
import math
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pyarrow as pa

from gpt1.cell import Cell
from gpt1.data import EncodedTask
from gpt1.records import CellRecord, RunRecord
from gpt1.text import vocabulary
from gpt1.weights.checkpoint import read_tensors, write_tensors
from tasks.common.errors import InputError
from tasks.common.files import (
    MANIFEST,
    check_files,
    described,
    read_manifest,
    sha256_json,
    sweep,
    write_atomic,
    write_json,
)

CORRELATIONS = ("matthews", "pearson")  # Matthews' is Pearson's for two binary variables
CHANCE = 0.95  # share of uninformed predictors that stay below `best_of_chance`
CELL = "cell.json"
SCHEMA = pa.schema(
    {
        "seed": pa.int64(),
        "split": pa.string(),
        "guid": pa.string(),
        "group": pa.string(),
        "label": pa.float64(),  # null for unlabelled rows
        "prediction": pa.float64(),
        "probabilities": pa.list_(pa.float64()),  # of the classes or choices, in their order
    }
)

Key = dict[str, Any]


class RunCache:
    """A folder of finished runs, outside the declared outputs, which Snakemake deletes on failure.

    A run's record is stored under the hash of its key, which has everything that determines its
    result, so a stale record is never found. It contains its key, so a renamed one is not used.
    Leftovers of killed writes are removed, whatever their keys.
    """

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        sweep(self.folder)

    def path(self, key: Key) -> Path:
        """The path of the record of `key`, whether it exists or not."""
        return self.folder / f"{sha256_json(key)}.json"

    def weights(self, key: Key) -> Path:
        """The path of the weights of the run of `key`, if they are kept."""
        return self.path(key).with_suffix(".safetensors")

    def get(self, key: Key, with_weights: bool = False) -> RunRecord | None:
        """The record of `key`, or None if it is not there; `with_weights`, if these are not.

        What is damaged or another run's is not used, with a warning.
        """
        path, weights = self.path(key), self.weights(key)
        if not path.exists() or (with_weights and not weights.exists()):
            return None
        try:
            record = RunRecord.read(path)
            if sha256_json(record.key) != path.stem:
                raise InputError(f"{path}: of another run, its key is not that of its name")
            if with_weights:
                read_tensors(weights, of=weights.stem)
        except InputError as error:  # the run can be repeated
            print(f"warning: {error}; training again", flush=True)
            return None
        return record

    def put(self, record: RunRecord) -> None:
        """Write a record atomically."""
        record.write(self.path(record.key))


def write_predictions(
    path: Path,
    cell: Cell,
    encoded: EncodedTask,
    splits: Sequence[str],
    records: Sequence[RunRecord],
) -> None:
    """Write one row for each seed, predicted split and example, in this order.

    The schema's metadata hold the cell and the digests of the tokenizer and of the examples'
    splits.
    """
    import pyarrow.parquet as parquet  # not before it is needed: training starts sooner

    metadata = {
        **asdict(cell),
        "tokenizer": encoded.tokenizer,
        "examples": {split: encoded.facts.splits[split].examples for split in splits},
    }
    tables = [_table(encoded, split, record) for record in records for split in splits]
    table = pa.concat_tables(tables)
    table = table.replace_schema_metadata({b"gpt1": json.dumps(metadata, sort_keys=True)})
    with write_atomic(path, "wb") as file:
        parquet.write_table(table, file)


def _table(encoded: EncodedTask, split: str, record: RunRecord) -> pa.Table:
    """The rows of one seed and split, without `pa.array`, which would import pandas (0.25 s)."""
    rows, unlabelled = encoded.splits[split], encoded.facts.splits[split].role == "unlabelled"
    columns = [
        _numbers(np.full(len(rows), record.seed, dtype=np.int64)),
        _texts([split] * len(rows)),
        _texts(rows.guids),
        _texts(rows.groups),
        pa.nulls(len(rows), pa.float64()) if unlabelled else _numbers(rows.labels.astype(float)),
        _numbers(np.array(record.predictions[split], dtype=float)),
        _lists(np.array(record.probabilities[split], dtype=float)),
    ]
    return pa.Table.from_arrays(columns, schema=SCHEMA)


def _numbers(values: np.ndarray) -> pa.Array:
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])


def _lists(values: np.ndarray) -> pa.Array:
    n, width = values.shape
    offsets = np.arange(n + 1, dtype=np.int32) * np.int32(width)
    return pa.ListArray.from_arrays(_numbers(offsets), _numbers(values.reshape(-1)))


def _texts(values: list[str]) -> pa.Array:
    builder = pa.lib.StringBuilder()
    builder.append_values(values)
    return builder.finish()


def alarms(record: RunRecord, majority: float, split: str, metric: str) -> list[str]:
    """Names of the alarms of a run; empty if there are none.

    `majority_rate`: the score on the main reported split is not above `majority`, the score of the
    best constant answer, or, if the metric is a correlation, not above `best_of_chance`.
    `constant_prediction`: the same prediction for all rows of a reported split. `loss_not_falling`:
    the classification loss is no lower at the end than at the start. `not_fitted`: at the end it is
    not below chance, which is the entropy of the training labels.
    """
    names = []
    least = majority
    if metric in CORRELATIONS:
        least = max(majority, best_of_chance(record.rows[split]))
    if record.scores[split][metric] <= least:
        names.append("majority_rate")
    if record.constant:
        names.append("constant_prediction")
    if not record.clf_loss_end < record.clf_loss_start:
        names.append("loss_not_falling")
    if not record.clf_loss_end < record.label_entropy:
        names.append("not_fitted")
    return names


def best_of_chance(rows: int) -> float:
    """The correlation, 0 to 100, that 1 in 20 uninformed predictors exceeds.

    Without any correlation, the inverse hyperbolic tangent of Pearson's coefficient is about normal
    with variance 1 / (rows - 3) (Fisher 1921, "On the 'probable error' of a coefficient of
    correlation deduced from a small sample").
    """
    if rows <= 3:
        return 100.0
    return 100 * math.tanh(NormalDist().inv_cdf(CHANCE) / math.sqrt(rows - 3))


def weights_path(folder: Path, seed: int) -> Path:
    """The path of a seed's weights."""
    return folder / f"seed-{seed}.safetensors"


def keep(folder: Path, cell: Path, tokenizer: Path, weights: Mapping[int, Path]) -> None:
    """Copy a cell's JSON, its tokenizer and the weights of each seed, written by `write_tensors`.

    Raises InputError if a file of weights is damaged.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for seed, path in weights.items():
        write_tensors(weights_path(folder, seed), read_tensors(path, of=path.stem))
    shutil.copyfile(cell, folder / CELL)
    for name, content in zip(vocabulary.FILES, vocabulary.contents(tokenizer), strict=True):
        (folder / name).write_bytes(content)
    files = [CELL, *vocabulary.FILES, *(weights_path(folder, seed).name for seed in weights)]
    write_json(folder / MANIFEST, {"files": described(folder, files)})


def read_kept(folder: Path) -> CellRecord:
    """The JSON of the cell. Raises InputError if a file of the folder is missing or has changed."""
    if not (folder / CELL).is_file():
        raise InputError(
            f"{folder}: no kept cell; name the cell in experiment.keep and run snakemake {folder} "
            "--cores 2 with the config of the run"
        )
    remedy = "keep the cell again"
    check_files(folder, read_manifest(folder, remedy)["files"], remedy)
    return CellRecord.read(folder / CELL, remedy)
