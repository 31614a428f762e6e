"""The variance over seeds, pooled over the lines of the run.

With two or three seeds the variance of a single score over seeds is hardly known. So for a task, or
an average over tasks, it is pooled over the lines of the run that have the same architecture. One
part is the mean of their variances, with half of the sum of their degrees of freedom but at least
those of one line; a contrast of two architectures has such a part for each. Another part is the
excess of the score's own variance over these. Every table, study and claim pools the lines of
`Grid.is_pooled`, so that a contrast has one interval; for an architecture that the run does not
have, a study pools its own lines. The simulated coverage is in `docs/statistics.md`.

Where fits of an architecture fail by chance on one task, they may fail on any, even if two or three
seeds do not show it. So no task's part is then smaller than the mean over all tasks and lines of
the architecture, with Satterthwaite's degrees of freedom (1946, Biometrics Bulletin 2:110), which
are few if a few cells dominate the mean. The interval of a contrast with such a cell is never
narrower than Welch's.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np

from workflow.analysis.stats.alarms import fits
from workflow.analysis.stats.estimate import (
    LEVEL,
    Component,
    Estimate,
    estimate,
    half_width,
    numbers,
    welch,
)
from workflow.analysis.stats.sample import Sample, mean_of

NOTHING = Component(0.0, 0.0)
K = TypeVar("K", bound=Hashable)
Line = Mapping[Any, Sample | None]


@dataclass(frozen=True)
class SeedPool:
    """The variance over seeds of a task or an average, pooled over the `lines` of a run.

    Each line maps tasks to samples.
    """

    lines: Sequence[Line] = ()

    def with_others(self, lines: Iterable[Line]) -> Self:
        """The pool with those of the given `lines` whose architectures it lacks."""
        known = set().union(*map(_archs, self.lines))
        return type(self)([*self.lines, *(of for of in lines if not _archs(of) & known)])

    @cached_property
    def failing(self) -> dict[str, Component]:
        """For architectures with a failed fit, the mean over cells of the variance of one seed."""
        found = {}
        for arch in set().union(*map(_archs, self.lines)):
            every = [of for line in self.lines for of in line.values() if of and arch in of.squares]
            cells = [of for of in every if of.n_units > 1]
            if any(fits(of.raised) for of in cells):
                each = np.array([of.seed_variance / of.share for of in cells])
                df = np.mean([of.n_units - 1 for of in cells]) * each.sum() ** 2 / (each**2).sum()
                found[arch] = Component(float(each.mean()), float(df))
        return found

    def parts(self, sample: Sample, names: Iterable[Any]) -> tuple[Component, ...]:
        """The parts of the variance over seeds of `sample`, a contrast averaged over tasks `names`.

        They are the pool's, or Welch's if seeds of a cell disagree and Welch's interval is wider.
        """
        pooled = self._pooled(sample, names)
        if not fits(sample.raised):
            return pooled
        return max(pooled, (welch(sample),), key=lambda parts: half_width(parts, LEVEL))

    def _pooled(self, sample: Sample, names: Iterable[Any]) -> tuple[Component, ...]:
        """The parts from the pool, and the excess of the sample's own variance over them.

        Only its own variance where an architecture has no line with several seeds of the same kind
        (of pre-training or fine-tuning), and where nothing varies at all: two constant answers are
        equal everywhere and show nothing.
        """
        names, own = list(names), Component(sample.seed_variance, sample.n_units - 1)
        if not own.df or not own.variance + sample.row_variance:
            return (own,)
        means = [mean_of(of, names) for of in self.lines]
        alike = [one for one in means if one and _pretrains(one) == _pretrains(sample)]
        pooled = []
        for arch, squares in sample.squares.items():
            mine = [one for one in alike if one.n_units > 1 and arch in one.squares]
            if not mine:
                return (own,)
            variance = float(np.mean([one.seed_variance / one.share for one in mine]))
            df = float(np.mean([one.n_units - 1 for one in mine])) * max(1.0, len(mine) / 2)
            least = self.failing.get(arch, NOTHING)
            if least.variance / len(names) > variance:
                variance, df = least.variance / len(names), least.df
            pooled.append(Component(squares * sample.share * variance, df))
        excess = own.variance - sum(part.variance for part in pooled)
        return *pooled, Component(max(0.0, excess), own.df)


NO_POOL = SeedPool()


def _archs(line: Line) -> set[str]:
    """The architectures of a line's samples; none if it was not run."""
    return {arch for sample in line.values() if sample for arch in sample.squares}


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
    means = {key: mean_of(samples, names) for key, names in members.items()}
    return {
        key: estimate(mean, seeds.parts(mean, members[key]))
        for key, mean in means.items()
        if mean is not None
    }


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
