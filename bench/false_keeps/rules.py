"""Rules by which one way of training is said to be better than another, on trial in `trial`.

Each takes the answers of two sides, a baseline `a` and a candidate `b`, and says whether to keep
the candidate, to discard it, or that nothing is decided. Tests are two-sided at 5 %. What a side
scores is the mean over its tasks of the share of right answers; its seeds are of training.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np
from scipy import stats

from workflow.analysis.stats.bootstrap import times_drawn
from workflow.analysis.stats.estimates import LEVEL, Estimate, SeedPool
from workflow.analysis.stats.scores import Score, alarms_of, equally, failed

Runs: TypeAlias = Mapping[str, np.ndarray]  # by task: 1.0 where right, else 0.0 [seeds, rows]
Verdict = Literal["keep", "discard", "undecided"]
Rule: TypeAlias = Callable[[Runs, Runs], Verdict]
LITTLE = 5.0  # points above the constant answer, up to which a fit learnt nothing
N_RESAMPLES = 999  # of seeds


def scores(side: Runs) -> np.ndarray:
    """The mean over tasks of each seed's accuracy, 0 to 100 [seeds]."""
    return 100 * np.mean([right.mean(axis=1) for right in side.values()], axis=0)


def gain(a: Runs, b: Runs) -> float:
    """How many points the candidate has more, on average over seeds."""
    return float(scores(b).mean() - scores(a).mean())


def said(difference: float, is_real: bool) -> Verdict:
    """The verdict on a difference that is real, or may be chance."""
    if not is_real or not difference:
        return "undecided"
    return "keep" if difference > 0 else "discard"


def by_p(difference: float, p: float) -> Verdict:
    """The verdict by a test's p-value, which is NaN where nothing varies."""
    return said(difference, p < 1 - LEVEL)


def higher(a: Runs, b: Runs) -> Verdict:
    """Whatever is higher: of one seed each, or the means of several."""
    return "keep" if gain(a, b) > 0 else "discard"


def two_sigma(a: Runs, b: Runs) -> Verdict:
    """Beyond two standard deviations of the baseline's own runs, of which there are two or more."""
    found = scores(a)
    return said(gain(a, b), len(found) > 1 and abs(gain(a, b)) > 2 * found.std(ddof=1))


def fixed_sigma(a: Runs, b: Runs, sigma: float) -> Verdict:
    """A z-test with a standard deviation of single runs that was estimated once, on other runs."""
    n_a, n_b = len(scores(a)), len(scores(b))
    error = sigma * np.sqrt(1 / n_a + 1 / n_b)
    return by_p(gain(a, b), 2 * stats.norm.sf(abs(gain(a, b)) / error) if error else np.nan)


def unpaired_rows(a: Runs, b: Runs) -> Verdict:
    """A z-test of two means over rows with the standard error of each, as harnesses print them."""
    errors = [[stats.sem(right.mean(axis=0)) for right in side.values()] for side in (a, b)]
    error = 100 * np.sqrt(np.square(errors).sum()) / len(a)
    return by_p(gain(a, b), 2 * stats.norm.sf(abs(gain(a, b)) / error) if error else np.nan)


def mcnemar(a: Runs, b: Runs) -> Verdict:
    """McNemar's exact test on the rows that only one side gets right; seeds are paired in turn."""
    only_a = int(sum((a[task] > b[task]).sum() for task in a))
    only_b = int(sum((b[task] > a[task]).sum() for task in a))
    n = only_a + only_b
    return by_p(only_b - only_a, stats.binomtest(only_b, n).pvalue if n else np.nan)


def paired_rows(a: Runs, b: Runs) -> Verdict:
    """A bootstrap over rows of the difference on each row, on average over seeds."""
    drawn = [times_drawn(task, a[task].shape[1]) @ _difference(a, b, task) for task in a]
    return said(gain(a, b), _excludes_0(sum(drawn, start=np.zeros(1))))


def _difference(a: Runs, b: Runs, task: str) -> np.ndarray:
    """On each row of a task, the difference of the means over seeds, over the number of rows."""
    return (b[task].mean(axis=0) - a[task].mean(axis=0)) / a[task].shape[1]


def _excludes_0(drawn: np.ndarray) -> bool:
    """Whether the middle 95 % of some resampled differences lie on one side of 0."""
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return bool(low > 0 or high < 0)


def sign_test(a: Runs, b: Runs) -> Verdict:
    """An exact sign test over tasks and seeds: in how many pairs `b` is higher; without ties."""
    differences = np.array([b[task].mean(axis=1) - a[task].mean(axis=1) for task in a])
    above, n = int((differences > 0).sum()), int((differences != 0).sum())
    return by_p(above - n / 2, stats.binomtest(above, n).pvalue if n else np.nan)


def welch(a: Runs, b: Runs) -> Verdict:
    """Welch's t-test over seeds."""
    if len(scores(a)) < 2:
        return "undecided"
    with np.errstate(all="ignore"):
        return by_p(gain(a, b), stats.ttest_ind(scores(b), scores(a), equal_var=False).pvalue)


def paired_seeds(a: Runs, b: Runs) -> Verdict:
    """The paired t-test over seeds."""
    if len(scores(a)) < 2:
        return "undecided"
    with np.errstate(all="ignore"):
        return by_p(gain(a, b), stats.ttest_rel(scores(b), scores(a)).pvalue)


def bca_seeds(a: Runs, b: Runs) -> Verdict:
    """The bias-corrected and accelerated bootstrap over the seeds of both sides."""
    x, y = scores(b), scores(a)
    if len(x) < 2 or not (np.ptp(x) or np.ptp(y)):
        return "undecided"

    def difference(x: np.ndarray, y: np.ndarray, axis: int = -1) -> np.ndarray:
        return x.mean(axis=axis) - y.mean(axis=axis)

    with np.errstate(all="ignore"):
        found = stats.bootstrap((x, y), difference, n_resamples=N_RESAMPLES, method="BCa", rng=0)
    low, high = found.confidence_interval
    return said(gain(a, b), low > 0 or high < 0)


def mixed_model(a: Runs, b: Runs) -> Verdict:
    """A linear mixed model of right answers: side and task fixed, a random intercept for each run.

    Wald's test with variances by restricted maximum likelihood. Where all runs have the same rows
    these are mean squares between and within runs, so that no iteration can fail to converge.
    """
    n_a, n_b = len(scores(a)), len(scores(b))
    if min(n_a, n_b) < 2:
        return "undecided"
    answers = [np.vstack([a[task], b[task]]) for task in a]
    rows = np.hstack([right - right.mean() for right in answers])  # [runs, all rows]
    of_runs = rows.mean(axis=1)
    sides = [of_runs[:n_a], of_runs[n_a:]]
    between = rows.shape[1] * sum(((side - side.mean()) ** 2).sum() for side in sides)
    within = ((rows - of_runs[:, None]) ** 2).sum()
    df_between, df_within = n_a + n_b - 2, rows.size - n_a - n_b - len(a) + 1
    mean_square = between / df_between
    if mean_square < within / df_within:  # the variance of the intercepts is then 0
        mean_square = (between + within) / (df_between + df_within)
    error = np.sqrt(mean_square / rows.shape[1] * (1 / n_a + 1 / n_b))
    z = (sides[1].mean() - sides[0].mean()) / error if error else np.nan
    return by_p(z, 2 * stats.norm.sf(abs(z)))


def multi_bootstrap(a: Runs, b: Runs) -> Verdict:
    """Seeds, paired in turn, and rows drawn together (Sellam et al. 2022, arXiv:2106.16163)."""
    rng, n = np.random.default_rng(0), len(scores(a))
    seeds = rng.multinomial(n, np.full(n, 1 / n), N_RESAMPLES + 1) / n  # [resamples, seeds]
    drawn = np.zeros(len(seeds))
    for task in a:
        rows = times_drawn(task, a[task].shape[1])  # [resamples, rows]
        drawn += ((seeds @ (b[task] - a[task])) * rows).mean(axis=1)
    return said(gain(a, b), _excludes_0(drawn))


def suite(a: Runs, b: Runs, constant: Mapping[str, float]) -> Verdict:
    """This suite's interval, over rows and seeds; `constant` is the constant answer's score."""
    if len(scores(a)) < 2:
        return "undecided"
    low, high = estimate(a, b, constant).interval
    return said(gain(a, b), low > 0 or high < 0)


def estimate(a: Runs, b: Runs, constant: Mapping[str, float]) -> Estimate:
    """This suite's estimate of the candidate minus the baseline, whose variances are pooled."""
    lines = {
        name: {task: _score(right, task, name, constant[task]) for task, right in side.items()}
        for name, side in (("a", a), ("b", b))
    }
    found = SeedPool(lines).estimate([(1.0, lines["b"]), (-1.0, lines["a"])], equally(a))
    assert found is not None
    return found


def _score(right: np.ndarray, task: str, line: str, constant: float) -> Score:
    """The accuracy of a line's runs, with what its seeds raise together."""
    seeds, rows = tuple(range(len(right))), right.shape[1]
    drawn = 100 * right @ times_drawn(task, rows).T / rows  # [seeds, resamples]
    values, limits = 100 * right.mean(axis=1), (0.0, 100.0)
    score = Score(seeds, seeds, values, drawn, rows, limits, kind="runs", variant=line)
    # What these runs raised themselves is not known.
    low = [seed for seed in seeds if values[seed] <= constant + LITTLE]
    nothing = replace(score, alarms=dict.fromkeys(low, ({"majority_rate"},)))
    alarms = {seed: (of,) for seed, of in alarms_of(nothing).items()}
    return replace(score, alarms=alarms).of_fits(failed(nothing))
