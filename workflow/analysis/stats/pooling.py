"""How sure a score is, judged by what the seeds do to the run's other tasks and variants.

With two or three seeds the variance of a single score over them is hardly known, so it is pooled.

The variance of an average over tasks is pooled over the variants of a run (`SeedPool`). One part is
the mean of their variances, with half of (seeds - 1)(variants - 1) degrees of freedom;
another is the excess of the average's own variance over it. The simulated coverage of a contrast of
two of eight variants is 95 to 99 % where they vary alike, Gaussian or with fits that fail; where
one varies six times as much as all others, it is 88 % with two seeds and 92 % with more.

A single task's variance has three parts: its own over seeds, moderated by those of the other tasks
of the same variant or contrast (Smyth 2004, doi:10.2202/1544-6115.1027; never below its own); what
a seed does to all tasks at once, which is the variance of their average; and its variance over
rows. The coverage for one task is 95 % on average over the tasks. With two seeds a single task
whose scores vary six times as much as all others' is covered about 80 % of the time.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from workflow.analysis.stats.estimate import Component, Estimate, estimate, numbers
from workflow.analysis.stats.sample import Sample, average, combine, difference, mean_of

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class SeedPool:
    """What another seed does to an average over tasks, pooled over `variants` of a run.

    Each variant has a sample by task.
    """

    variants: Sequence[Mapping[Any, Sample | None]] = ()

    def parts(self, mean: Sample, names: Iterable[Any]) -> tuple[Component, ...]:
        """The parts of the variance over seeds of `mean`, the average of a contrast over `names`.

        Only its own where fewer than three variants have as many seeds as it, and where nothing
        varies at all: two constant answers are equal everywhere and show nothing.
        """
        names, own, f = list(names), mean.seed_variance, mean.n_units - 1
        means = [mean_of(samples, names) for samples in self.variants]
        alike = [one.seed_variance for one in means if one is not None and _alike(one, mean)]
        if len(alike) < 3 or not f or not own + mean.row_variance:
            return (Component(own, f),)
        pooled = Component(mean.squares * float(np.mean(alike)), f * (len(alike) - 1) / 2)
        return pooled, Component(max(0.0, own - pooled.variance), f)


NO_POOL = SeedPool()


def _alike(one: Sample, other: Sample) -> bool:
    """Whether two samples have as many seeds, of pre-training and in all."""
    return (len(set(one.pretrain)), len(one.seeds)) == (len(set(other.pretrain)), len(other.seeds))


@dataclass(frozen=True)
class Pool:
    """What the tasks of one variant, or of one contrast, say together about the seeds.

    `mean` is the average of the tasks, and `common` the parts of its variance over seeds: what a
    seed does to all tasks at once. `variance` and `df` are the prior of what it does to one task
    (Smyth's s0 squared and d0, by moments): `df` is infinite where the tasks differ no more than
    by chance, and falls towards 4 the more they differ; `most_df` is that of all tasks together.
    """

    mean: Sample
    common: tuple[Component, ...]
    variance: float
    df: float
    most_df: float

    @classmethod
    def of(cls, found: Mapping[Any, Sample | None], seeds: SeedPool = NO_POOL) -> "Pool | None":
        """The pool of the tasks' samples; None where fewer than three have two seeds or more."""
        several = {key: one for key, one in found.items() if one is not None and one.n_units > 1}
        samples = list(several.values())
        mean = average(samples)
        if len(samples) < 3 or mean is None or mean.n_units < 2:
            return None
        own = [combine([sample, mean], [1.0, -1.0]) for sample in samples]
        variances = np.array([one.seed_variance for one in own if one is not None])
        variances *= len(samples) / (len(samples) - 1)
        s0, f = float(variances.mean()), mean.n_units - 1
        spread = float((variances**2).mean()) / s0**2 * f / (f + 2) - 1 if s0 else 0.0
        d0 = 4 + 2 / spread if spread > 0 else np.inf
        shrunk = s0 * (d0 - 2) / d0 if np.isfinite(d0) else s0
        common = seeds.parts(mean, several)
        return cls(mean, common, shrunk, d0, f * (len(samples) - 1))

    def estimate(self, sample: Sample) -> Estimate:
        """The estimate of one task."""
        own = combine([sample, self.mean], [1.0, -1.0])
        if sample.n_units < 2 or own is None:
            return estimate(sample)
        f, variance = own.n_units - 1, own.seed_variance
        weight = f / (self.df + f)  # 0 where the prior is certain
        moderated = max(variance, (1 - weight) * self.variance + weight * variance)
        task = Component(moderated, max(f, min(self.df + f, self.most_df)))
        return estimate(sample, (task, *self.common))


def estimates(
    samples: Mapping[K, Sample | None],
    averages: Mapping[K, Sequence[K]] | None = None,
    seeds: SeedPool = NO_POOL,
) -> dict[K, Estimate]:
    """The estimates of the tasks of one variant or contrast, moderated by one another.

    `averages` names means over some of the tasks; one that lacks a task is left out, as are
    tasks without a sample. A mean over one task is that task's estimate. `seeds` are the variants
    of the run.
    """
    pool = Pool.of(samples, seeds)
    found = {key: one for key, of in samples.items() if (one := pooled(pool, of)) is not None}
    for label, members in (averages or {}).items():
        mean = mean_of(samples, members)
        if mean is not None:
            alone = len(members) == 1
            parts = seeds.parts(mean, members)
            found[label] = found[members[0]] if alone else estimate(mean, parts)
    return found


def pooled(pool: Pool | None, sample: Sample | None) -> Estimate | None:
    """The estimate of one task, by itself where there is no pool; None of no sample."""
    if sample is None:
        return None
    return pool.estimate(sample) if pool else estimate(sample)


def paired(
    samples: Mapping[K, Sample | None], base: Mapping[K, Sample | None]
) -> dict[K, Sample | None]:
    """The samples minus those of `base`, each paired by seed and by row."""
    return {key: difference(sample, base.get(key)) for key, sample in samples.items()}


def columns(
    samples: Mapping[K, Sample | None],
    averages: Mapping[K, Sequence[K]],
    seeds: SeedPool = NO_POOL,
    **differences: Mapping[K, Sample | None],
) -> dict[K, dict[str, Any]]:
    """The columns of a table on each task of a variant and on each of the `averages` of some.

    They are those of `numbers`, and for each of the `differences` NAME, NAME_low, NAME_high and
    NAME_by_seed, NaN where it is unknown.
    """
    found = estimates(samples, averages, seeds)
    known = _with_means(samples, averages)
    rows = {key: numbers(of, found.get(key)) for key, of in known.items()}
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
