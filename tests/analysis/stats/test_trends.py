"""Trends over tasks and along curves: true ones are found, false alarms rare, by simulation."""

import numpy as np
import pytest
from scipy import stats

from workflow.analysis.claims.evidence import Contrast
from workflow.analysis.claims.judges import rise, slope_weights, ups_and_downs
from workflow.analysis.stats.estimates import Estimate, SeedPool
from workflow.analysis.stats.scores import Score

SIZES = [500, 640, 800, 1000, 1200, 2000, 3000, 5000, 8000, 12000, 20000, 60000]  # of 12 tasks
WEIGHTS = slope_weights(dict(enumerate(np.log10(SIZES))))
SCATTER = 5.0 * np.random.default_rng(7).normal(size=len(SIZES))  # the tasks' own effects


def tasks_of(rng: np.random.Generator, slope: float, n_seeds: int) -> dict[int, Score]:
    """Effects that rise by `slope` points per tenfold rows, the tasks' own beside it.

    A seed changes all tasks, and each by itself; so do the rows.
    """
    common, found = rng.normal(size=n_seeds), {}
    for i, size in enumerate(SIZES):
        effect, rows = slope * np.log10(size) + SCATTER[i], 0.5 * rng.normal(size=51)
        values = effect + common + 0.5 * rng.normal(size=n_seeds) + rows[0]
        seeds = tuple(range(n_seeds))
        found[i] = Score(seeds, seeds, values, values[:, None] + rows[1:], 1000)
    return found


def runs(slope: float, n_seeds: int, n: int = 300) -> list[Estimate]:
    rng, pool = np.random.default_rng(n_seeds), SeedPool()
    return [pool.estimate([(1.0, tasks_of(rng, slope, n_seeds))], WEIGHTS) for _ in range(n)]


def test_the_weights_give_the_slope_of_the_least_squares_line():
    x, values = {"a": 1.0, "b": 2.5, "c": 2.0, "d": 7.0}, [3.0, 1.0, 4.0, 9.0]
    weights = slope_weights(x)
    assert list(weights) == list(x)
    own = stats.linregress([*x.values()], values).slope
    assert np.dot([*weights.values()], values) == pytest.approx(own)


@pytest.mark.parametrize("n_seeds", [2, 5])
def test_the_interval_covers_the_slope_of_these_tasks_in_95_of_100_runs(n_seeds):
    truth = 2.0 + float(np.dot([*WEIGHTS.values()], SCATTER))
    covered = [one.interval[0] <= truth <= one.interval[1] for one in runs(2.0, n_seeds)]
    assert np.mean(covered) > 0.95 - 2 * np.sqrt(0.05 * 0.95 / len(covered))


def test_a_planted_trend_is_found():
    flat = -float(np.dot([*WEIGHTS.values()], SCATTER))
    assert np.mean([one.p < 0.05 for one in runs(flat + 2.0, 5, n=100)]) > 0.95


def test_a_slope_pools_the_slopes_of_the_runs_lines():
    rng = np.random.default_rng(0)
    lines = [tasks_of(rng, 0.0, 3) for _ in range(4)]
    slopes = [sum(w * line[i].values for i, w in WEIGHTS.items()) for line in lines]
    pooled, excess = SeedPool(dict(enumerate(lines))).estimate([(1.0, lines[0])], WEIGHTS).seeds
    assert pooled.variance == pytest.approx(np.mean([of.var(ddof=1) / 3 for of in slopes]))
    assert pooled.df == 4.0


PRINTED = Contrast("", {}, papers={"a": 1.0, "b": 4.0, "c": 4.0, "d": 5.0, "e": 7.0})


def test_the_papers_numbers_have_the_regressions_interval_with_its_tasks_as_the_sample():
    x = dict(zip("abcde", [1.0, 2.0, 3.0, 4.0, 5.0], strict=True))
    found, own = PRINTED.printed_slope(x), stats.linregress([*x.values()], [1, 4, 4, 5, 7])
    half = stats.t.ppf(0.975, 3) * own.stderr
    assert found.value == pytest.approx(own.slope) and found.p == pytest.approx(own.pvalue)
    assert found.interval == pytest.approx((own.slope - half, own.slope + half))
    assert PRINTED.printed_slope({"a": 1.0, "b": 2.0, "c": 3.0}) is None
    assert PRINTED.printed_slope(x | {"f": 6.0}) is None


def test_a_mean_over_tasks_is_students_and_tasks_that_are_all_alike_decide_nothing():
    found, expected = PRINTED.printed_mean("acd"), stats.ttest_1samp([1, 4, 5], 0.0)
    assert found.p == pytest.approx(expected.pvalue)
    assert found.interval == pytest.approx(tuple(expected.confidence_interval(0.95)))
    alike = PRINTED.printed_mean("bcb")
    assert np.isnan(alike.interval).all() and np.isnan(alike.p) and not alike.within(5.0)
    assert PRINTED.printed_mean("ab") is PRINTED.printed_mean("abcf") is None


def test_the_rise_of_curves_is_that_of_their_means_least_squares_line():
    assert rise(np.array([[0.0, 2.0, 4.0, 6.0]])) == pytest.approx(6.0)
    curve = np.array([1.0, 0.0, 5.0, 4.0, 8.0])
    assert rise(curve[None]) == pytest.approx(4 * stats.linregress(range(5), curve).slope)
    assert rise(np.array([curve, 2 * curve[::-1]])) == pytest.approx(-rise(curve[None]) / 2)
    assert rise(np.array([[0.0, 9.0, 0.0]])) == pytest.approx(0.0)  # what goes up and comes down


def test_ups_and_downs_are_what_a_curve_moves_beyond_its_rise():
    assert ups_and_downs(np.array([[0.0, 1.0, 0.5, 2.0]])) == pytest.approx(3 - 2)
    assert ups_and_downs(np.array([[3.0, 2.0, 0.0], [0.0, 4.0, 0.0]])) == pytest.approx(8 / 2)
