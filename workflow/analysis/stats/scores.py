"""A score by seed and on resampled rows, sums of such scores, and alarms over the seeds of a cell.

A score has two sources of chance: the seeds (of pre-training, and of fine-tuning within it) and the
rows that happen to be in the evaluation set. A `Score` has the value of each seed on all rows, and
again on many resamples of the rows, which are the same for every seed and every cell of a task (the
multi-bootstrap of Sellam et al. 2022, arXiv:2106.16163). So a difference of two scores is paired by
seed and by row. The alarms of a single run are in `gpt1.training.cell_files`.

Some fits fail by chance, and score as if nothing had been learnt. A mean over them and the others
describes neither, and one such fit hides every difference. So a score is that of the fits that have
not failed, beside which stands how many they are: two numbers in place of one. Where half of a
cell's fits or more have failed, that is what is to be told, and it is of all fits; so is whatever
it is compared with.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

ANY = -np.inf, np.inf
APART = 0.1  # of the metric's range: a fit so much below the best one may have failed
DISAGREE, BELOW = "seeds_disagree", "below_bag_of_words"
LEARNT_NOTHING = {"majority_rate", "not_fitted", "loss_not_falling", "constant_prediction"}
OF_SEEDS = DISAGREE, BELOW  # raised from all seeds of a cell, not from a run by itself


@dataclass(frozen=True)
class Component:
    """One part of a variance, and the degrees of freedom of its estimate."""

    variance: float
    df: float


@dataclass(frozen=True)
class Score:
    """A score, or a weighted sum of scores, by seed.

    `values` [seeds] are on all rows, `resampled` [seeds, resamples] on resampled rows (NaN where no
    predictions are kept). `pretrain` [seeds] has the pre-training seed that each fine-tuning seed
    started from. `n_rows` counts the rows (or texts that rows share) that were resampled. The
    metric's values lie within `limits`. For each seed, `alarms` has the names of those of each run
    behind the score, and `train_tokens` the tokens that these runs trained on.

    `variant` identifies the variant, and `kind` is its kind: its architecture, and whether it
    starts from a language model. Of a sum over variants they mean nothing.

    Where fits of a cell have `failed` [seeds], `others` are values and resampled values of those
    that have not (`of_fits`). Where half of a cell's fits or more have (`most_failed`), it is of
    all fits. A sum has `others` without `failed`.
    """

    seeds: tuple[int, ...]
    pretrain: tuple[int, ...]
    values: np.ndarray
    resampled: np.ndarray
    n_rows: int
    limits: tuple[float, float] = ANY
    kind: str = ""
    variant: object = field(default_factory=object)
    majority: float = np.nan
    bag_of_words: float = np.nan
    train_tokens: Mapping[int, float] = field(default_factory=dict)
    alarms: Mapping[int, tuple[Set[str], ...]] = field(default_factory=dict)
    failed: np.ndarray | None = None
    others: tuple[np.ndarray, np.ndarray] | None = None
    most_failed: bool = False

    @property
    def fitted(self) -> tuple[np.ndarray, np.ndarray]:
        """Values [seeds] and resampled values that have mean and variances of the fits."""
        every = self.values, self.resampled
        return every if self.others is None or self.most_failed else self.others

    def of_fits(self, failed: np.ndarray) -> "Score":
        """The score without the fits that have failed [seeds], if more have not.

        In `others` a failed fit is set to the mean of the others, which are set so much further
        apart that the mean over all seeds varies as that over the others does.
        """
        n, m = len(self.seeds), int((~failed).sum())
        if m == n or 2 * m <= n:
            return replace(self, failed=failed, others=None, most_failed=m < n)
        stretch = np.sqrt(n * (n - 1) / (m * (m - 1)))

        def apart(of: np.ndarray) -> np.ndarray:
            mean = of[~failed].mean(axis=0)
            found = mean + stretch * (of - mean)
            found[failed] = mean
            return np.asarray(found)

        others = apart(self.values), apart(self.resampled)
        return replace(self, failed=failed, others=others, most_failed=False)

    @property
    def value(self) -> float:
        """The mean over seeds."""
        return float(self.fitted[0].mean())

    @property
    def left(self) -> float:
        """The share of the fits that it is of."""
        return 1.0 if self.most_failed else 1 - self.lost

    @property
    def sd(self) -> float:
        """The standard deviation (n-1) of the fits that it is of; NaN for one."""
        n = len(self.seeds)
        return float(self.fitted[0].std(ddof=1) * np.sqrt(self.left)) if n > 1 else float("nan")

    @property
    def is_of_models(self) -> bool:
        """Whether its independent seeds are those of pre-training."""
        return len(set(self.pretrain)) > 1

    @property
    def units(self) -> tuple[int, ...]:
        """The independent seeds: of pre-training, or of fine-tuning if they share one model."""
        return self.pretrain if self.is_of_models else self.seeds

    @property
    def n_units(self) -> int:
        """How many independent seeds there are."""
        return len(set(self.units))

    @cached_property
    def share(self) -> float:
        """The mean's variance as a fraction of one unit's: 1 / n for n units with equal seeds."""
        return sum((n / len(self.units)) ** 2 for n in Counter(self.units).values())

    @property
    def over_seeds(self) -> Component:
        """The variance of the mean over seeds; NaN for one."""
        df = self.n_units * self.left - 1
        if df <= 0:
            return Component(float("nan"), 0.0)
        _, unit, n = np.unique(self.units, return_inverse=True, return_counts=True)
        variance = _variance(np.bincount(unit, self.fitted[0]) / n) * self.share
        return Component(variance, df)

    @cached_property
    def over_rows(self) -> Component:
        """The variance of the mean over seeds that comes from the rows."""
        variance = _variance(self.fitted[1].mean(axis=0))
        return Component(variance * self.n_rows / max(1, self.n_rows - 1), max(1, self.n_rows - 1))

    @property
    def runs(self) -> list[Set[str]]:
        """The alarms of each run behind the score."""
        return [*chain(*(self.alarms.get(seed, ()) for seed in self.seeds))]

    @property
    def raised(self) -> str:
        """The alarms of the runs behind the score: `name:raised/runs`, joined by semicolons."""
        names = sorted(Counter(chain(*self.runs)).items())
        return ";".join(f"{name}:{n}/{len(self.runs)}" for name, n in names)

    @property
    def lost(self) -> float:
        """The share of the runs behind it that have failed."""
        return sum(DISAGREE in run for run in self.runs) / max(1, len(self.runs))

    def at(self, seeds: Sequence[int]) -> "Score":
        """The score at some of its seeds, in the order given."""
        if tuple(seeds) == self.seeds:
            return self
        positions = [self.seeds.index(seed) for seed in seeds]
        found = replace(
            self,
            seeds=tuple(seeds),
            pretrain=tuple(self.pretrain[position] for position in positions),
            values=self.values[positions],
            others=self.others and (self.others[0][positions], self.others[1][positions]),
            resampled=self.resampled[positions],
        )
        return found if self.failed is None else found.of_fits(self.failed[positions])

    def of_side(self, side: "Score") -> float:
        """The mean of a side of this contrast, as it of all fits or of those that did not fail."""
        return float(side.values.mean()) if self.most_failed else side.value

    def minus(self, constant: float) -> "Score":
        """The score minus a number that is taken as given."""
        return replace(
            self,
            values=self.values - constant,
            others=self.others and (self.others[0] - constant, self.others[1] - constant),
            resampled=self.resampled - constant,
            limits=(self.limits[0] - constant, self.limits[1] - constant),
        )


def total(scores: Iterable[Score | None], weights: Iterable[float]) -> Score | None:
    """The sum of `weights` times `scores` at the seeds they share.

    None if there is no score, if one is None, or if they share no seed. The seeds are in the order
    of the first score, that in which they start from the models. Its limits are what the sum can
    reach; tokens and alarms are those of all runs together. Its pre-training seeds are those of the
    score with the fewest, ignoring scores with only one: with two models of shuffled books behind
    three fine-tuning seeds, there are two independent seeds.
    """
    given, of_each = list(scores), list(weights)
    known = [score for score in given if score]
    if not known or len(known) < len(given):
        return None
    if of_each == [1.0]:
        return known[0]
    seeds = [seed for seed in known[0].seeds if all(seed in score.seeds for score in known)]
    if not seeds:
        return None
    pairs = [(score.at(seeds), weight) for score, weight in zip(known, of_each, strict=True)]
    several = [of.pretrain for of, _ in pairs if of.is_of_models]
    # A weight of 0, as in a slope, makes no use of limits, which may be infinite.
    ends = [sorted(w * end for end in of.limits) if w else (0.0, 0.0) for of, w in pairs]

    def summed(name: str) -> Any:
        return sum(weight * getattr(score, name) for score, weight in pairs)

    def fitted(part: int) -> Any:
        return sum(weight * score.fitted[part] for score, weight in pairs)

    return replace(
        pairs[0][0],
        pretrain=min(several, key=lambda of: len(set(of)), default=pairs[0][0].pretrain),
        values=summed("values"),
        failed=None,
        others=(fitted(0), fitted(1)) if any(of.others for of, _ in pairs) else None,
        most_failed=any(of.most_failed for of, _ in pairs),
        resampled=summed("resampled"),
        n_rows=min(score.n_rows for score in known),
        limits=(sum(low for low, _ in ends), sum(high for _, high in ends)),
        majority=summed("majority"),
        bag_of_words=summed("bag_of_words"),
        train_tokens={s: sum(of.train_tokens.get(s, np.nan) for of in known) for s in seeds},
        alarms={s: tuple(chain(*(of.alarms.get(s, ()) for of in known))) for s in seeds},
    )


def equally(names: Iterable[Any]) -> dict[Any, float]:
    """The weights of the mean over some tasks."""
    found = list(names)
    return {name: 1.0 / len(found) for name in found}


def _variance(values: np.ndarray) -> float:
    """The unbiased variance; exactly 0 of equal values, whatever their mean is rounded to."""
    return float(values.var(ddof=1)) if np.ptp(values) else 0.0


def average(scores: Iterable[Score | None]) -> Score | None:
    """The unweighted mean of several scores, within each seed; None as in `total`."""
    found = list(scores)
    return total(found, [1.0 / len(found)] * len(found)) if found else None


def of_seeds(values: Mapping[int, float]) -> Score:
    """A score that varies only over pre-training seeds; its rows are taken as given."""
    scores, seeds = np.array([*values.values()], dtype=float), tuple(values)
    return Score(seeds, seeds, scores, np.repeat(scores[:, None], 2, axis=1), n_rows=1)


def alarms_of(score: Score) -> dict[int, Set[str]]:
    """By seed, the names of the alarms that a cell's headline score raises.

    `seeds_disagree`: the seed has `failed`. Where no seed fits, none has this alarm; those of
    single runs report that case.
    `below_bag_of_words`: the mean over seeds is below the bag of words of the same split.
    """
    mean = {BELOW} if score.value < score.bag_of_words else set()
    pairs = zip(score.seeds, failed(score), strict=True)
    return {seed: mean | {DISAGREE} if is_it else mean for seed, is_it in pairs}


def failed(score: Score) -> np.ndarray:
    """Which of the fits [seeds] of a cell learnt nothing where the best one did.

    These raised an alarm of their own (`LEARNT_NOTHING`) and are more than a tenth of the metric's
    range below the best. By distance alone, the tail of a variant that varies widely would be cut
    off; with a larger one, whether a fit at chance counts would hang on how good the best one is. A
    correlation, whose range is twice that of a share, loses twice as much by the same wrong rows.
    """
    width = np.nan_to_num(np.subtract(*score.limits[::-1]), posinf=100.0)
    is_far = score.values < score.values.max() - APART * width
    names = [{*chain(*score.alarms.get(seed, ()))} for seed in score.seeds]
    return is_far & np.array([bool(of & LEARNT_NOTHING) for of in names])


def seeds_that_fit(score: Score) -> list[int]:
    """The seeds whose fits a cell's score is of."""
    out = failed(score) & (not score.most_failed)
    return [seed for seed, is_out in zip(score.seeds, out, strict=True) if not is_out]


def fits(alarms: str) -> str:
    """How many runs fit, as ` (4 of 5)`, from the alarms in `Score.raised`; empty if all do."""
    failed = re.search(rf"{DISAGREE}:(\d+)/(\d+)", alarms)
    return f" ({int(failed[2]) - int(failed[1])} of {failed[2]})" if failed else ""


def is_marked(alarms: str) -> bool:
    """Whether a score with these `alarms`, joined by semicolons, is marked with a `!`.

    `below_bag_of_words` alone does not count: it applies to most models without pre-training.
    """
    return bool({text.partition(":")[0] for text in alarms.split(";") if text} - {BELOW})
