"""Trends over tasks and along curves: true ones are found, false alarms rare, by simulation."""

import numpy as np
import pytest
from scipy import stats

from workflow.analysis.stats.estimate import LEVEL, POWER
from workflow.analysis.stats.sample import Sample
from workflow.analysis.stats.trends import OverTasks, line_over, mean_over, steps

SIZES = [500, 640, 800, 1000, 1200, 2000, 3000, 5000, 8000, 12000, 20000, 60000]  # of 12 tasks
N_SEEDS = 2


def tasks_of(rng: np.random.Generator, rise: float, scatter: float) -> list[Sample]:
    """Effects that rise by `rise` points per tenfold rows.

    The tasks scatter about the line by `scatter` points, and the seeds and rows add to that.
    """
    common = rng.normal(size=N_SEEDS)  # what a seed does to all tasks
    found = []
    for size in SIZES:
        effect = rise * np.log10(size) + scatter * rng.normal()
        rows = 0.5 * rng.normal()
        score = effect + common + 0.5 * rng.normal(size=N_SEEDS) + rows
        boot = score[:, None] + 0.5 * rng.normal(size=50)
        found.append(Sample((0, 1), (0, 1), score, boot, 1000))
    return found


def runs(rise: float, scatter: float, n: int = 1000) -> list[OverTasks]:
    rng = np.random.default_rng(int(100 * rise + scatter))
    return [
        line_over([one.value for one in tasks_of(rng, rise, scatter)], np.log10(SIZES))
        for _ in range(n)
    ]


@pytest.mark.parametrize("scatter", [0.0, 1.0, 5.0])
def test_the_interval_covers_the_true_trend_in_95_of_100_runs(scatter):
    covered = [one.interval[0] <= 2 <= one.interval[1] for one in runs(2.0, scatter)]
    assert np.mean(covered) == pytest.approx(0.95, abs=2.5 * np.sqrt(0.95 * 0.05 / len(covered)))


@pytest.mark.parametrize("scatter", [0.0, 5.0])
def test_a_false_alarm_comes_in_5_of_100_runs(scatter):
    found = runs(0.0, scatter)
    alarms = [one.interval[0] > 0 or one.interval[1] < 0 for one in found]
    assert alarms == [one.p < 1 - LEVEL for one in found]
    assert np.mean(alarms) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / len(alarms))


def test_a_planted_trend_is_found_as_often_as_the_needed_tasks_promise():
    found = runs(6.0, 1.0, n=200)
    assert np.mean([one.p < 0.05 for one in found]) > 0.99
    few = OverTasks(1.0, 0.5, 12, fitted=2)
    n = int(few.needs(1.0).split()[0])
    error = 0.5 * np.sqrt(12 / n)
    reached = stats.nct.sf(stats.t.ppf(0.975, n - 2), n - 2, 1.0 / error)
    assert n > 12 and POWER - 0.02 < reached < POWER + 0.05
    assert few.needs(0.01) == "more than 100 tasks"


def test_it_is_the_regressions_interval_whatever_the_seeds():
    found = line_over([1.0, 4.0, 4.0], [1, 2, 3], n_seeds=1)
    half = stats.t.ppf(0.975, 1) * np.sqrt(1.5 / 2)  # residuals -0.5, 1, -0.5; one df
    assert found.value == pytest.approx(1.5) and found.n_seeds == 1
    assert found.interval == pytest.approx((1.5 - half, 1.5 + half))


@pytest.mark.parametrize(("more", "is_run"), [(-1e-6, False), (1e-6, True)])
def test_a_trend_needs_three_tasks_that_are_far_enough_apart(more, is_run):
    values, x = [1.0, 5.0, 2.0], [0.0, 1.0, 2.0 + more]
    assert (line_over(values, x, least=2.0) is not None) == is_run
    assert line_over(values[:2], x[:2]) is None and mean_over(values[:2]) is None


def test_a_mean_over_tasks_is_students_and_tasks_that_are_all_alike_decide_nothing():
    values = [3.0, -1.0, 4.0, 2.5]
    found, expected = mean_over(values), stats.ttest_1samp(values, 0.0)
    assert found.p == pytest.approx(expected.pvalue)
    assert found.interval == pytest.approx(tuple(expected.confidence_interval(0.95)))
    alike = mean_over([1.0, 1.0, 1.0])
    assert np.isnan(alike.interval).all() and np.isnan(alike.p) and not alike.within(5.0)


@pytest.mark.parametrize("n_seeds", [2, 3])
def test_curves_that_only_wander_are_said_to_rise_in_5_of_100_runs(n_seeds):
    rng, n = np.random.default_rng(n_seeds), 500
    found = [steps(list(rng.normal(size=(n_seeds, 9)).cumsum(axis=1))) for _ in range(n)]
    alarms = [one.interval[0] > 50 or one.interval[1] < 50 for one in found]
    assert alarms == [one.p < 1 - LEVEL for one in found]
    assert np.mean(alarms) <= 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / n)


def test_one_leap_is_no_steady_rise():
    rng = np.random.default_rng(4)
    leap = np.repeat([0.0, 30.0], [5, 4])
    found = [steps(list(leap + rng.normal(size=(3, 9)))) for _ in range(200)]
    assert np.mean([one.p < 0.05 for one in found]) <= 0.1
    steady = [steps(list(3 * np.arange(9) + rng.normal(size=(3, 9)))) for _ in range(200)]
    assert np.mean([one.interval[0] > 50 for one in steady]) > 0.95
