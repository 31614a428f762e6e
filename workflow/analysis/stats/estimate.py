"""The uncertainty of a score: 95 % intervals and p-values over seeds and rows.

A `Sample` has the scores of the seeds, on all rows and on resamples of them. There are many rows,
so the bootstrap gives their variance. There are only two or three seeds, and resampling them would
give intervals that are much too narrow: with two seeds, half of all resamples hold one of them
twice. Their variance is therefore estimated directly and judged by Student's t with few degrees of
freedom. The parts, each with a variance and degrees of freedom, are combined by Cochran's weighted
quantile, sum(t_i v_i) / sum(v_i) (Cochran 1964, Biometrics 20:191), which keeps its coverage with
one degree of freedom, where Satterthwaite's falls to 87 %. `workflow.analysis.stats.pooling`
explains the parts. Those of the seeds include some of the rows' variance too, so intervals err on
the wide side.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri, stdtrit

from workflow.analysis.stats.alarms import fits
from workflow.analysis.stats.sample import ANY, Sample

LEVEL = 0.95
POWER = 0.8
MOST_SEEDS = 100  # that `needs` proposes
STEADIER = "training that varies less"


@dataclass(frozen=True)
class Component:
    """One part of a variance, and the degrees of freedom of its estimate."""

    variance: float
    df: float


@dataclass(frozen=True)
class Estimate:
    """A value with the parts of its variance; `n_seeds` counts independent seeds.

    Unless `all_fit`, seeds of a cell behind it disagree, and it is never judged equal to 0. Fits
    that may fail, though no seed shows it, may take it down and up by `unseen`.
    """

    value: float
    seeds: tuple[Component, ...]
    rows: Component
    n_seeds: int
    n_rows: int
    limits: tuple[float, float] = ANY
    all_fit: bool = True
    unseen: tuple[float, float] = (0.0, 0.0)

    @property
    def parts(self) -> tuple[Component, ...]:
        """All parts of the variance."""
        return (*self.seeds, self.rows)

    @property
    def of_rows(self) -> "Estimate":
        """The same with the rows' variance alone: about these models, not about their training."""
        return replace(self, seeds=(), unseen=(0.0, 0.0))

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval, clipped to the range of the metric.

        NaN for one seed, which says nothing about another.
        """
        low, high = np.clip(self._ends(LEVEL), *self.limits)
        return float(low), float(high)

    def _ends(self, level: float) -> tuple[float, float]:
        half, (down, up) = self.half(level), self.unseen
        return self.value - half - down, self.value + half + up

    @property
    def p(self) -> float:
        """The two-sided p-value of "it is 0": 1 minus the level at which the interval touches 0.

        NaN where there is no interval.
        """
        if np.isnan(self.half(LEVEL)):
            return float("nan")
        towards_0 = self.unseen[0] if self.value > 0 else self.unseen[1]

        def excess(log_p: float) -> float:
            return self.half(1 - np.exp(log_p)) + towards_0 - abs(self.value)

        smallest = np.log(1e-12)
        if excess(smallest) <= 0 or excess(0.0) >= 0:
            return 1e-12 if excess(smallest) <= 0 else 1.0
        return float(np.exp(brentq(excess, smallest, 0.0)))

    def within(self, margin: float, n: int = 1) -> bool:
        """Whether it is within `margin` of 0, by two one-sided tests at 5 %, or a share of `n`."""
        low, high = self._ends(1 - 2 * (1 - LEVEL) / n)
        return self.all_fit and -margin < low and high < margin

    def half(self, level: float) -> float:
        """Half of the interval of a level, without failures that no seed shows.

        Where nothing varies over seeds or rows, as where every answer is right or two models answer
        alike, other rows may still tell: at most the share that Clopper and Pearson's bound allows,
        times the metric's range (of a difference, which is twice what a share of rows can make).
        """
        if self._is_constant:
            share = 1 - ((1 - level) / 2) ** (1 / self.n_rows)
            return float(share * np.subtract(*self.limits[::-1]))
        return half_width(self.parts, level)

    @property
    def _is_constant(self) -> bool:
        """Whether resampled rows of a metric with limits vary over neither seeds nor rows."""
        variance = sum(part.variance for part in self.parts)
        return not variance and self.n_rows > 1 and bool(np.isfinite(self.limits).all())

    def needs(self, distance: float) -> str:
        """How many seeds and rows would show an effect of size `distance`; see `needed`."""
        if self.seeds and self.n_seeds < 2:
            return "2 seeds"
        if np.isnan(self.half(LEVEL)):
            return "runs that differ"
        if not distance:
            return STEADIER
        if self._is_constant and not any(self.unseen):
            share = distance / np.subtract(*self.limits[::-1])
            return f"{_round_up(np.log((1 - LEVEL) / 2) / np.log(1 - share)):,} rows a task"
        sure = (ndtri((1 + LEVEL) / 2) + ndtri(POWER)) ** 2
        if not self.seeds:
            n = max(1.0, sure * self.rows.variance / distance**2) * self.n_rows
            return f"{_round_up(n):,} rows a task"
        # The rows may take up half of the variance at which the effect still shows.
        more = max(1.0, 2 * sure * self.rows.variance / distance**2)
        rows = Component(self.rows.variance / more, self.rows.df * more)

        def parts(n: int) -> list[Component]:
            times, more_df = n / self.n_seeds, (n - 1) / (self.n_seeds - 1)
            return [*(Component(of.variance / times, of.df * more_df) for of in self.seeds), rows]

        def unseen(n: int) -> float:
            return max(self.unseen) * np.sqrt(self.n_seeds / n)

        seeds = needed(self.n_seeds + (more == 1), parts, distance, unseen)
        if more == 1 or seeds == STEADIER:
            return seeds
        return f"{seeds} and {_round_up(more * self.n_rows):,} rows a task"


def needed(
    first: int,
    parts: Callable[[int], Sequence[Component]],
    distance: float,
    unseen: Callable[[int], float],
) -> str:
    """How many seeds, at least `first`, would show an effect of `distance`, as "4 seeds".

    `parts(n)` are the parts of the variance with `n` seeds, `unseen(n)` what their failures may
    hide. The power is 80 %.
    """
    for n in range(first, MOST_SEEDS + 1):
        error = np.sqrt(sum(part.variance for part in parts(n)))
        half = half_width(parts(n), LEVEL) if error else 0.0
        if half + unseen(n) + ndtri(POWER) * error <= distance:
            return f"{n} seeds"
    return STEADIER


def estimate(
    sample: Sample,
    seeds: tuple[Component, ...] = (),
    unseen: tuple[float, float] = (0.0, 0.0),
) -> Estimate:
    """The estimate of a sample whose variance over seeds has the parts `seeds`.

    Without these, the sample's own variance over seeds is the only part.
    """
    seeds = seeds or (Component(sample.seed_variance, sample.n_units - 1),)
    rows = Component(sample.row_variance, max(1, sample.n_rows - 1))
    sizes, all_fit = (sample.n_units, sample.n_rows), not fits(sample.raised)
    return Estimate(sample.value, seeds, rows, *sizes, sample.limits, all_fit, unseen)


def welch(sample: Sample) -> Component:
    """The variance over seeds of a difference's two sides, unpaired (Welch 1947, Biometrika 34:28).

    Equals that of `scipy.stats.ttest_ind` with `equal_var=False`, but also takes constant scores
    and models with unequal numbers of seeds.
    """
    sides = sample.side_variances
    total, df = float(sides.sum()), sample.n_units - 1
    return Component(total, float(df * total**2 / (sides**2).sum()) if total else df)


def numbers(sample: Sample | None, judged: Estimate | None = None) -> dict[str, Any]:
    """The columns of a table for a score; NaN and 0 seeds if it is unknown.

    `sd` (n-1) is NaN for one seed; `by_seed` are the scores in the order of the seeds.
    """
    low, high = judged.interval if judged else (np.nan, np.nan)
    names = ("mean", "sd", "majority", "bag_of_words", "train_tokens")
    row = {"n_seeds": 0, **dict.fromkeys(names, np.nan), "alarms": "", "by_seed": ()}
    if sample:
        row = {
            "n_seeds": len(sample.seeds),
            "mean": sample.value,
            "sd": float(sample.score.std(ddof=1)) if len(sample.seeds) > 1 else np.nan,
            "majority": sample.majority,
            "bag_of_words": sample.bag_of_words,
            "train_tokens": np.mean([sample.train_tokens.get(s, np.nan) for s in sample.seeds]),
            "alarms": sample.raised,
            "by_seed": tuple(sample.score),
        }
    return {**row, "ci_low": low, "ci_high": high}


def ratios(above: Sequence[float], below: Sequence[float]) -> tuple[float, ...]:
    """By seed, `above` over `below`, NaN where that is 0; empty if their lengths differ."""
    if len(above) != len(below):
        return ()
    return tuple(a / b if b else float("nan") for a, b in zip(above, below, strict=True))


def holm(p: Sequence[float]) -> np.ndarray:
    """Holm's adjusted p-values for a family of tests (Holm 1979); NaN stays NaN and is no test."""
    values = np.asarray(p, dtype=float)
    adjusted = np.full(values.shape, np.nan)
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(values[known], kind="stable")]
    steps = values[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted


def half_width(parts: Sequence[Component], level: float) -> float:
    """Half of an interval: Cochran's quantile times the standard error.

    NaN where a part is unknown, and where all variances are 0.
    """
    variances = np.array([part.variance for part in parts])
    total = variances.sum()
    if np.isnan(total) or not total:
        return float("nan")
    df = np.minimum([part.df for part in parts], 1e6)
    return float(stdtrit(df, (1 + level) / 2) @ variances / np.sqrt(total))


def _round_up(number: float) -> int:
    """A number rounded up to two digits: a plan needs no more."""
    step = 10 ** max(0, int(np.log10(max(1.0, number))) - 1)
    return int(np.ceil(number / step)) * step
