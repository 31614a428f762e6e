"""How sure a score is, judged by what the seeds do to the other variants of the run.

With two or three seeds the variance of a single score over them is hardly known, so that of a task,
and of an average over tasks, is pooled over the variants of a run. One part is the mean of their
variances, with half of the sum of their degrees of freedom, less those of one; another is the
excess of the score's own variance over it. The simulated coverage of a contrast of two of eight
variants is 95 to 99 % where they vary alike, Gaussian or with fits that fail; where one varies six
times as much as all others, it is 88 % with two seeds and 92 % with more.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from workflow.analysis.stats.estimate import Component, Estimate, estimate, numbers
from workflow.analysis.stats.sample import Sample, difference, mean_of

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class SeedPool:
    """What another seed does to a task or to an average, pooled over `variants` of a run.

    Each variant has a sample by task.
    """

    variants: Sequence[Mapping[Any, Sample | None]] = ()

    def parts(self, sample: Sample, names: Iterable[Any]) -> tuple[Component, ...]:
        """The parts of the variance over seeds of `sample`, the average of a contrast over `names`.

        Only its own where fewer than three variants have several seeds of the same kind as it, and
        where nothing varies at all: two constant answers are equal everywhere and show nothing.
        """
        names, own = list(names), Component(sample.seed_variance, sample.n_units - 1)
        means = [mean_of(of, names) for of in self.variants]
        alike = [
            one
            for one in means
            if one is not None and one.n_units > 1 and _pretrains(one) == _pretrains(sample)
        ]
        if len(alike) < 3 or not own.df or not own.variance + sample.row_variance:
            return (own,)
        variance = float(np.mean([one.seed_variance / one.share for one in alike]))
        df = float(np.mean([one.n_units - 1 for one in alike])) * (len(alike) - 1) / 2
        pooled = Component(sample.squares * sample.share * variance, df)
        return pooled, Component(max(0.0, own.variance - pooled.variance), own.df)


NO_POOL = SeedPool()


def _pretrains(sample: Sample) -> bool:
    """Whether its independent seeds are those of pre-training."""
    return len(set(sample.pretrain)) > 1


def estimates(
    samples: Mapping[K, Sample | None],
    averages: Mapping[K, Sequence[K]] | None = None,
    seeds: SeedPool = NO_POOL,
) -> dict[K, Estimate]:
    """The estimates of the tasks of one variant or contrast; `seeds` are the variants of the run.

    `averages` names means over some of the tasks; one that lacks a task is left out, as are
    tasks without a sample.
    """
    members = {**{key: [key] for key in samples}, **(averages or {})}
    means = {key: mean_of(samples, names) for key, names in members.items()}
    return {
        key: estimate(mean, seeds.parts(mean, members[key]))
        for key, mean in means.items()
        if mean is not None
    }


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
