"""The formulas behind the intervals, worked out by hand or written out once more."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from workflow.analysis.stats.estimate import Component, Estimate, estimate, half_width
from workflow.analysis.stats.pooling import SeedPool
from workflow.analysis.stats.sample import Sample, difference
from workflow.analysis.stats.trends import by_seed, ups_and_downs


def seeds_of(*scores: float) -> Sample:
    """A sample without chance from rows."""
    seeds, score = tuple(range(len(scores))), np.array(scores, dtype=float)
    return Sample(seeds, seeds, score, np.repeat(score[:, None], 9, axis=1), 100)


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


def test_the_variance_over_seeds_is_the_mean_of_the_variants_with_their_seeds_weighed():
    three, two = seeds_of(50, 56, 53), replace(seeds_of(40, 44, 40), pretrain=(0, 1, 0))
    variants = [{"rte": one} for one in (three, three, two)]
    unit = (9 + 9 + 8) / 3  # the variances of a unit: 9 of three, 8 of the two of the control
    assert (three.share, two.share) == (pytest.approx(1 / 3), pytest.approx(5 / 9))
    contrast = difference(three, two)
    assert contrast.squares[""] * contrast.share == pytest.approx(1 / 3 + 5 / 9)
    without = difference(contrast, difference(seeds_of(41, 45, 42), two))  # it cancels out
    assert without.squares[""] * without.share == pytest.approx(2 / 3)
    pooled, excess = SeedPool(variants).parts(contrast, {"rte": 1.0})
    assert pooled.variance == pytest.approx((1 / 3 + 5 / 9) * unit)
    assert pooled.df == pytest.approx((2 + 2 + 1) / 2)
    by_model = np.array([(10 + 13) / 2, 12])  # the contrast's means over each of the two controls
    own = by_model.var(ddof=1) * 5 / 9
    assert (excess.variance, excess.df) == (pytest.approx(max(0, own - pooled.variance)), 1)


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


def test_an_effect_that_100_seeds_would_not_show_needs_training_that_varies_less():
    assert estimate(seeds_of(4, 60, 1)).needs(0.5) == "training that varies less"
    assert estimate(seeds_of(4, 6, 1)).needs(0.0) == "training that varies less"


@pytest.mark.parametrize("limits", [(0.0, 100.0), (-100.0, 100.0)])
def test_where_nothing_varies_the_rows_alone_bound_the_value(limits):
    same = replace(seeds_of(*limits[1:] * 3), limits=limits, n_rows=400)
    found, share = estimate(same), 1 - 0.025 ** (1 / 400)  # Clopper and Pearson's of 0 in 400
    assert stats.binomtest(0, 400).proportion_ci(0.95).high == pytest.approx(share)
    assert found.interval == pytest.approx((100 - share * np.ptp(limits), 100.0))
    equal = estimate(difference(same, same))
    assert equal.interval == pytest.approx(
        (-2 * share * np.ptp(limits), 2 * share * np.ptp(limits))
    )
    assert equal.p == 1 and equal.within(5.0) and not equal.within(1.0)
    few = estimate(replace(difference(same, same), n_rows=20))
    assert not few.within(5.0)
    n = int(few.needs(5.0).removesuffix(" rows a task").replace(",", ""))
    reach = 2 * np.ptp(limits)
    assert reach * (1 - 0.025 ** (1 / n)) <= 5.0 < reach * (1 - 0.025 ** (1 / (n - 10)))
    as_given = estimate(replace(same, n_rows=1))  # rows that were not resampled
    assert np.isnan(as_given.interval).all()


def test_ups_and_downs_are_what_a_curve_moves_beyond_its_rise():
    assert ups_and_downs(np.array([[0.0, 1.0, 0.5, 2.0]])) == pytest.approx(3 - 2)
    assert ups_and_downs(np.array([[3.0, 2.0, 0.0], [0.0, 4.0, 0.0]])) == pytest.approx(8 / 2)


def test_values_by_seed_vary_over_pre_training_alone():
    found = by_seed({3: 1.0, 5: 4.0})
    assert found.seeds == found.pretrain == (3, 5) and found.n_units == 2
    assert list(found.score) == [1.0, 4.0] and found.row_variance == 0
    assert by_seed({}) is None
