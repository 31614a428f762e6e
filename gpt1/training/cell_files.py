"""The files of a cell: its JSON, with scores and alarms of every seed, and its predictions."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pyarrow as pa

from gpt1.cell import Cell
from gpt1.data.encoded import EncodedTask
from gpt1.records import CellDigests, CellRecord, CellRun, Made, RunRecord
from gpt1.training.cell_job import CellJob
from gpt1.weights.checkpoint import Checkpoint
from tasks.common.files import sha256_file, write_atomic

CORRELATIONS = ("matthews", "pearson")  # Matthews' is Pearson's for two binary variables
CHANCE = 0.95  # share of uninformed predictors that stay below `best_of_chance`
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


def write(
    cell: Cell,
    path: Path,
    predictions: Path,
    runs: Sequence[tuple[Checkpoint, RunRecord]],
    job: CellJob,
) -> None:
    """Write a cell's JSON and predictions from the runs of its seeds, and print its scores."""
    records = [record for _, record in runs]
    _write_predictions(predictions, cell, job, records)
    _record(cell, runs, job, sha256_file(predictions)).write(path)
    split, metric = job.encoded.main, job.encoded.spec.metric
    shown = " ".join(f"{record.scores[split][metric]:.1f}" for record in records)
    print(f"{path}: {split} {metric} {shown}", flush=True)


def _record(
    cell: Cell, runs: Sequence[tuple[Checkpoint, RunRecord]], job: CellJob, predictions: str
) -> CellRecord:
    """The JSON of a cell; `predictions` is the digest of the predictions file."""
    spec, settings, (checkpoint, first) = job.encoded.spec, job.cells[cell], runs[0]
    books = any(start.facts.made for start, _ in runs)
    made: dict[Made, bool] = {"rows": job.encoded.facts.made, "books": books}
    majority = job.baselines.majority[job.encoded.main][spec.metric]
    return CellRecord(
        **vars(cell),
        made=[name for name, is_made in made.items() if is_made],
        own=job.encoded.facts.own,
        arch=checkpoint.facts.arch,
        corpus=checkpoint.facts.corpus,
        n_transfer=settings.n_transfer,
        lm_coef=settings.lm_coef,
        family=spec.family,
        metric=spec.metric,
        copied=first.copied,
        truncated=first.truncated,
        baselines=job.baselines,
        seeds=[
            CellRun(
                **vars(record),
                alarms=alarms(record, majority, job.encoded.main, spec.metric),
                pretrain_seed=start.facts.seed,
                checkpoint=start.facts.sha256,
            )
            for start, record in runs
        ],
        settings=settings.finetune(),
        digests=CellDigests(config=job.config(cell), **job.digests, predictions=predictions),
        **job.environment,
    )


def _write_predictions(path: Path, cell: Cell, job: CellJob, records: Sequence[RunRecord]) -> None:
    """Write one row for each seed, predicted split and example, in this order.

    The schema's metadata hold the cell and the digests of the tokenizer and of the examples'
    splits.
    """
    import pyarrow.parquet as parquet  # not before it is needed: training starts sooner

    encoded, splits = job.encoded, job.predicted(cell)
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
