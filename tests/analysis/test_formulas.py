"""The formulas behind the intervals, worked out by hand or written out once more."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from workflow.analysis.stats.estimate import Component, Estimate, estimate, half_width
from workflow.analysis.stats.pooling import Pool
from workflow.analysis.stats.sample import Sample
from workflow.analysis.stats.trends import (
    OverTasks,
    RankTrend,
    Steps,
    by_seed,
    rank_trend,
    spearman,
    steps,
    ups_and_downs,
)


def seeds_of(*scores: float) -> Sample:
    """A sample without chance from rows."""
    seeds, score = tuple(range(len(scores))), np.array(scores, dtype=float)
    return Sample(seeds, seeds, score, np.repeat(score[:, None], 9, axis=1), 100)


def apart(*halves: float) -> list[Sample]:
    """Tasks whose two seeds lie so far from 50, on either side."""
    return [seeds_of(50 - half, 50 + half) for half in halves]


def pool_of(tasks: list[Sample]) -> Pool | None:
    """The pool of some tasks, without other variants."""
    return Pool.of(dict(enumerate(tasks)))


def test_cochrans_quantile_weighs_students_by_the_variances():
    parts = [Component(4.0, 1), Component(1.0, 10)]
    t = [stats.t.ppf(0.975, df) for df in (1, 10)]
    assert half_width(parts, 0.95) == pytest.approx((4 * t[0] + t[1]) / np.sqrt(5))
    assert np.isnan(half_width([Component(4.0, 1), Component(np.nan, 0)], 0.95))
    endless = half_width([Component(4.0, np.inf)], 0.95)
    assert endless == pytest.approx(2 * stats.norm.ppf(0.975), rel=1e-5)


@pytest.mark.parametrize("value", [-9.0, 0.4, 30.0])
def test_p_is_1_minus_the_level_of_the_interval_that_touches_0(value):
    parts = (Component(4.0, 1), Component(2.0, 9))
    found = Estimate(value, parts[:1], parts[1], 2, 10)
    assert half_width(parts, 1 - found.p) == pytest.approx(abs(value), rel=1e-6)
    assert Estimate(0.0, parts[:1], parts[1], 2, 10).p == 1


def test_tasks_that_differ_no_more_than_chance_makes_them_share_one_variance():
    tasks = apart(1, 2, 3, 6)  # about their mean, 3: -2, -1, 0, 3; variances 4, 1, 0, 9 times 4/3
    pool = pool_of(tasks)
    assert (pool.variance, pool.df, pool.most_df) == (pytest.approx(14 / 3), np.inf, 3)
    found = pool.estimate(tasks[1])
    assert found.seeds == (Component(pytest.approx(14 / 3), 3), Component(pytest.approx(9), 1))
    own = pool.estimate(tasks[3]).seeds[0]
    assert own == Component(pytest.approx(9), 3)  # never below its own
    assert found.rows == Component(0.0, 99) and (found.n_seeds, found.n_rows) == (2, 100)


def test_tasks_that_differ_more_are_drawn_to_their_common_variance_by_its_certainty():
    tasks = apart(*[0.0] * 7, 8)  # about their mean, 1: seven times -1, and 7
    pool = pool_of(tasks)
    df = 4 + 21 / 11  # the variances, 8/7 and 56: squared, over their mean's square, 43 / 7
    assert pool.df == pytest.approx(df) and pool.most_df == 7
    assert pool.variance == pytest.approx(8 * (df - 2) / df)
    mixed = (df * pool.variance + 1) / (df + 1)
    first, last = (pool.estimate(task).seeds for task in (tasks[0], tasks[-1]))
    assert first == (Component(pytest.approx(mixed), pytest.approx(df + 1)), Component(1, 1))
    assert last[0] == Component(pytest.approx(49), pytest.approx(df + 1))


def test_three_tasks_with_two_seeds_make_a_pool_and_fewer_do_not():
    assert pool_of(apart(1, 2, 3)) is not None
    assert pool_of(apart(1, 2)) is None and pool_of([]) is None
    assert pool_of([*apart(1, 2), seeds_of(50)]) is None
    pool = pool_of([*apart(1, 2, 3), seeds_of(50)])  # whose one seed says nothing
    assert pool.mean.score == pytest.approx([48, 52])
    assert pool.estimate(seeds_of(50)).seeds == estimate(seeds_of(50)).seeds or np.isnan(
        pool.estimate(seeds_of(50)).seeds[0].variance
    )
    alike = pool_of(apart(2, 2, 2))
    assert (alike.variance, alike.df) == (0, np.inf)


def first_that_shows(counts, distance, error_of, df_of):
    """The least number whose t interval and the quantile of 80 % power reach the distance."""
    for n in counts:
        quantile = stats.t.ppf(0.975, df_of(n))
        if (quantile + stats.norm.ppf(0.8)) * error_of(n) <= distance:
            return n


@pytest.mark.parametrize("distance", [4.0, 2.5])
def test_the_seeds_that_an_effect_needs_are_those_of_the_formula(distance):
    found = estimate(seeds_of(4, 6, 1))  # a variance of 19/3 between seeds
    n = first_that_shows(range(4, 99), distance, lambda n: np.sqrt(19 / 3 / n), lambda n: n - 1)
    assert found.needs(distance) == f"{n} seeds"


def test_where_the_rows_are_too_few_they_are_named_as_well():
    sure = (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) ** 2
    more = 2 * sure * 4.0 / 5.0**2  # 2.5 times as many
    found = Estimate(1.0, (Component(1.0, 1),), Component(4.0, 99), 2, 100)
    for n in range(2, 99):
        parts = [Component(2.0 / n, n - 1), Component(4.0 / more, 99 * more)]
        error = np.sqrt(sum(part.variance for part in parts))
        if half_width(parts, 0.95) + stats.norm.ppf(0.8) * error <= 5.0:
            break
    assert found.needs(5.0) == f"{n} seeds and 260 rows a task"
    many = Estimate(1.0, (Component(0.01, 1),), Component(4.0, 99), 2, 4321)
    assert many.needs(5.0) == "2 seeds and 11,000 rows a task"


def test_the_tasks_that_a_trend_needs_are_those_of_the_formula():
    trend = OverTasks(1.0, 0.5, 12, fitted=2)
    n = first_that_shows(range(13, 99), 1.0, lambda n: 0.5 * np.sqrt(12 / n), lambda n: n - 2)
    assert trend.needs(1.0) == f"{n} tasks"
    half = stats.t.ppf(0.95, 10) * 0.5  # two one-sided tests at 5 %
    assert trend.within(1.0 + 1.01 * half) and not trend.within(1.0 + 0.99 * half)


def test_a_rank_trend_is_the_mean_of_the_seeds_own_and_judged_by_pages_test():
    curves = [[1, 2, 3, 4], [2, 1, 4, 3]]  # correlations of 1 and 0.6
    found = rank_trend([seeds_of(*point) for point in zip(*curves, strict=True)])
    assert (found.value, found.n_points, found.n_seeds) == (pytest.approx(0.8), 4, 2)
    orders = list(itertools.permutations(range(1, 5)))
    sums = [sum(place * rank for place, rank in enumerate(order, 1)) for order in orders]
    as_far = sum(a + b >= 30 + 28 for a in sums for b in sums)
    assert found.p == pytest.approx(2 * as_far / 24**2)
    half = stats.norm.ppf(0.975) / np.sqrt(2 * 3)
    assert 0.8 + half > 1 and found.interval == pytest.approx((0.8 - half, 1.0))
    falling = rank_trend([seeds_of(*point) for point in zip(*curves, strict=True)][::-1])
    assert (falling.value, falling.p) == (pytest.approx(-0.8), pytest.approx(found.p))
    assert rank_trend([seeds_of(1), seeds_of(2).at([])]) is None


def test_fine_tuning_seeds_of_one_pre_training_are_one_curve():
    def point(*scores: float) -> Sample:
        return replace(seeds_of(*scores), pretrain=(0, 0, 1))

    found = rank_trend([point(1, 9, 3), point(2, 0, 1), point(9, 1, 2)])  # means 5, 1, 5
    ties = stats.spearmanr([5, 1, 5], range(3)).statistic
    assert found.n_seeds == 2 and found.value == pytest.approx((ties - 0.5) / 2)
    lone = rank_trend([replace(seeds_of(i), pretrain=(0,)) for i in (1, 2, 3)])
    assert lone.value == 1 and np.isnan(lone.p) and np.isnan(lone.interval).all()


def test_the_seeds_that_a_correlation_needs_are_those_of_the_formula():
    sure = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    trend = RankTrend(0.4, 0.2, 5, 2)
    assert trend.needs(0.5) == f"{int(np.ceil(sure**2 / 0.25 / 4))} seeds"
    assert trend.needs(9.0) == "2 seeds" and trend.needs(0.01) == "more than 100 seeds"


def test_steps_are_judged_by_the_sign_test():
    found = steps([np.array([0.0, 1.0, 3.0, 3.0]), np.array([0.0, 2.0, 1.0, 4.0])])
    assert (found.n_rising, found.n, found.n_seeds) == (4, 6, 2)
    assert found.p == pytest.approx(sum(stats.binom.pmf([0, 1, 2, 4, 5, 6], 6, 0.5)))
    low, high = (end / 100 for end in found.interval)  # Clopper and Pearson's
    assert stats.binom.sf(3, 6, low) == pytest.approx(0.025)
    assert stats.binom.cdf(4, 6, high) == pytest.approx(0.025)
    assert steps([]) is None and steps([np.array([1.0])]) is None


def test_the_seeds_that_a_share_of_steps_needs_are_those_of_the_formula():
    sure = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    found = Steps(10, 16, 2)  # eight steps a seed
    assert found.needs(12.5) == f"{int(np.ceil((sure * 50 / 12.5) ** 2 / 8))} seeds"
    assert found.needs(0.0) == "more than 100 seeds"


def test_spearman_is_scipys_and_0_of_a_flat_curve():
    curves = np.random.default_rng(0).integers(0, 4, (5, 6)).astype(float)
    curves[2] = 1.0
    with np.errstate(all="ignore"):
        expected = [stats.spearmanr(c, range(6)).statistic if np.ptp(c) else 0.0 for c in curves]
    assert spearman(curves) == pytest.approx(expected)
    assert float(spearman(curves[0])) == pytest.approx(expected[0])


def test_ups_and_downs_are_what_a_curve_moves_beyond_its_rise():
    assert ups_and_downs(np.array([[0.0, 1.0, 0.5, 2.0]])) == pytest.approx(3 - 2)
    assert ups_and_downs(np.array([[3.0, 2.0, 0.0], [0.0, 4.0, 0.0]])) == pytest.approx(8 / 2)


def test_values_by_seed_vary_over_pre_training_alone():
    found = by_seed({3: 1.0, 5: 4.0})
    assert found.seeds == found.pretrain == (3, 5) and found.n_units == 2
    assert list(found.score) == [1.0, 4.0] and found.row_variance == 0
    assert by_seed({}) is None
