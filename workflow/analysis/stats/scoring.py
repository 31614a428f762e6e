"""The samples of one cell: the scores in its JSON, and those of its predictions on resamples."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from gpt1.cell import Cell
from gpt1.records import CellRecord
from tasks import Task
from tasks.common.records import Scores
from tasks.metrics import settled
from tasks.world.degrees import place
from workflow.analysis.predictions import Predictions, answers
from workflow.analysis.stats.bootstrap import N_RESAMPLES, resample
from workflow.analysis.stats.sample import Sample, weight_of

CORRELATIONS = ("matthews", "pearson", "spearman")
Key = tuple[str, str, str]  # split, metric, and a degree of difficulty or "" for all rows


def limits_of(metric: str) -> tuple[float, float]:
    """The lowest and the highest value of a metric."""
    return (-100.0 if metric in CORRELATIONS else 0.0), 100.0


def kind_of(record: CellRecord) -> str:
    """The kind of a cell's line: lines of one kind are taken to vary alike over seeds."""
    return record.arch + (" from scratch" if record.n_transfer == "none" else "")


def scored(
    cell: Cell, results: Path, chosen: Sequence[int], bag_of_words: Scores | None = None
) -> dict[Key, Sample]:
    """The scores of the `chosen` seeds in a cell's JSON, not resampled.

    `bag_of_words`, if given, replaces the scores of the one fitted to all training rows.
    """
    record = CellRecord.read(cell.path(results), **vars(cell))
    runs = [one for one in record.seeds if one.seed in chosen]
    majority, bag_of_words = (
        record.baselines.majority,
        bag_of_words or record.baselines.bag_of_words,
    )
    return {
        (split, metric, ""): Sample(
            seeds=tuple(one.seed for one in runs),
            pretrain=tuple(one.pretrain_seed for one in runs),
            score=np.array([one.scores[split][metric] for one in runs]),
            boot=np.full((len(runs), N_RESAMPLES), np.nan),
            n_rows=0,
            limits=limits_of(metric),
            majority=majority.get(split, {}).get(metric, np.nan),
            bag_of_words=bag_of_words.get(split, {}).get(metric, np.nan),
            train_tokens={one.seed: one.train_tokens for one in runs},
            alarms={one.seed: (";".join(sorted(one.alarms)),) for one in runs},
            weights=weight_of(kind_of(record)),
        )
        for split, scores in (runs[0].scores.items() if runs else ())
        for metric in scores
    }


def resampled(
    sample: Sample,
    predictions: Predictions,
    task: Task,
    split: str,
    metric: str,
    chosen: set[str] | None = None,
) -> Sample | None:
    """The sample on the predicted rows of a split, or only on those whose places are `chosen`.

    None if there are no such rows.
    """
    rows = predictions.rows[predictions.rows["seed"].isin(sample.seeds)]
    mine = rows[rows["split"] == split]
    if mine.empty:
        base, _, group = split.rpartition("_")
        mine = rows[(rows["split"] == base) & (rows["group"] == group)]
    if chosen is not None:
        mine = mine[mine["guid"].map(lambda guid: place(guid) in chosen).astype(bool)]
    if mine.empty:
        return None
    shape = len(sample.seeds), len(mine) // len(sample.seeds)
    said = answers(task, mine["prediction"]).reshape(shape)
    said = np.array([*map(settled, said)]) if task.soft_labels else said
    labels = answers(task, mine["label"][: shape[1]])
    texts = shared_texts(task, mine["guid"].to_numpy()[: shape[1]])
    score, boot, n_rows = resample(metric, said, labels, texts, f"{task.name}/{split}")
    return replace(sample, score=score, boot=boot, n_rows=n_rows)


def shared_texts(task: Task, guids: Sequence[str]) -> np.ndarray:
    """For each row, the number from 0 of the text it shares with others, or of the row itself."""
    if not task.several_rows_a_text:
        return np.arange(len(guids))
    return np.unique([guid.rpartition("/")[0] for guid in guids], return_inverse=True)[1]
