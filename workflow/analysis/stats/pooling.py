"""The variance over seeds, pooled over the lines of the run.

With two or three seeds the variance of a single score over seeds is hardly known. So for a task, or
an average over tasks, it is pooled over the lines of the run of one kind: they have the same
architecture, and all of them start from language models, or none does. One part is the mean of
their variances, with half of the sum of their degrees of freedom but at least those of one line; a
contrast of two kinds has such a part for each. Another part is the excess of the score's own
variance over these. Every table, study and claim pools the lines of `Grid.is_pooled`, so that a
contrast has one interval; for a kind that the run does not have, a study pools its own lines. The
simulated coverage is in `docs/statistics.md`.

Where some fits of a line fail by chance, others may, on any task, even if no seed shows it. What
they would take off the score is no matter of variance: every interval of the line reaches lower by
the largest share of its fits that may fail (Clopper and Pearson 1934, Biometrika 26:404), as far as
it is not seen, times what a failed one loses. That of a cell with a failed fit is never narrower
than Welch's. Lines whose fits all fit are left alone.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np
from scipy.special import betaincinv

from workflow.analysis.stats.alarms import failed, fits
from workflow.analysis.stats.estimate import (
    LEVEL,
    Component,
    Estimate,
    estimate,
    half_width,
    numbers,
    welch,
)
from workflow.analysis.stats.sample import Sample, equally, mean_of, over_tasks

K = TypeVar("K", bound=Hashable)
Line = Mapping[Any, Sample | None]


@dataclass(frozen=True)
class Failing:
    """The failed fits of a line: how many of how many by task, and what they lose on average."""

    by_task: Mapping[Any, tuple[int, int]]
    loss: float

    def unseen(self, weights: Mapping[Any, float]) -> tuple[float, float]:
        """How far fits that may fail could take the sum over tasks by `weights` down, and up.

        The failures of a single task that has some are in the variance of its seeds.
        """
        whole = tuple(np.sum([*self.by_task.values()], axis=0))
        of = {name: self.by_task.get(name, whole) for name in weights}
        if len(weights) == 1:
            ((k, n),), (weight,) = of.values(), weights.values()
            lost = [0.0 if k else weight * _most(0, n)]
        else:
            most, pairs = _most(*whole), zip(weights.values(), of.values(), strict=True)
            lost = [weight * max(0.0, most - k / n) for weight, (k, n) in pairs]
        down, up = (sum(max(0.0, sign * one) for one in lost) for sign in (1, -1))
        return self.loss * down, self.loss * up


def _most(k: int, n: int) -> float:
    """The upper end of Clopper and Pearson's interval for a share, k of n."""
    return float(betaincinv(k + 1, n - k, (1 + LEVEL) / 2)) if k < n else 1.0


@dataclass(frozen=True)
class SeedPool:
    """The variance over seeds of a task or an average, pooled over the `lines` of a run.

    Each line maps tasks to samples.
    """

    lines: Sequence[Line] = ()

    def with_others(self, lines: Iterable[Line]) -> Self:
        """The pool with those of the given `lines` whose kinds it lacks."""
        known = set().union(*map(_kinds, self.lines))
        return type(self)([*self.lines, *(of for of in lines if not _kinds(of) & known)])

    @cached_property
    def failing(self) -> dict[object, Failing]:
        """The failed fits of each line that has some, by the tokens of its samples."""
        found: dict[object, Failing] = {}
        for line in self.lines:
            scores = {name: of.score for name, of in line.items() if of and of.n_units > 1}
            losses = [of.max() - of[failed(of)] for of in scores.values()]
            if len(lost := np.concatenate([*losses, np.empty(0)])):
                by_task = {name: (int(failed(of).sum()), len(of)) for name, of in scores.items()}
                tokens = [token for of in line.values() if of for _, token in of.weights]
                found |= dict.fromkeys(tokens, Failing(by_task, float(np.mean(lost))))
        return found

    def unseen(self, sample: Sample, weights: Mapping[Any, float]) -> tuple[float, float]:
        """How far failures that no seed shows may take `sample`, the sum over tasks by `weights`,
        down and up."""
        down = up = 0.0
        for (_, token), weight in sample.weights.items():
            if own := self.failing.get(token):
                ends = own.unseen({task: weight * of for task, of in weights.items()})
                down, up = down + ends[0], up + ends[1]
        return down, up

    def parts(self, sample: Sample, weights: Mapping[Any, float]) -> tuple[Component, ...]:
        """The parts of the variance over seeds of `sample`, the sum over tasks of `weights`.

        They are the pool's, or Welch's if seeds of a cell disagree and Welch's interval is wider.
        """
        pooled = self._pooled(sample, weights)
        if not fits(sample.raised):
            return pooled
        return max(pooled, (welch(sample),), key=lambda parts: half_width(parts, LEVEL))

    def _pooled(self, sample: Sample, weights: Mapping[Any, float]) -> tuple[Component, ...]:
        """The parts from the pool, and the excess of the sample's own variance over them.

        Only its own variance where one of its kinds has no line with several independent seeds, of
        pre-training or of fine-tuning as its own are, and where nothing varies at all.
        """
        own = Component(sample.seed_variance, sample.n_units - 1)
        if not own.df or not own.variance + sample.row_variance:
            return (own,)
        sums = [over_tasks(of, weights) for of in self.lines]
        alike = [one for one in sums if one and _pretrains(one) == _pretrains(sample)]
        pooled = []
        for kind, squares in sample.squares.items():
            mine = [one for one in alike if one.n_units > 1 and kind in one.squares]
            if not mine:
                return (own,)
            variance = float(np.mean([one.seed_variance / one.share for one in mine]))
            df = float(np.mean([one.n_units - 1 for one in mine])) * max(1.0, len(mine) / 2)
            pooled.append(Component(squares * sample.share * variance, df))
        excess = own.variance - sum(part.variance for part in pooled)
        return *pooled, Component(max(0.0, excess), own.df)


NO_POOL = SeedPool()


def _kinds(line: Line) -> set[str]:
    """The kinds of a line's samples; none if it was not run."""
    return {kind for sample in line.values() if sample for kind in sample.squares}


def _pretrains(sample: Sample) -> bool:
    """Whether the sample's independent seeds are those of pre-training."""
    return len(set(sample.pretrain)) > 1


def estimates(
    samples: Mapping[K, Sample | None],
    averages: Mapping[K, Sequence[K]] | None = None,
    seeds: SeedPool = NO_POOL,
) -> dict[K, Estimate]:
    """The estimates of a line or contrast on its tasks and averages; `seeds` is the run's pool.

    `averages` maps the name of a mean to its tasks. Means that lack a task are left out, as are
    tasks without a sample.
    """
    members = {**{key: [key] for key in samples}, **(averages or {})}
    found = {key: summed(samples, equally(of), seeds) for key, of in members.items()}
    return {key: one for key, one in found.items() if one}


def summed(
    samples: Mapping[K, Sample | None], weights: Mapping[K, float], seeds: SeedPool = NO_POOL
) -> Estimate | None:
    """The estimate of a line's or contrast's sum over tasks; None as in `over_tasks`."""
    total = over_tasks(samples, weights)
    if total is None:
        return None
    return estimate(total, seeds.parts(total, weights), seeds.unseen(total, weights))


def columns(
    samples: Mapping[K, Sample | None],
    averages: Mapping[K, Sequence[K]],
    seeds: SeedPool = NO_POOL,
    **differences: Mapping[K, Sample | None],
) -> dict[K, dict[str, Any]]:
    """The columns of a table for each task of a line and each of its `averages`.

    They are those of `numbers`, the number of `rows` that were resampled, and for each of the
    `differences` NAME, NAME_low, NAME_high and NAME_by_seed. Unknown numbers are NaN.
    """
    found = estimates(samples, averages, seeds)
    known = _with_means(samples, averages)
    rows = {
        key: {**numbers(of, found.get(key)), "rows": of.n_rows if of else np.nan}
        for key, of in known.items()
    }
    for name, of_tasks in differences.items():
        against, known = estimates(of_tasks, averages, seeds), _with_means(of_tasks, averages)
        for key, row in rows.items():
            one = against.get(key)
            low, high = one.interval if one else (np.nan, np.nan)
            row |= {name: one.value if one else np.nan, f"{name}_low": low, f"{name}_high": high}
            row[f"{name}_by_seed"] = tuple(of.score) if (of := known.get(key)) else ()
    return rows


def _with_means(
    samples: Mapping[K, Sample | None], averages: Mapping[K, Sequence[K]]
) -> dict[K, Sample | None]:
    return {**samples, **{label: mean_of(samples, names) for label, names in averages.items()}}
