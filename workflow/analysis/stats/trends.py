"""Trends: means and slopes over tasks, and how far a curve rises.

The slope of a line over tasks is a weighted sum of their scores (`slope_weights`), so it has the
chance of seeds and rows like any contrast, and speaks of these tasks alone. What the paper prints
has no seeds; there the tasks, a dozen at most, are the sample (`OverTasks`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from workflow.analysis.stats.estimate import LEVEL
from workflow.analysis.stats.sample import Sample


@dataclass(frozen=True)
class OverTasks:
    """A mean over tasks or the slope of a line over tasks, judged by Student's t over the tasks.

    `fitted`, the number of parameters, is 1 for a mean and 2 for a line. An `error` of 0 decides
    nothing.
    """

    value: float
    error: float
    n_tasks: int
    fitted: int
    n_seeds: int = 0

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval over tasks."""
        half = self._quantile(LEVEL) * (self.error or np.nan)
        return float(self.value - half), float(self.value + half)

    @property
    def p(self) -> float:
        """The two-sided p-value."""
        t = abs(self.value) / (self.error or np.nan)
        return float(2 * stats.t.sf(t, self.n_tasks - self.fitted))

    def within(self, margin: float, n: int = 1) -> bool:
        """Whether it is within `margin` of 0, by two one-sided tests at 5 %, or a share of `n`."""
        half = self._quantile(1 - 2 * (1 - LEVEL) / n) * (self.error or np.nan)
        return abs(self.value) + half < margin

    def needs(self, distance: float) -> str:
        """What would show an effect of `distance`: of printed numbers, nothing."""
        return ""

    def _quantile(self, level: float) -> float:
        return float(stats.t.ppf((1 + level) / 2, self.n_tasks - self.fitted))


def mean_over(values: Sequence[float]) -> OverTasks | None:
    """The mean of the tasks' values [tasks]; None for fewer than three."""
    if len(values) < 3:
        return None
    return OverTasks(float(np.mean(values)), float(stats.sem(values)), len(values), fitted=1)


def line_over(values: Sequence[float], x: Sequence[float]) -> OverTasks | None:
    """How much the tasks' values [tasks] rise with `x` [tasks]; None for fewer than four."""
    if len(values) < 4:
        return None
    line = stats.linregress(x, values)
    return OverTasks(float(line.slope), float(line.stderr), len(values), fitted=2)


def slope_weights(x: Mapping[str, float]) -> dict[str, float]:
    """The weight of each task's value in the least-squares slope along `x`, which differs."""
    from_mean = np.array([*x.values()]) - np.mean([*x.values()])
    return dict(zip(x, from_mean / (from_mean @ from_mean), strict=True))


def rise(curve: np.ndarray) -> float:
    """How far the least-squares line through a curve [checkpoints] rises along all of it.

    Checkpoints are taken to be equally far apart, as they nearly are on a scale of logarithms.
    """
    return float(np.polyfit(np.arange(len(curve)), curve, 1)[0] * (len(curve) - 1))


def ups_and_downs(curves: np.ndarray) -> float:
    """How far the curves [tasks, checkpoints] move beyond their net change, averaged over tasks."""
    steps = np.diff(curves, axis=-1)
    return float((np.abs(steps).sum(axis=-1) - np.abs(steps.sum(axis=-1))).mean())


def by_seed(values: dict[int, float]) -> Sample | None:
    """A sample that varies only over pre-training seeds; its rows are taken as given."""
    if not values:
        return None
    score = np.array(list(values.values()), dtype=float)
    return Sample(tuple(values), tuple(values), score, np.repeat(score[:, None], 2, axis=1), 1)
