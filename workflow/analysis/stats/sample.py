"""A score by seed and on resampled rows, and sums of such scores.

A score has two sources of chance: the seeds (of pre-training, and of fine-tuning within it) and the
rows that happen to be in the evaluation set. A `Sample` has the score of each seed on all rows, and
again on many resamples of the rows, which are the same for every seed and every cell of a task (the
multi-bootstrap of Sellam et al. 2022, arXiv:2106.16163). So a difference of two samples is paired
by seed and by row.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import chain
from typing import Any

import numpy as np

ANY = -np.inf, np.inf
Heads = Mapping[str, "Sample | None"]  # the headline score of each task
Scores = Mapping[tuple[str, str], Heads]  # by line and value of a study


def weight_of(kind: str) -> dict[tuple[str, object], float]:
    """The `weights` of a single line's sample."""
    return {(kind, object()): 1.0}


@dataclass(frozen=True)
class Sample:
    """A score, or a weighted sum of scores, by seed.

    `score` [seeds] is on all rows, `boot` [seeds, resamples] on resampled rows (NaN where no
    predictions are kept). `pretrain` [seeds] has the pre-training seed that each fine-tuning seed
    started from. `n_rows` counts the rows (or texts that rows share) that were resampled. The
    metric's values lie within `limits`. For each seed, `alarms` has a text for each run behind the
    score, its names joined by semicolons, and `train_tokens` the tokens that these runs trained on.

    `weights` are those of the lines in the sum, by the line's kind (architecture, and whether it
    starts from a language model) and a token that identifies the line; if a line's `share` differs
    from the sum's, its weight is scaled by the square root of their ratio. In a difference, `taken`
    [seeds] is the score that was subtracted, so its two sides are `score` + `taken` and `taken`.
    """

    seeds: tuple[int, ...]
    pretrain: tuple[int, ...]
    score: np.ndarray
    boot: np.ndarray
    n_rows: int
    limits: tuple[float, float] = ANY
    majority: float = np.nan
    bag_of_words: float = np.nan
    train_tokens: Mapping[int, float] = field(default_factory=dict)
    alarms: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    weights: Mapping[tuple[str, object], float] = field(default_factory=lambda: weight_of(""))
    taken: np.ndarray | float = 0.0

    @property
    def squares(self) -> dict[str, float]:
        """By kind, the sum of the squared weights of its lines."""
        found: dict[str, float] = {}
        for (kind, _), weight in self.weights.items():
            found[kind] = found.get(kind, 0.0) + weight**2
        return found

    @property
    def value(self) -> float:
        """The mean over seeds."""
        return float(self.score.mean())

    @property
    def units(self) -> tuple[int, ...]:
        """The independent seeds: of pre-training, or of fine-tuning if they share one model."""
        return self.pretrain if len(set(self.pretrain)) > 1 else self.seeds

    @property
    def n_units(self) -> int:
        """How many independent seeds there are."""
        return len(set(self.units))

    @cached_property
    def share(self) -> float:
        """The mean's variance as a fraction of one unit's: 1 / n for n units with equal seeds."""
        return sum((n / len(self.units)) ** 2 for n in Counter(self.units).values())

    @property
    def seed_variance(self) -> float:
        """The variance of the mean over seeds, of `n_units - 1` degrees of freedom; NaN for one."""
        return self._over_units(self.score)

    @property
    def side_variances(self) -> np.ndarray:
        """The variance over seeds of each side of a difference by itself, without pairing."""
        taken = np.broadcast_to(self.taken, self.score.shape)
        return np.array([self._over_units(self.score + taken), self._over_units(taken)])

    def _over_units(self, values: np.ndarray) -> float:
        if self.n_units < 2:
            return float("nan")
        _, unit, n = np.unique(self.units, return_inverse=True, return_counts=True)
        return float((np.bincount(unit, values) / n).var(ddof=1) * self.share)

    @property
    def row_variance(self) -> float:
        """The variance of the mean over seeds that comes from the rows."""
        return float(self.boot.mean(axis=0).var(ddof=1)) * self.n_rows / max(1, self.n_rows - 1)

    @property
    def raised(self) -> str:
        """The alarms of the runs behind the score: `name:raised/runs`, joined by semicolons."""
        texts = [text for seed in self.seeds for text in self.alarms.get(seed, ())]
        names = Counter(chain.from_iterable(text.split(";") for text in texts))
        return ";".join(f"{name}:{n}/{len(texts)}" for name, n in sorted(names.items()) if name)

    def at(self, seeds: Sequence[int]) -> "Sample":
        """The sample at some of its seeds, in the order given."""
        positions = [self.seeds.index(seed) for seed in seeds]
        return replace(
            self,
            seeds=tuple(seeds),
            pretrain=tuple(self.pretrain[position] for position in positions),
            score=self.score[positions],
            boot=self.boot[positions],
            taken=np.broadcast_to(self.taken, self.score.shape)[positions],
        )


def combine(samples: Sequence[Sample], weights: Sequence[float]) -> Sample | None:
    """The sum of `weights` times `samples` at the seeds they share; None if they share none.

    The seeds are in the order of the first sample, that in which they start from the models.
    Its limits are what the sum can reach; tokens and alarms are those of all runs together. Its
    pre-training seeds are those of the sample with the fewest, ignoring samples with only one: with
    two models of shuffled books behind three fine-tuning seeds, there are two independent seeds.
    """
    shared = reduce(set.intersection, (set(sample.seeds) for sample in samples))
    if not shared:
        return None
    seeds = [seed for seed in samples[0].seeds if seed in shared]
    aligned = [sample.at(seeds) for sample in samples]

    def total(values: Sequence[Any]) -> Any:
        return sum(w * value for w, value in zip(weights, values, strict=True))

    several = [of.pretrain for of in aligned if len(set(of.pretrain)) > 1]
    pairs = list(zip(aligned, weights, strict=True))
    # A weight of 0, as in a slope, makes no use of limits, which may be infinite.
    ends = [of.limits[::-1] if w < 0 else of.limits if w else (0.0, 0.0) for of, w in pairs]
    whole = Sample(
        aligned[0].seeds,
        min(several, key=lambda of: len(set(of)), default=aligned[0].pretrain),
        total([sample.score for sample in aligned]),
        total([sample.boot for sample in aligned]),
        min(sample.n_rows for sample in aligned),
        (total([low for low, _ in ends]), total([high for _, high in ends])),
        total([sample.majority for sample in aligned]),
        total([sample.bag_of_words for sample in aligned]),
        {seed: sum(of.train_tokens.get(seed, np.nan) for of in aligned) for seed in seeds},
        {seed: tuple(chain(*(of.alarms.get(seed, ()) for of in aligned))) for seed in seeds},
        taken=total([of.taken if w > 0 else -of.score - of.taken for of, w in pairs]),
    )
    parts: dict[tuple[str, object], float] = {}
    for of, w in pairs:
        scale = w * math.sqrt(of.share / whole.share)
        for line, own in of.weights.items():
            parts[line] = parts.get(line, 0.0) + scale * own
    return replace(whole, weights=parts)


def difference(a: Sample | None, b: Sample | None) -> Sample | None:
    """`a` minus `b`, paired by seed and by row; None if either is, or if they share no seed."""
    return None if a is None or b is None else combine([a, b], [1.0, -1.0])


def over_tasks(samples: Mapping[Any, Sample | None], weights: Mapping[Any, float]) -> Sample | None:
    """The sum of a line or contrast over the tasks of `weights`, within each seed.

    None if one of them has no sample, if they share no seed, or if there is no task.
    """
    known = [of for name in weights if (of := samples.get(name)) is not None]
    if not known or len(known) < len(weights):
        return None
    if [*weights.values()] == [1.0]:
        return known[0]
    total = combine(known, list(weights.values()))
    return total and replace(total, weights=known[0].weights)  # every task has the same lines


def equally(names: Iterable[Any]) -> dict[Any, float]:
    """The weights of the mean over some tasks."""
    found = list(names)
    return {name: 1.0 / len(found) for name in found}


def average(samples: Iterable[Sample | None]) -> Sample | None:
    """The unweighted mean of several tasks, within each seed; None as in `over_tasks`."""
    found = dict(enumerate(samples))
    return over_tasks(found, equally(found))


def mean_of(samples: Mapping[Any, Sample | None], names: Iterable[Any]) -> Sample | None:
    """The mean over the tasks `names`; None if one of them has no sample."""
    return over_tasks(samples, equally(names))
