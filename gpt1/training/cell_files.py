"""What a cell leaves: its JSON, with the scores of every seed, and its predictions as Parquet."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gpt1.cell import Cell
from gpt1.training.alarms import alarms
from gpt1.training.cell_job import CellJob
from gpt1.training.finetuning import Answers, RunRecord
from gpt1.training.predictions import write_predictions
from gpt1.weights.checkpoint import Checkpoint
from tasks.common.files import write_json

OF_THE_CELL = ("copied", "constant", "truncated", "predictions")  # not repeated for each seed


def write(
    cell: Cell,
    path: Path,
    predictions: Path,
    runs: Sequence[tuple[Checkpoint, Answers]],
    job: CellJob,
) -> None:
    """Write a cell's JSON and predictions from the runs of its seeds, and print its scores."""
    encoded, records = job.encoded[cell.task], [record for _, record in runs]
    digest = write_predictions(predictions, cell, encoded, records)
    write_json(path, _facts(cell, runs, job, digest))
    split, metric = encoded.main, encoded.spec.metric
    shown = " ".join(f"{record.scores[split][metric]:.1f}" for record in records)
    print(f"{path}: {split} {metric} {shown}", flush=True)


def _facts(
    cell: Cell, runs: Sequence[tuple[Checkpoint, Answers]], job: CellJob, predictions: str
) -> dict[str, Any]:
    """The JSON of a cell; `predictions` is the digest of their file."""
    encoded, baselines = job.encoded[cell.task], job.baselines[cell.task]
    settings, first = job.settings[cell.task], runs[0][1]
    split, metric = encoded.main, encoded.spec.metric
    majority = baselines["majority"][split][metric]
    return {
        **cell.facts(),
        "lm_coef": settings.lm_coef,
        "family": encoded.spec.family,
        "metric": metric,
        "copied": first.copied if isinstance(first, RunRecord) else [],
        "truncated": first.truncated if isinstance(first, RunRecord) else {},
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
        "settings": settings.model_dump(mode="json"),
        "digests": {**job.digests[cell.task], "predictions": predictions},
        **job.environment,
    }
