"""The official metrics in the paper's units: 0 to 100.

Matthews' and the two correlations run from -100 to 100. All are by NumPy alone: scikit-learn and
SciPy, with which a test compares them, take as long to import as torch.
"""

import math
from collections.abc import Callable

import numpy as np

from tasks.spec import TaskSpec


def score(task: TaskSpec, predictions: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """All metrics of a task: {metric: 0..100} of predictions [n] against labels [n].

    Predictions are class (or choice) indices; for STS-B real numbers. Raises ValueError for
    anything that cannot be scored (nothing to score, unequal lengths, NaN): a metric is never
    replaced by an invented value.
    """
    predictions, labels = np.asarray(predictions), np.asarray(labels)
    if predictions.ndim != 1 or predictions.shape != labels.shape or not len(labels):
        raise ValueError(
            f"{task.name}: predictions {predictions.shape} and labels {labels.shape} "
            "must be one-dimensional, equally long and not empty"
        )
    if not (np.isfinite(predictions).all() and np.isfinite(labels).all()):
        raise ValueError(f"{task.name}: a prediction or label is not a finite number")
    if not task.soft_labels and not {predictions.dtype.kind, labels.dtype.kind} <= set("iu"):
        raise ValueError(f"{task.name}: predictions and labels must be class indices")
    return {name: 100.0 * float(METRICS[name](labels, predictions)) for name in task.metrics}


def score_split(
    task: TaskSpec,
    predictions: np.ndarray,
    labels: np.ndarray,
    groups: list[str],
    split: str,
) -> dict[str, dict[str, float]]:
    """Scores of a split and, where its examples have groups (RACE), of each `{split}_{group}`."""
    predictions, labels, group = np.asarray(predictions), np.asarray(labels), np.asarray(groups)
    scores = {split: score(task, predictions, labels)}
    for name in sorted({name for name in groups if name}):
        scores[f"{split}_{name}"] = score(task, predictions[group == name], labels[group == name])
    return scores


def _accuracy(labels: np.ndarray, predictions: np.ndarray) -> float:
    return float(np.mean(labels == predictions))


def _f1(labels: np.ndarray, predictions: np.ndarray) -> float:
    """Of class 1 (equivalent, duplicate), as GLUE has it; 0 if class 1 occurs nowhere."""
    actual, found = labels == 1, predictions == 1
    total = actual.sum() + found.sum()
    return 2 * np.sum(actual & found) / total if total else 0.0


def _matthews(labels: np.ndarray, predictions: np.ndarray) -> float:
    """Pearson's of the labels 0 and 1, by whole numbers; 0 where either side is constant."""
    n, both = len(labels), int(labels @ predictions)
    ones, found = int(labels.sum()), int(predictions.sum())
    spread = ones * (n - ones) * found * (n - found)
    return (n * both - ones * found) / math.sqrt(spread) if spread else 0.0


def _pearson(labels: np.ndarray, predictions: np.ndarray) -> float:
    return 0.0 if _constant(predictions, labels) else np.corrcoef(predictions, labels)[0, 1]


def _spearman(labels: np.ndarray, predictions: np.ndarray) -> float:
    """Pearson's of the ranks."""
    return 0.0 if _constant(predictions, labels) else _pearson(_ranks(labels), _ranks(predictions))


def _ranks(values: np.ndarray) -> np.ndarray:
    """The ranks from 1; equal values have the mean of theirs."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[which]


def _constant(predictions: np.ndarray, labels: np.ndarray) -> bool:
    """Whether a correlation is 0/0. It counts as 0: a constant prediction has no information.

    A spread below a millionth of the values' size is constant too: a model that says the same of
    every pair still differs in float32's last digits, and a correlation of these would be noise.
    """
    return any(
        np.ptp(values) <= 1e-6 * max(1.0, float(np.abs(values).max()))
        for values in (predictions, labels)
    )


METRICS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "accuracy": _accuracy,
    "f1": _f1,
    "matthews": _matthews,
    "pearson": _pearson,
    "spearman": _spearman,
}
