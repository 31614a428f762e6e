"""The files of a cell: its JSON, with the scores of every seed, and its predictions as Parquet."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from gpt1.cell import Cell
from gpt1.settings import CellSettings
from gpt1.training.alarms import alarms
from gpt1.training.cell_job import CellJob
from gpt1.training.encoded import EncodedTask
from gpt1.training.finetuning import RunRecord
from gpt1.weights.checkpoint import Checkpoint
from tasks.common.files import sha256_file, write_atomic, write_json

OF_THE_CELL = ("copied", "constant", "truncated", "predictions")  # not repeated for each seed
SCHEMA = pa.schema(
    {
        "seed": pa.int64(),
        "split": pa.string(),
        "guid": pa.string(),
        "group": pa.string(),
        "label": pa.float64(),  # null for unlabelled rows
        "prediction": pa.float64(),
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
    encoded, records = job.encoded, [record for _, record in runs]
    _write_predictions(predictions, cell, encoded, records)
    write_json(path, _facts(cell, runs, job, sha256_file(predictions)))
    split, metric = encoded.main, encoded.spec.metric
    shown = " ".join(f"{record.scores[split][metric]:.1f}" for record in records)
    print(f"{path}: {split} {metric} {shown}", flush=True)


def _facts(
    cell: Cell, runs: Sequence[tuple[Checkpoint, RunRecord]], job: CellJob, predictions: str
) -> dict[str, Any]:
    """The JSON of a cell; `predictions` is the digest of their file."""
    encoded, baselines, settings, first = job.encoded, job.baselines, job.cells[cell], runs[0][1]
    split, metric = encoded.main, encoded.spec.metric
    majority = baselines["majority"][split][metric]
    return {
        **_identity(cell, runs[0][0], settings),
        "family": encoded.spec.family,
        "metric": metric,
        "copied": first.copied,
        "truncated": first.truncated,
        "baselines": {kind: baselines[kind] for kind in ("majority", "bag_of_words")},
        "seeds": [
            {
                **{k: v for k, v in asdict(record).items() if k not in OF_THE_CELL},
                "alarms": alarms(record, majority, split, metric),
                "pretrain_seed": checkpoint.facts.seed,
                "checkpoint": checkpoint.facts.sha256,
            }
            for checkpoint, record in runs
        ],
        "settings": settings.finetune().model_dump(mode="json"),
        "digests": {"config": job.config(cell), **job.digests, "predictions": predictions},
        **job.environment,
    }


def _identity(cell: Cell, checkpoint: Checkpoint, settings: CellSettings) -> dict[str, Any]:
    """What the cell is of."""
    return {
        **asdict(cell),
        "arch": checkpoint.facts.arch,
        "corpus": checkpoint.facts.corpus,
        "n_transfer": settings.n_transfer,
        "lm_coef": settings.lm_coef,
    }


def _write_predictions(
    path: Path, cell: Cell, encoded: EncodedTask, records: Sequence[RunRecord]
) -> None:
    """Write one row for each seed, predicted split and example, in this order.

    The schema's metadata name the cell and the digests of the tokenizer and of the examples'
    splits.
    """
    import pyarrow.parquet as parquet  # not before it is needed: training starts sooner

    # In the order of the splits, which a record from the cache has lost.
    splits = [split for split in encoded.splits if split in records[0].predictions]
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
    rows, unlabelled = encoded.splits[split], encoded.facts.splits[split].role == "unlabelled"
    columns = {
        "seed": np.full(len(rows), record.seed),
        "split": [split] * len(rows),
        "guid": rows.guids,
        "group": rows.groups,
        "label": [None] * len(rows) if unlabelled else rows.labels.astype(np.float64),
        "prediction": np.asarray(record.predictions[split], dtype=np.float64),
    }
    return pa.table(columns, schema=SCHEMA)
