"""The uncertainty of a score or contrast: 95 % intervals and p-values over seeds and rows.

There are many rows, so the bootstrap gives their variance. There are only few seeds, and resampling
them would give intervals that are much too narrow: with two seeds, half of all resamples hold one
of them twice. Their variance is therefore estimated directly and judged by Student's t with few
degrees of freedom. The parts, each with a variance and degrees of freedom, are combined by
Cochran's weighted quantile, sum(t_i v_i) / sum(v_i) (Cochran 1964, Biometrics 20:191), which keeps
its coverage with one degree of freedom, where Satterthwaite's falls to 87 %. Those of the seeds
include some of the rows' variance too, so intervals err on the wide side.

With five independent seeds or more, the variance over seeds is the score's own, paired by seed.
With fewer it is hardly known. So for a task, or an average over tasks, it is then pooled over the
variants of the run of one kind: they have the same architecture, and all of them start from
language models, or none does. One part is the mean of their variances, with half of the sum of
their degrees of freedom but at least those of one variant; a contrast of two kinds has such a part
for each. Another part is the excess of the score's own variance over these. Every table, study and
claim pools the variants of `Grid.is_pooled`, so that a contrast has one interval; for a kind that
the run does not have, a study pools its own. The simulated coverage is in `docs/statistics.md`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri, stdtrit

from workflow.analysis.stats.scores import Component, Score, total

LEVEL = 0.95
POWER = 0.8
MOST_SEEDS = 100  # that `needs` proposes
ENOUGH = 5  # independent seeds, with which a score's own variance over them is known
STEADIER = "training that varies less"
TaskScores = Mapping[Any, Score | None]  # by task


@dataclass(frozen=True)
class Estimate:
    """The mean of a score over its seeds, with the parts `seeds` of its variance over them."""

    score: Score
    seeds: tuple[Component, ...]

    @property
    def value(self) -> float:
        """The mean over seeds."""
        return self.score.value

    @property
    def n_seeds(self) -> int:
        """How many independent seeds there are."""
        return self.score.n_units

    @property
    def alarms(self) -> str:
        """The alarms of the runs behind it."""
        return self.score.raised

    @property
    def of_rows(self) -> "Estimate":
        """The same with the rows' variance alone: about these models, not about their training."""
        return replace(self, seeds=())

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval, clipped to the range of the metric.

        It reaches to the mean over all fits, so that no side gains by those of its own that failed.
        NaN for one seed, which says nothing about another.
        """
        low, high = np.clip(self._ends(LEVEL), *self.score.limits)
        return float(low), float(high)

    def _ends(self, level: float) -> tuple[float, float]:
        half, of_all = self.half(level), self.score.values.mean()
        low, high = np.minimum(self.value - half, of_all), np.maximum(self.value + half, of_all)
        return float(low), float(high)

    @property
    def p(self) -> float:
        """The two-sided p-value of "it is 0": 1 minus the level at which the interval touches 0.

        NaN where there is no interval.
        """
        if np.isnan(self.half(LEVEL)):
            return float("nan")

        def excess(log_p: float) -> float:
            return self.half(1 - np.exp(log_p)) - abs(self.value)

        if self.value * self.score.values.mean() < 0:
            return 1.0  # 0 lies between the mean over fits that have not failed, and over all
        smallest = np.log(1e-12)
        if excess(smallest) <= 0 or excess(0.0) >= 0:
            return 1e-12 if excess(smallest) <= 0 else 1.0
        return float(np.exp(brentq(excess, smallest, 0.0)))

    def within(self, margin: float, n: int = 1) -> bool:
        """Whether it is within `margin` of 0, by two one-sided tests at 5 %, or a share of `n`."""
        low, high = self._ends(1 - 2 * (1 - LEVEL) / n)
        return -margin < low and high < margin

    def half(self, level: float) -> float:
        """Half of the interval of a level.

        Where nothing varies over seeds or rows, as where every answer is right or two models answer
        alike, other rows may still tell: at most the share that Clopper and Pearson's bound allows,
        times the metric's range (of a difference, which is twice what a share of rows can make).
        """
        if self._is_constant:
            share = 1 - ((1 - level) / 2) ** (1 / self.score.n_rows)
            return float(share * np.subtract(*self.score.limits[::-1]))
        return half_width([*self.seeds, self.score.over_rows], level)

    @property
    def _is_constant(self) -> bool:
        """Whether resampled rows of a metric with limits vary over neither seeds nor rows."""
        variance = sum(part.variance for part in (*self.seeds, self.score.over_rows))
        has_limits = bool(np.isfinite(self.score.limits).all())
        return not variance and self.score.n_rows > 1 and has_limits

    def needs(self, distance: float) -> str:
        """How many seeds, and rows, would show an effect of `distance` with a power of 80 %."""
        if self.seeds and self.n_seeds < 2:
            return "2 seeds"
        if np.isnan(self.half(LEVEL)):
            return STEADIER if self.score.lost else "runs that differ"
        if not distance or self.value * self.score.values.mean() < 0:
            return STEADIER
        if self._is_constant:
            share = distance / np.subtract(*self.score.limits[::-1])
            return f"{_round_up(np.log((1 - LEVEL) / 2) / np.log(1 - share)):,} rows a task"
        rows, power = self.score.over_rows, ndtri(POWER)
        more = (ndtri((1 + LEVEL) / 2) + power) ** 2 * rows.variance / distance**2
        if not self.seeds:
            return f"{_round_up(max(1.0, more) * self.score.n_rows):,} rows a task"
        # The rows may take up half of the variance at which the effect still shows.
        more = max(1.0, 2 * more)
        rows = Component(rows.variance / more, rows.df * more)
        for n in range(self.n_seeds + (more == 1), MOST_SEEDS + 1):
            if self._least(n, rows) <= distance:
                n_rows = f" and {_round_up(more * self.score.n_rows):,} rows a task"
                return f"{n} seeds{n_rows if more > 1 else ''}"
        return STEADIER

    def decides(self, n: int) -> float:
        """The least difference that `n` seeds would show with a power of 80 %, on as many rows."""
        return self.half(LEVEL) if self._is_constant else self._least(n, self.score.over_rows)

    def _least(self, n: int, rows: Component) -> float:
        times, more_df = n / self.n_seeds, (n - 1) / (self.n_seeds - 1)
        seeds = [Component(of.variance / times, of.df * more_df) for of in self.seeds]
        return least([*seeds, rows])


@dataclass(frozen=True)
class SeedPool:
    """The variants of a run, by name, over which the variance over seeds is pooled."""

    variants: Mapping[str, TaskScores] = field(default_factory=dict)

    def with_others(self, variants: Mapping[str, TaskScores]) -> Self:
        """The pool with those of the given `variants` whose kinds it lacks."""
        known = set().union(*map(kinds, self.variants.values()))
        others = {name: of for name, of in variants.items() if not kinds(of) & known}
        return type(self)({**self.variants, **others})

    def estimate(
        self, variants: Sequence[tuple[float, TaskScores]], tasks: Mapping[Any, float]
    ) -> Estimate | None:
        """The estimate of a sum over variants and tasks, both with weights; None as in `total`."""
        weights = [weight for weight, _ in variants]
        by_task = (total([of.get(task) for _, of in variants], weights) for task in tasks)
        whole = total(by_task, tasks.values())
        if whole is None:
            return None
        alone: dict[object, tuple[float, Score]] = {}  # a variant may be in the sum twice
        for weight, variant in variants:
            if score := variant.get(next(iter(tasks))):
                before, _ = alone.get(score.variant, (0.0, score))
                alone[score.variant] = before + weight, score.at(whole.seeds)
        parts = self._pooled(whole, [*alone.values()], tasks)
        return Estimate(whole, parts)

    def _pooled(
        self, whole: Score, alone: Sequence[tuple[float, Score]], tasks: Mapping[Any, float]
    ) -> tuple[Component, ...]:
        """The parts from the pool, and the excess of the score's own variance over them.

        Only its own variance with `ENOUGH` seeds, where one of its kinds has no variant with
        several independent seeds, of pre-training or of fine-tuning as its own are, and where
        nothing varies at all.
        """
        own = whole.over_seeds
        if whole.n_units >= ENOUGH or not own.df or not own.variance + whole.over_rows.variance:
            return (own,)
        sums = [total(map(of.get, tasks), tasks.values()) for of in self.variants.values()]
        known = [of for of in sums if of and of.over_seeds.df]
        alike = [of for of in known if of.is_of_models == whole.is_of_models]
        pooled = []
        for kind in dict.fromkeys(score.kind for _, score in alone):
            mine = [one for one in alike if one.kind == kind]
            if not mine:
                return (own,)
            variance = float(np.mean([one.over_seeds.variance / one.share for one in mine]))
            df = float(np.mean([one.n_units - 1 for one in mine])) * max(1.0, len(mine) / 2)
            units = sum(weight**2 * score.share for weight, score in alone if score.kind == kind)
            pooled.append(Component(units * variance, df))
        excess = own.variance - sum(part.variance for part in pooled)
        return *pooled, Component(max(0.0, excess), own.df)


def kinds(variant: TaskScores) -> set[str]:
    """The kinds of a variant's scores; none if it was not run."""
    return {score.kind for score in variant.values() if score}


def numbers(found: Estimate | None) -> dict[str, Any]:
    """The columns of a table for an estimate; NaN and 0 seeds if there is none.

    `sd` (n-1), as the mean, is of fits that have not failed, NaN for one; `by_seed` are all scores
    in the order of the seeds.
    """
    if found is None:
        names = ("mean", "sd", "majority", "bag_of_words", "train_tokens", "ci_low", "ci_high")
        return {"n_seeds": 0, **dict.fromkeys(names, np.nan), "alarms": "", "by_seed": ()}
    score, (low, high) = found.score, found.interval
    return {
        "n_seeds": len(score.seeds),
        "mean": score.value,
        "sd": score.sd,
        "majority": score.majority,
        "bag_of_words": score.bag_of_words,
        "train_tokens": np.mean([score.train_tokens.get(s, np.nan) for s in score.seeds]),
        "ci_low": low,
        "ci_high": high,
        "alarms": found.alarms,
        "by_seed": tuple(score.values),
    }


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
    variance = variances.sum()
    if np.isnan(variance) or not variance:
        return float("nan")
    df = np.minimum([part.df for part in parts], 1e6)
    return float(stdtrit(df, (1 + level) / 2) @ variances / np.sqrt(variance))


def least(parts: Sequence[Component]) -> float:
    """The least difference that an interval of these parts shows with a power of 80 %."""
    error = np.sqrt(sum(part.variance for part in parts))
    return float(half_width(parts, LEVEL) + ndtri(POWER) * error) if error else 0.0


def _round_up(number: float) -> int:
    """A number rounded up to two digits: a plan needs no more."""
    step = 10 ** max(0, int(np.log10(max(1.0, number))) - 1)
    return int(np.ceil(number / step)) * step
