"""The official metrics in the paper's units: 0 to 100.

Matthews', Pearson's and Spearman's correlations run from -100 to 100. All use NumPy alone:
scikit-learn and SciPy, against which a test compares them, take as long to import as torch.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tasks.spec import TaskSpec

SOFT_CLASSES = 6  # of STS-B's scores
Columns = tuple[np.ndarray | int, ...]  # k values of each row
Sums = Any  # a number, or an array of them


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
    predictions = settled(predictions) if task.soft_labels else predictions
    return {name: 100.0 * METRICS[name](labels, predictions) for name in task.metrics}


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


def _confusion(labels: np.ndarray, predictions: np.ndarray) -> Columns:
    """For class 1 (equivalent, duplicate): true positives, predicted, labelled; and all rows."""
    return (predictions == 1) & (labels == 1), predictions == 1, labels == 1, 1


def _f1(both: Sums, said: Sums, true: Sums, _: Sums) -> Sums:
    """F1 of class 1, as in GLUE; 0 if class 1 occurs nowhere."""
    return ratio(2 * both, said + true)


def _by_class(labels: np.ndarray, predictions: np.ndarray) -> Columns:
    """The first three columns of `_confusion` for every class in turn."""
    classes = range(1 + int(max(labels.max(), predictions.max())))
    said, true = ([side == k for k in classes] for side in (predictions, labels))
    return tuple(of for k in classes for of in (said[k] & true[k], said[k], true[k]))


def _macro_f1(*sums: Sums) -> Sums:
    """The mean F1 of the classes that are labelled or predicted, as in scikit-learn."""
    both, either = np.stack(sums[::3]), np.stack(sums[1::3]) + np.stack(sums[2::3])
    return ratio(ratio(2 * both, either).sum(axis=0), (either > 0).sum(axis=0))


def _matthews(both: Sums, said: Sums, true: Sums, n: Sums) -> Sums:
    """Pearson's correlation of the labels 0 and 1; 0 where either side is constant."""
    return ratio(n * both - said * true, np.sqrt(said * (n - said) * true * (n - true)))


def ratio(above: Sums, below: Sums) -> Sums:
    """The quotient; 0 where the denominator is 0, as in scikit-learn."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


def _counted(name: str, labels: np.ndarray, predictions: np.ndarray) -> float:
    columns, of_sums = COUNTED[name]
    counts = (np.broadcast_to(column, labels.shape) for column in columns(labels, predictions))
    return float(of_sums(*(np.float64(column.sum()) for column in counts)))


def _pearson(labels: np.ndarray, predictions: np.ndarray) -> float:
    """0 where either side is constant, as constant values carry no information."""
    x, y = centred(predictions), centred(labels)
    return float(np.corrcoef(x, y)[0, 1]) if x.any() and y.any() else 0.0


def ranks(values: np.ndarray) -> np.ndarray:
    """The ranks from 1; equal values get the mean of their ranks."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[which]


def centred(values: np.ndarray) -> np.ndarray:
    """The values about their mean, in units of their range; 0 where all are equal.

    Their own unit must not matter: probabilities of 1e-9 correlate, and so do years.
    """
    if not (spread := np.ptp(values)):
        return np.zeros(len(values))
    placed = (values - values.min()) / spread
    return placed - placed.mean()


def settled(predictions: np.ndarray) -> np.ndarray:
    """A model's predictions of scores from 0 to 5, made equal if only rounding tells them apart.

    A model that predicts the same for every pair still varies in float32's last digits, and a
    correlation with these would be noise.
    """
    limit = 1e-6 * max(1.0, float(np.abs(predictions).max()))
    return predictions if np.ptp(predictions) > limit else np.full_like(predictions, 2.5)


def soft_labels(scores: np.ndarray) -> np.ndarray:
    """STS-B's targets [n, 6] of scores [n] from 0 to 5, as in the authors' code (Tai et al. 2015).

    A score is split between the two classes that it lies between: each row sums to 1 and has its
    score as mean.
    """
    scores = np.asarray(scores, dtype=np.float64)
    return np.maximum(0.0, 1.0 - np.abs(scores[:, None] - np.arange(SOFT_CLASSES)))


def expected_score(probabilities: np.ndarray) -> np.ndarray:
    """STS-B's predictions [n] from class probabilities [n, 6]: sum over j of j p_j."""
    return np.asarray(probabilities, dtype=np.float64) @ np.arange(SOFT_CLASSES)


# Scores of class predictions are functions of counts: columns summed over rows.
COUNTED: dict[str, tuple[Callable[..., Columns], Callable[..., Sums]]] = {
    "accuracy": (lambda labels, predictions: (predictions == labels, 1), np.divide),
    "f1": (_confusion, _f1),
    "macro_f1": (_by_class, _macro_f1),
    "matthews": (_confusion, _matthews),
}
METRICS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    **{name: partial(_counted, name) for name in COUNTED},
    "pearson": _pearson,
    "spearman": lambda labels, predictions: _pearson(ranks(labels), ranks(predictions)),
}
