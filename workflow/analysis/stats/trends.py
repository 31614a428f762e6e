"""Trends: slopes over tasks and over layers, rank correlations, and how steady a curve is.

The slope over layers has the chance of seeds and rows. Whether a curve rises at all is judged
against curves in which nothing changes: of layers in any order (`RankTrend`), of checkpoints, which
follow from each other, by their changes (`rise`). A trend over the tasks' sizes is about tasks, of
which there are a dozen: these are its sample. They scatter about the line for reasons of their own,
and their scatter holds the chance of their seeds and rows as well, so the regression's t interval
over tasks covers all three. What a seed does to all tasks alike moves the line, not its slope.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from workflow.analysis.stats.estimate import (
    LEVEL,
    MOST_UNITS,
    POWER,
    Component,
    Estimate,
    Sample,
    combine,
    needed,
    with_parts,
)
from workflow.analysis.stats.pooling import NO_POOL, SeedPool

LEAST_DECADES = 0.5  # between the smallest and the largest training set, for a trend over sizes


@dataclass(frozen=True)
class Trend:
    """A slope over tasks, or a mean change of seeds, judged by Student's t over these `units`.

    Each of the `n_units` gives `each` degrees of freedom, of which the line takes `fitted`.
    """

    value: float
    error: float
    p: float
    n_seeds: int
    unit: str
    n_units: int
    each: int
    fitted: int

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval over tasks or changes; there is one with a single seed, too."""
        df = self.n_units * self.each - self.fitted
        half = self.error * stats.t.ppf((1 + LEVEL) / 2, df)
        return self.value - half, self.value + half

    def within(self, margin: float) -> bool:
        """Whether it is within `margin` of 0, by two one-sided tests at 5 %."""
        df = self.n_units * self.each - self.fitted
        return abs(self.value) + self.error * stats.t.ppf(LEVEL, df) < margin

    def needs(self, distance: float) -> str:
        """How many units that scatter as these do would show it; more rows change nothing."""

        def parts(n: int) -> list[Component]:
            variance = self.error**2 * self.n_units / n
            return [Component(variance, n * self.each - self.fitted)]

        return needed(self.unit, self.n_units + 1, parts, distance)


def size_trend(samples: Sequence[Sample], n_rows: Sequence[int]) -> Trend | None:
    """How much the tasks' values rise with ten times as many training rows; `n_rows` [tasks].

    None of fewer than three tasks, or where their sizes are within LEAST_DECADES.
    """
    logs, n = np.log10(n_rows), len(samples)
    if n < 3 or np.ptp(logs) < LEAST_DECADES:
        return None
    line = stats.linregress(logs, [sample.value for sample in samples])
    n_seeds = min(sample.n_units for sample in samples)
    return Trend(line.slope, line.stderr, line.pvalue, n_seeds, "tasks", n, each=1, fitted=2)


def rise(curves: Sequence[np.ndarray]) -> Trend | None:
    """How much the seeds' curves [points] change on average from point to point; None of no seed.

    The points of a curve that wanders where nothing drives it depend on each other and its changes
    do not, so these are the sample, and Student's t judges their mean.
    """
    if not curves:
        return None
    found, n = changes(curves), len(curves)
    error, p = stats.sem(found), stats.ttest_1samp(found, 0.0).pvalue
    return Trend(found.mean(), error, p, n, "seeds", n, each=len(found) // n, fitted=1)


def changes(curves: Sequence[np.ndarray]) -> np.ndarray:
    """The changes from point to point of all curves."""
    return np.concatenate([np.empty(0), *(np.diff(curve) for curve in curves)])


def slope(
    samples: Sequence[Sample],
    x: np.ndarray,
    seeds: SeedPool = NO_POOL,
    names: Sequence[str] = (),
) -> Estimate | None:
    """The slope of the least-squares line through samples at the places `x`.

    They are averages over the tasks `names`, whose chance of seeds is pooled over `seeds`.
    """
    centred = x - x.mean()
    sample = combine(samples, list(centred / (centred @ centred)))
    return None if sample is None else with_parts(sample, seeds.parts(sample, names))


@dataclass(frozen=True)
class RankTrend:
    """The mean over seeds of each curve's Spearman correlation with its places.

    Judged by Page's test (1963): where nothing changes along the curves, each order of a seed's
    `n_points` is equally likely. So two seeds whose curves happen to have the same correlation are
    no surer than two that differ. The test is linear in `value`, whose interval follows from it.
    """

    value: float
    p: float
    n_points: int
    n_seeds: int

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval, within -1 and 1; NaN of one seed, as that of any other estimate."""
        if self.n_seeds < 2:
            return float("nan"), float("nan")
        half = stats.norm.ppf((1 + LEVEL) / 2) / np.sqrt(self.n_seeds * (self.n_points - 1))
        return max(-1.0, self.value - half), min(1.0, self.value + half)

    def within(self, margin: float) -> bool:
        """Never: a correlation has no margin in points."""
        return False

    def needs(self, distance: float) -> str:
        """How many seeds would show a correlation of `distance` with a power of 80 %."""
        sure = stats.norm.ppf((1 + LEVEL) / 2) + stats.norm.ppf(POWER)
        n = max(2, int(np.ceil((sure / distance) ** 2 / (self.n_points - 1))))
        return f"{n} seeds" if n <= MOST_UNITS else f"more than {MOST_UNITS} seeds"


def rank_trend(samples: Sequence[Sample]) -> RankTrend | None:
    """How steadily the samples of a curve rise from one to the next; None if they share no seed.

    Seeds that start from one pre-training are one curve, that of their mean. The p-value is
    two-sided.
    """
    together = combine(samples, [0.0] * len(samples))
    if together is None:
        return None
    scores = np.stack([sample.at(together.seeds).score for sample in samples], axis=1)
    units = together.units
    curves = np.stack([scores[np.equal(units, unit)].mean(axis=0) for unit in sorted(set(units))])
    p = float("nan")
    if len(curves) > 1:
        one_sided = [stats.page_trend_test(ends).pvalue for ends in (curves, curves[:, ::-1])]
        p = min(1.0, 2 * float(min(one_sided)))
    return RankTrend(float(spearman(curves).mean()), p, len(samples), len(curves))


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
