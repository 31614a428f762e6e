"""Trends: means and slopes over tasks, and how steadily a curve rises.

Each checkpoint of a curve depends on the one before, so whether the curve rises is judged by how
many of its steps do (`Steps`). They are the steps of the mean over seeds: data and schedule may act
on all seeds alike, so the steps of single seeds are not independent.

For a statement about tasks, the tasks, a dozen at most, are the sample (`OverTasks`). They scatter
about their mean, or about a line, for reasons of their own, and the scatter includes the chance of
their seeds and rows, so the t interval over tasks covers all three. An effect of a seed on all
tasks alike shifts a line but does not change its slope. A single outlying task may determine a
line, so a line is only as certain as it is without its most influential task (the jackknife's
replicates; Tukey 1958, Annals of Mathematical Statistics 29:614).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from workflow.analysis.stats.estimate import LEVEL, MOST_UNITS, POWER, Component, needed
from workflow.analysis.stats.sample import Sample


@dataclass(frozen=True)
class OverTasks:
    """A mean over tasks or the slope of a line over tasks, judged by Student's t over the tasks.

    `fitted`, the number of parameters, is 1 for a mean and 2 for a line. `left_out` are the lines
    with one task left out: the interval spans those of all lines, and p is the largest. An `error`
    of 0 decides nothing.
    """

    value: float
    error: float
    n_tasks: int
    fitted: int
    n_seeds: int = 0
    left_out: tuple["OverTasks", ...] = ()

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval over tasks, which exists even with a single seed."""
        half = self._quantile(LEVEL) * (self.error or np.nan)
        own = self.value - half, self.value + half
        lows, highs = zip(own, *(one.interval for one in self.left_out), strict=True)
        return float(np.min(lows)), float(np.max(highs))

    @property
    def p(self) -> float:
        """The two-sided p-value; 1 if leaving out a task changes the sign."""
        t = abs(self.value) / (self.error or np.nan)
        own = float(2 * stats.t.sf(t, self.n_tasks - self.fitted))
        turns = any(one.value * self.value < 0 for one in self.left_out)
        return 1.0 if turns else float(np.max([own, *(one.p for one in self.left_out)]))

    def within(self, margin: float) -> bool:
        """Whether it is within `margin` of 0, by two one-sided tests at 5 %."""
        half = self._quantile(2 * LEVEL - 1) * (self.error or np.nan)
        return abs(self.value) + half < margin

    def needs(self, distance: float) -> str:
        """How many tasks that scatter as these do would show it; more rows would not help."""

        def parts(n: int) -> list[Component]:
            return [Component(self.error**2 * self.n_tasks / n, n - self.fitted)]

        return needed("tasks", self.n_tasks + 1, parts, distance)

    def _quantile(self, level: float) -> float:
        return float(stats.t.ppf((1 + level) / 2, self.n_tasks - self.fitted))


def mean_over(values: Sequence[float]) -> OverTasks | None:
    """The mean of the tasks' values [tasks]; None for fewer than three."""
    if len(values) < 3:
        return None
    return OverTasks(float(np.mean(values)), float(stats.sem(values)), len(values), fitted=1)


def line_over(
    values: Sequence[float], x: Sequence[float], least: float = 0.0, n_seeds: int = 0
) -> OverTasks | None:
    """How much the tasks' values [tasks] rise with `x` [tasks].

    None for fewer than four tasks, or if their `x` span less than `least`.
    """
    if len(values) < 4 or np.ptp(x) < least:
        return None
    both = np.array([values, x])
    others = [_line(*np.delete(both, i, axis=1)) for i in range(len(values))]
    return replace(_line(*both), n_seeds=n_seeds, left_out=tuple(others))


def _line(values: np.ndarray, x: np.ndarray) -> OverTasks:
    """The slope of one line; NaN if all `x` are the same."""
    if not np.ptp(x):
        return OverTasks(np.nan, np.nan, len(values), 2)
    line = stats.linregress(x, values)
    return OverTasks(float(line.slope), float(line.stderr), len(values), 2)


@dataclass(frozen=True)
class Steps:
    """The share of the steps along a curve that rise, in %, judged by the sign test.

    If nothing drives a curve, a step rises half of the time, wherever the curve has wandered
    before. Steps without a change are not counted, as usual in this test: a score of 100 cannot
    rise (Dixon and Mood 1946, doi:10.1080/01621459.1946.10501898). The interval is the exact
    binomial one; if no step is left, it is the whole range.
    """

    n_rising: int
    n: int
    n_seeds: int

    @property
    def value(self) -> float:
        """The share of steps that rise, in %; 50 if no step changes, as many rise as fall."""
        return 100 * self.n_rising / self.n if self.n else 50.0

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval over steps, which exists even with a single seed."""
        if not self.n:
            return 0.0, 100.0
        ends = stats.binomtest(self.n_rising, self.n).proportion_ci(LEVEL)
        return 100 * ends.low, 100 * ends.high

    @property
    def p(self) -> float:
        """The two-sided p-value of "half of the steps rise"."""
        return float(stats.binomtest(self.n_rising, self.n).pvalue) if self.n else 1.0

    def needs(self, distance: float) -> str:
        """How many checkpoints would show a share `distance` from a half with a power of 80 %."""
        if not self.n:
            return "curves that change"
        sure = stats.norm.ppf((1 + LEVEL) / 2) + stats.norm.ppf(POWER)
        n = (sure * 50.0 / distance) ** 2 if distance else np.inf
        if n > MOST_UNITS:
            return f"more than {MOST_UNITS} checkpoints"
        return f"{max(self.n, int(np.ceil(n))) + 1} checkpoints"


def steps(curves: Sequence[np.ndarray]) -> Steps | None:
    """How steadily the mean of the seeds' curves [points] rises from point to point.

    None if there is no seed or only one point.
    """
    changes = np.diff(np.mean(curves, axis=0)) if len(curves) else np.empty(0)
    n_rising, n = int((changes > 0).sum()), int((changes != 0).sum())
    return Steps(n_rising, n, len(curves)) if len(changes) else None


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
