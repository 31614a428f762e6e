"""How sure the score of one task is, judged by what the seeds do to all tasks.

With two or three seeds the variance of a single task over them is hardly known. The parts of its
interval are that variance, moderated by those of the other tasks of the same variant or contrast
(Smyth 2004, doi:10.2202/1544-6115.1027; never below its own); what the seed does to all tasks at
once, seen in their average; and its variance over rows.

Coverage for one task is 95 % on average over the tasks. With two seeds a single task whose scores
vary six times as much as all others' is covered about 80 % of the time.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from workflow.analysis.stats.estimate import (
    Component,
    Estimate,
    Sample,
    average,
    combine,
    difference,
    estimate,
    mean_of,
    numbers,
    with_parts,
)

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class Pool:
    """What the tasks of one variant, or of one contrast, say together about the seeds.

    `mean` is the average of the tasks, whose variance over seeds is that of what a seed does to
    all tasks at once. `variance` and `df` are the prior of what it does to one task (Smyth's s0
    squared and d0, by moments): `df` is infinite where the tasks differ no more than chance makes
    them, and falls towards 4 the more they do; `most_df` is all there is.
    """

    mean: Sample
    variance: float
    df: float
    most_df: float

    @classmethod
    def of(cls, found: Iterable[Sample | None]) -> "Pool | None":
        """The pool of the tasks' samples; None where fewer than three have two seeds or more."""
        samples = [sample for sample in found if sample is not None and sample.n_units > 1]
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
        return cls(mean, shrunk, d0, f * (len(samples) - 1))

    def estimate(self, sample: Sample) -> Estimate:
        """The estimate of one task."""
        own = combine([sample, self.mean], [1.0, -1.0])
        if sample.n_units < 2 or own is None:
            return estimate(sample)
        f, variance = own.n_units - 1, own.seed_variance
        weight = f / (self.df + f)  # 0 where the prior is certain
        moderated = max(variance, (1 - weight) * self.variance + weight * variance)
        task = Component(moderated, max(f, min(self.df + f, self.most_df)))
        return with_parts(sample, (task, Component(self.mean.seed_variance, f)))


def estimates(
    samples: Mapping[K, Sample | None], averages: Mapping[K, Sequence[K]] | None = None
) -> dict[K, Estimate]:
    """The estimates of the tasks of one variant or contrast, moderated by one another.

    `averages` names means over some of the tasks; one that lacks a task is left out, as are
    tasks without a sample. A mean over one task is that task's estimate.
    """
    pool = Pool.of(samples.values())
    found = {key: pooled(pool, one) for key, one in samples.items() if one is not None}
    for label, members in (averages or {}).items():
        mean = mean_of(samples, members)
        if mean is not None:
            found[label] = found[members[0]] if len(members) == 1 else estimate(mean)
    return found


def pooled(pool: Pool | None, sample: Sample) -> Estimate:
    """The estimate of one task, by itself where there is no pool."""
    return pool.estimate(sample) if pool else estimate(sample)


def paired(
    samples: Mapping[K, Sample | None], base: Mapping[K, Sample | None]
) -> dict[K, Sample | None]:
    """The samples minus those of `base`, each paired by seed and by row."""
    return {key: difference(sample, base.get(key)) for key, sample in samples.items()}


def columns(
    samples: Mapping[K, Sample | None],
    averages: Mapping[K, Sequence[K]],
    **differences: Mapping[K, Sample | None],
) -> dict[K, dict[str, Any]]:
    """The columns of a table on each task of a variant and on each of the `averages` of some.

    They are those of `numbers`, and for each of the `differences` NAME, NAME_low and NAME_high,
    NaN where it is unknown.
    """
    found = estimates(samples, averages)
    means = {label: mean_of(samples, members) for label, members in averages.items()}
    rows = {key: numbers(of, found.get(key)) for key, of in {**samples, **means}.items()}
    for name, of_tasks in differences.items():
        against = estimates(of_tasks, averages)
        for key, row in rows.items():
            one = against.get(key)
            low, high = one.interval if one else (np.nan, np.nan)
            row |= {name: one.value if one else np.nan, f"{name}_low": low, f"{name}_high": high}
    return rows
