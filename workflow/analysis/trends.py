"""Trends: slopes over tasks and over layers, rank correlations, and how steady a curve is.

Where the layers or the updates are the places of a curve, the chance is that of seeds and rows. A
trend over the tasks' sizes is about tasks, of which there are a dozen: these are its sample. The
tasks scatter about the line for reasons of their own, and their scatter holds the chance of their
seeds and rows as well, so the regression's t interval over tasks covers all three. What a seed does
to all tasks alike moves the line and leaves its slope.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from workflow.analysis.uncertainty import LEVEL, POWER, Estimate, Sample, combine, estimate

LEAST_DECADES = 0.5  # between the smallest and the largest training set, for a trend over sizes
MOST_TASKS = 100


@dataclass(frozen=True)
class TaskTrend:
    """The slope of a line through tasks, its standard error and p-value with `n_tasks - 2` df."""

    value: float
    error: float
    p: float
    n_tasks: int
    n_seeds: int

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval over tasks; there is one with a single seed, too."""
        half = self.error * stats.t.ppf((1 + LEVEL) / 2, self.n_tasks - 2)
        return self.value - half, self.value + half

    def needs(self, distance: float, n_tests: int = 1) -> str:
        """How many tasks, spread over sizes as these are, would show a slope of `distance`.

        With a power of 80 %; more seeds or rows would leave the tasks' own scatter as it is.
        """
        level, power = 1 - (1 - LEVEL) / n_tests, stats.norm.ppf(POWER)
        for n in range(self.n_tasks + 1, MOST_TASKS + 1):
            quantile = stats.t.ppf((1 + level) / 2, n - 2)
            if (quantile + power) * self.error * np.sqrt(self.n_tasks / n) <= distance:
                return f"{n} tasks"
        return f"more than {MOST_TASKS} tasks"


def size_trend(samples: Sequence[Sample], n_rows: Sequence[int]) -> TaskTrend | None:
    """How much the tasks' values rise with ten times as many training rows; `n_rows` [tasks].

    None of fewer than three tasks, or where their sizes are within LEAST_DECADES.
    """
    logs = np.log10(n_rows)
    if len(samples) < 3 or np.ptp(logs) < LEAST_DECADES:
        return None
    line = stats.linregress(logs, [sample.value for sample in samples])
    n_seeds = min(sample.n_units for sample in samples)
    return TaskTrend(
        float(line.slope), float(line.stderr), float(line.pvalue), len(samples), n_seeds
    )


def slope(samples: Sequence[Sample], x: np.ndarray) -> Estimate | None:
    """The slope of the least-squares line through samples at the places `x`."""
    centred = x - x.mean()
    sample = combine(samples, list(centred / (centred @ centred)))
    return None if sample is None else estimate(sample)


def rank_trend(samples: Sequence[Sample]) -> Estimate | None:
    """Spearman's correlation of the mean curve with the order of its points.

    Its variance over seeds is that of the seeds' own curves, which are rougher than their mean.
    """
    zero = combine(samples, [0.0] * len(samples))
    if zero is None:
        return None
    aligned = [sample.at(zero.seeds) for sample in samples]
    curves = np.stack([sample.score for sample in aligned])  # [points, seeds]
    boot = np.stack([sample.boot.mean(axis=0) for sample in aligned])  # [points, resamples]
    rows = np.broadcast_to(spearman(boot.T), zero.boot.shape)
    found = estimate(replace(zero, score=spearman(curves.T), boot=rows))
    return replace(found, value=float(spearman(curves.mean(axis=1))))


def spearman(curves: np.ndarray) -> np.ndarray:
    """Spearman's correlation of curves [..., points] with their places; 0 of a flat one."""
    ranks = stats.rankdata(curves, axis=-1)
    ranks = ranks - ranks.mean(axis=-1, keepdims=True)
    places = np.arange(curves.shape[-1]) - (curves.shape[-1] - 1) / 2
    below = np.sqrt((ranks**2).sum(axis=-1) * (places**2).sum())
    return np.divide(ranks @ places, below, out=np.zeros(np.shape(below)), where=below > 0)


def ups_and_downs(curves: np.ndarray) -> float:
    """How far the curves [tasks, checkpoints] move beyond what takes them from start to end."""
    steps = np.diff(curves, axis=-1)
    return float((np.abs(steps).sum(axis=-1) - np.abs(steps.sum(axis=-1))).mean())


def by_seed(values: dict[int, float]) -> Sample | None:
    """A sample that varies over pre-training seeds alone; its rows are taken as given."""
    if not values:
        return None
    score = np.array(list(values.values()), dtype=float)
    return Sample(tuple(values), tuple(values), score, np.repeat(score[:, None], 2, axis=1), 1)
