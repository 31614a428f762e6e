"""Scores on resampled rows: a task's own metric, recomputed on each resample without a loop.

Every metric here is a function of sums over rows (of hits, or of x, y, xx, yy, xy), so the score of
a resample needs only the sums weighted by how often each row was drawn. Rows that share a text are
drawn together. Where there are more than `MOST_UNITS` of them, random blocks of rows are drawn,
which leaves the variance as it is.
"""

import functools
import zlib
from collections.abc import Callable

import numpy as np

N_RESAMPLES = 1000
MOST_UNITS = 2000

Columns = tuple[np.ndarray | int, ...]  # k values of each row


def resample(
    metric: str, predictions: np.ndarray, labels: np.ndarray, units: np.ndarray, name: str
) -> tuple[np.ndarray, np.ndarray, int]:
    """The scores, 0 to 100, on all rows [seeds] and on resampled rows [seeds, N_RESAMPLES].

    `predictions` [seeds, rows] and `labels` [rows] as `tasks.metrics.score` takes them; `units`
    [rows] numbers the texts that are drawn, from 0. The same `name` (a task's split) draws the
    same units every time. Also returns the number of units. Spearman's correlation is that of
    the ranks among all rows.
    """
    columns, finish = METRICS[metric]
    seeds, n_texts = len(predictions), int(units.max()) + 1
    of_rows = [
        np.broadcast_to(values, predictions.shape) for values in columns(predictions, labels)
    ]
    rows = np.stack(of_rows, axis=-1).astype(float)  # [seeds, rows, k]
    n, k = min(n_texts, MOST_UNITS), len(of_rows)
    sums = np.zeros((n, seeds * k))  # of each unit
    np.add.at(sums, blocks(name, n_texts)[units], rows.swapaxes(0, 1).reshape(-1, seeds * k))
    drawn = (times_drawn(name, n) @ sums).reshape(-1, seeds, k).swapaxes(0, 1)
    whole, resampled = (finish(*np.moveaxis(of, -1, 0)) for of in (rows.sum(axis=1), drawn))
    return 100.0 * whole, 100.0 * resampled, n_texts


def blocks(name: str, n_texts: int) -> np.ndarray:
    """The block, of at most MOST_UNITS, that each text is drawn with [n_texts]."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    return rng.permutation(n_texts) % MOST_UNITS


@functools.lru_cache(maxsize=32)
def times_drawn(name: str, n: int) -> np.ndarray:
    """How often each of n units is drawn in each resample [N_RESAMPLES, n]."""
    rng = np.random.default_rng(zlib.crc32(f"rows of {name}".encode()))
    drawn = rng.integers(n, size=(N_RESAMPLES, n)) + n * np.arange(N_RESAMPLES)[:, None]
    return np.bincount(drawn.ravel(), minlength=n * N_RESAMPLES).reshape(N_RESAMPLES, n) * 1.0


def _hits(said: np.ndarray, labels: np.ndarray) -> Columns:
    return said == labels, 1


def _accuracy(hits: np.ndarray, n: np.ndarray) -> np.ndarray:
    return hits / n


def _confusion(said: np.ndarray, labels: np.ndarray) -> Columns:
    """Of class 1: both, predicted, labelled; and all rows."""
    return (said == 1) & (labels == 1), said == 1, labels == 1, 1


def _f1(both: np.ndarray, said: np.ndarray, true: np.ndarray, _: np.ndarray) -> np.ndarray:
    return _ratio(2 * both, said + true)


def _matthews(both: np.ndarray, said: np.ndarray, true: np.ndarray, n: np.ndarray) -> np.ndarray:
    return _ratio(n * both - said * true, np.sqrt(said * (n - said) * true * (n - true)))


def _moments(said: np.ndarray, labels: np.ndarray) -> Columns:
    """Of both sides, moved to mean 0; a side that is constant but for rounding is all 0."""
    x, y = _centred(said), _centred(labels)
    return 1, x, y, x * x, y * y, x * y


def _rank_moments(said: np.ndarray, labels: np.ndarray) -> Columns:
    from scipy.stats import rankdata  # here: it takes a second to import

    # ranks of a constant side would not be constant if they were taken of rounding
    ranks = rankdata(np.where(_centred(said), said, 0.0), axis=-1)
    return _moments(ranks, rankdata(labels))


def _centred(values: np.ndarray) -> np.ndarray:
    size = np.maximum(1.0, np.abs(values).max(axis=-1, keepdims=True))
    constant = np.ptp(values, axis=-1, keepdims=True) <= 1e-6 * size
    return np.where(constant, 0.0, values - values.mean(axis=-1, keepdims=True))


def _pearson(n: np.ndarray, *sums: np.ndarray) -> np.ndarray:
    x, y, xx, yy, xy = sums
    return _ratio(n * xy - x * y, np.sqrt(np.maximum(0, n * xx - x * x) * (n * yy - y * y)))


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """0 where nothing stands below, as scikit-learn has it."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 1e-9)


# What is summed over rows, and the score of the sums.
METRICS: dict[str, tuple[Callable[..., Columns], Callable[..., np.ndarray]]] = {
    "accuracy": (_hits, _accuracy),
    "f1": (_confusion, _f1),
    "matthews": (_confusion, _matthews),
    "pearson": (_moments, _pearson),
    "spearman": (_rank_moments, _pearson),
}
