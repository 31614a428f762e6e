"""Trends over tasks and along curves: true ones are found, false alarms rare, by simulation."""

from dataclasses import replace

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
    covered = [one.interval[0] <= 2 <= one.interval[1] for one in runs(2.0, scatter, n=300)]
    assert 0.95 < np.mean(covered) < 1  # with any one task left out; of the line itself 95
    own = [replace(one, left_out=()).interval for one in runs(2.0, scatter, n=300)]
    assert np.mean([low <= 2 <= high for low, high in own]) == pytest.approx(0.95, abs=0.03)


@pytest.mark.parametrize("scatter", [0.0, 5.0])
def test_a_false_alarm_comes_in_5_of_100_runs(scatter):
    found = runs(0.0, scatter, n=300)
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
    values, x = [1.0, 4.0, 4.0, 5.0, 7.0], [1, 2, 3, 4, 5]
    found = line_over(values, x, n_seeds=1)
    own = stats.linregress(x, values)
    half = stats.t.ppf(0.975, 3) * own.stderr
    assert found.value == pytest.approx(own.slope) and found.n_seeds == 1
    assert replace(found, left_out=()).interval == pytest.approx(
        (own.slope - half, own.slope + half)
    )
    assert replace(found, left_out=()).p == pytest.approx(own.pvalue)


def test_a_trend_is_as_sure_as_without_the_task_that_it_rests_on_most():
    values, x = [0.3, -0.2, 0.1, 0.0, -0.3, 0.6, 9.0], [1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 3.0]
    found, without = line_over(values, x), stats.linregress(x[:-1], values[:-1])
    assert replace(found, left_out=()).p < 0.001 and found.p == pytest.approx(without.pvalue)
    assert found.interval[0] < 0 < found.interval[1]
    turned = line_over([*values[:-2], -0.3, 9.0], x)
    assert turned.p == 1.0
    leaning = line_over([1.0, 2.0, 1.5, 9.0], [1.0, 1.0, 1.0, 2.0])  # no line without the last
    assert np.isnan(leaning.interval).all() and np.isnan(leaning.p)


@pytest.mark.parametrize(("more", "is_run"), [(-1e-6, False), (1e-6, True)])
def test_a_trend_needs_four_tasks_that_are_far_enough_apart(more, is_run):
    values, x = [1.0, 5.0, 2.0, 3.0], [0.0, 1.0, 1.5, 2.0 + more]
    assert (line_over(values, x, least=2.0) is not None) == is_run
    assert line_over(values[:3], x[:3]) is None and mean_over(values[:2]) is None


def test_a_mean_over_tasks_is_students_and_tasks_that_are_all_alike_decide_nothing():
    values = [3.0, -1.0, 4.0, 2.5]
    found, expected = mean_over(values), stats.ttest_1samp(values, 0.0)
    assert found.p == pytest.approx(expected.pvalue)
    assert found.interval == pytest.approx(tuple(expected.confidence_interval(0.95)))
    alike = mean_over([1.0, 1.0, 1.0])
    assert np.isnan(alike.interval).all() and np.isnan(alike.p) and not alike.within(5.0)


def test_one_leap_is_no_steady_rise():
    rng = np.random.default_rng(4)
    leap = np.repeat([0.0, 30.0], [5, 4])
    found = [steps(list(leap + rng.normal(size=(3, 9)))) for _ in range(200)]
    assert np.mean([one.p < 0.05 for one in found]) <= 0.1
    steady = [steps(list(3 * np.arange(9) + rng.normal(size=(3, 9)))) for _ in range(200)]
    assert np.mean([one.interval[0] > 50 for one in steady]) > 0.95
