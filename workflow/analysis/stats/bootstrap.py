"""Scores on resampled rows: a task's own metric, recomputed on each resample without a loop.

Every metric here is a function of sums over rows (of hits, or of x, y, xx, yy, xy), so the score of
a resample needs only the sums weighted by how often each row was drawn. Rows that share a text are
drawn together, as one unit. With more than `MOST_UNITS` units, random blocks of them are drawn
instead, which leaves the variance unchanged.
"""

import functools
import zlib
from collections.abc import Callable

import numpy as np

from tasks.metrics import COUNTED, METRICS, Columns, centred, ranks, ratio

N_RESAMPLES = 1000
MOST_UNITS = 2000
MEAN = "mean"  # the metric of rows that already have scores, 0 to 1


def resample(
    metric: str, predictions: np.ndarray, labels: np.ndarray, units: np.ndarray, name: str
) -> tuple[np.ndarray, np.ndarray, int]:
    """The scores, 0 to 100, on all rows [seeds] and on resampled rows [seeds, N_RESAMPLES].

    `predictions` [seeds, rows] and `labels` [rows] are as `tasks.metrics.score` takes them; for the
    metric MEAN, `predictions` are the scores of the rows. `units` [rows] numbers from 0 the text
    that each row is drawn with. The same `name` (a task's split) draws the same units every time.
    Also returns the number of units. Spearman's correlation uses the ranks among all rows.
    """
    columns, of_sums = SUMMED[metric]
    seeds, n_texts = len(predictions), int(units.max()) + 1
    of_rows = [
        np.broadcast_to(values, predictions.shape) for values in columns(labels, predictions)
    ]
    rows = np.stack(of_rows, axis=-1).astype(float)  # [seeds, rows, k]
    n, k = min(n_texts, MOST_UNITS), len(of_rows)
    sums = np.zeros((n, seeds * k))  # of each unit
    np.add.at(sums, blocks(name, n_texts)[units], rows.swapaxes(0, 1).reshape(-1, seeds * k))
    drawn = (times_drawn(name, n) @ sums).reshape(-1, seeds, k).swapaxes(0, 1)
    score = METRICS.get(metric, _mean)
    whole = np.array([score(labels, said) for said in predictions])
    return 100.0 * whole, 100.0 * of_sums(*np.moveaxis(drawn, -1, 0)), n_texts


def blocks(name: str, n_texts: int) -> np.ndarray:
    """The number [n_texts] of the block, of at most MOST_UNITS, that each text is drawn with."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    return rng.permutation(n_texts) % MOST_UNITS


@functools.lru_cache(maxsize=32)
def times_drawn(name: str, n: int) -> np.ndarray:
    """How often each of n units is drawn in each resample [N_RESAMPLES, n]."""
    rng = np.random.default_rng(zlib.crc32(f"rows of {name}".encode()))
    drawn = rng.integers(n, size=(N_RESAMPLES, n)) + n * np.arange(N_RESAMPLES)[:, None]
    return np.bincount(drawn.ravel(), minlength=n * N_RESAMPLES).reshape(N_RESAMPLES, n) * 1.0


def _mean(_: np.ndarray, scores: np.ndarray) -> float:
    return float(scores.mean())


def _moments(labels: np.ndarray, predictions: np.ndarray) -> Columns:
    """The columns 1, x, y, xx, yy, xy of both sides, centred."""
    x, y = (np.apply_along_axis(centred, -1, side) for side in (predictions, labels))
    return 1, x, y, x * x, y * y, x * y


def _rank_moments(labels: np.ndarray, predictions: np.ndarray) -> Columns:
    return _moments(ranks(labels), np.array([*map(ranks, predictions)]))


def _pearson(n: np.ndarray, *sums: np.ndarray) -> np.ndarray:
    x, y, xx, yy, xy = sums
    return ratio(n * xy - x * y, np.sqrt(_squares(n, x, xx) * _squares(n, y, yy)))


def _squares(n: np.ndarray, x: np.ndarray, xx: np.ndarray) -> np.ndarray:
    """n times the sum of squares about the mean; 0 if it is but rounding, for x all equal."""
    found = n * xx - x * x
    return np.where(found > 1e-12 * n * xx, found, 0.0)


# By metric: the columns to sum over rows, and the score as a function of the sums.
SUMMED: dict[str, tuple[Callable[..., Columns], Callable[..., np.ndarray]]] = {
    **COUNTED,
    "pearson": (_moments, _pearson),
    "spearman": (_rank_moments, _pearson),
    MEAN: (lambda labels, scores: (scores, 1), np.divide),
}
