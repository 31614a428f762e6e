"""The formulas behind the intervals, worked out by hand or written out once more."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from gpt1.cell import Cell
from tests.analysis.stats.scenarios import estimate, seeds_of, with_alarms
from workflow.analysis.stats.estimates import (
    Estimate,
    SeedPool,
    half_width,
    holm,
    numbers,
)
from workflow.analysis.stats.samples import Samples
from workflow.analysis.stats.scores import (
    Component,
    Score,
    is_marked,
    of_seeds,
    total,
)

MNLI = "matched", "mismatched"


def estimate_of(value: float, seeds: list[Component], rows: Component) -> Estimate:
    """An estimate of two seeds whose variances over seeds and rows are these."""
    drawn = np.sqrt(rows.variance * rows.df / (rows.df + 1)) * np.array([[-1.0, 0.0, 1.0]] * 2)
    return Estimate(Score((0, 1), (0, 1), np.full(2, value), drawn, int(rows.df) + 1), (*seeds,))


def test_cochrans_quantile_weighs_students_by_the_variances():
    parts = [Component(4.0, 1), Component(1.0, 10)]
    t = [stats.t.ppf(0.975, df) for df in (1, 10)]
    assert half_width(parts, 0.95) == pytest.approx((4 * t[0] + t[1]) / np.sqrt(5))
    assert np.isnan(half_width([Component(4.0, 1), Component(np.nan, 0)], 0.95))
    endless = half_width([Component(4.0, np.inf)], 0.95)
    assert endless == pytest.approx(2 * stats.norm.ppf(0.975), rel=1e-5)


@pytest.mark.parametrize("value", [-9.0, 0.4, 30.0])
def test_p_is_1_minus_the_level_of_the_interval_that_touches_0(value):
    parts = [Component(4.0, 1)], Component(2.0, 9)
    found = estimate_of(value, *parts)
    assert found.half(1 - found.p) == pytest.approx(abs(value), rel=1e-6)
    assert estimate_of(0.0, *parts).p == 1


def test_without_chance_from_rows_it_is_students_interval_and_p():
    found, own = estimate({0: seeds_of(60, 62, 67)}), stats.ttest_1samp([60, 62, 67], 0)
    assert found.interval == pytest.approx(tuple(own.confidence_interval(0.95)))
    assert found.p == pytest.approx(own.pvalue, rel=1e-4)


def test_with_five_seeds_it_is_the_paired_t_test_whatever_other_lines_vary():
    full, other = [76.0, 83.0, 91.0, 70.0, 71.0], [75.0, 80.0, 86.0, 69.0, 72.0]
    a, b, wild = ({0: seeds_of(*of)} for of in (full, other, [0.0, 90.0, 10.0, 80.0, 20.0]))
    found, own = estimate(a, b, pool=[a, b, *[wild] * 4]), stats.ttest_rel(full, other)
    assert found.interval == pytest.approx(tuple(own.confidence_interval(0.95)))
    assert found.p == pytest.approx(own.pvalue, rel=1e-4)
    four = [{0: of[0].at(range(4))} for of in (a, b, wild)]
    assert np.ptp(estimate(*four[:2], pool=four).interval) > 2 * np.ptp(found.interval)


def test_a_score_is_that_of_the_fits_that_have_not_failed():
    fits = [90.0, 94.0, 91.0, 95.0]
    found = estimate({0: with_alarms(seeds_of(90.0, 94.0, 31.0, 91.0, 95.0))})
    assert found.alarms == "seeds_disagree:1/5" and found.value == np.mean(fits)
    (part,) = found.seeds
    assert part.df == 3  # of five seeds one has failed
    assert part.variance == pytest.approx(np.var(fits, ddof=1) / 4)
    assert list(found.score.values) == [90.0, 94.0, 31.0, 91.0, 95.0]  # as it was run
    row = numbers(found)
    assert row["mean"] == np.mean(fits) and row["by_seed"][2] == 31.0
    assert row["sd"] == pytest.approx(np.std(fits, ddof=1))
    half = stats.t.ppf(0.975, 3) * np.sqrt(part.variance)
    assert found.interval == pytest.approx(
        (np.mean(list(found.score.values)), 92.5 + half)
    )  # over all


def test_a_seed_far_below_the_best_that_learnt_something_has_not_failed():
    scores = seeds_of(90.0, 94.0, 66.0, 91.0, 95.0)
    assert with_alarms(scores).value == scores.value
    assert with_alarms(scores, nothing=70.0).value == 92.5


def test_at_some_of_its_seeds_a_score_is_of_the_fits_among_them():
    cell = with_alarms(seeds_of(80.0, 90.0, 60.0, 60.0, 100.0, 95.0))
    found = {seeds: estimate({0: cell.at(seeds)}).value for seeds in ((0, 1), (0, 1, 2), (2, 3))}
    assert found == {(0, 1): 85.0, (0, 1, 2): pytest.approx(85.0), (2, 3): 60.0}
    assert cell.at((0, 2)).at((0,)).value == 80.0
    three = seeds_of(70.0, 71.0, 72.0)
    differ = estimate({0: cell}, {0: three})
    assert differ.value == pytest.approx(85.0 - 71.0) and differ.n_seeds == 3
    assert differ.score.of_side(cell.at((0, 1, 2))) == pytest.approx(85.0)
    of, keys = Cell("full", "mnli"), [(f"dev_{which}", "accuracy", "") for which in MNLI]
    two_sets = Samples({of: dict(zip(keys, (cell, cell.minus(10.0)), strict=True))}).headline(of)
    assert two_sets.at((0, 1, 2)).value == pytest.approx(80.0)


def test_a_lead_against_the_mean_over_all_fits_is_decided_by_no_number_of_seeds():
    a = {0: seeds_of(81.9, 82.0, 82.1, 82.0, 82.0)}
    b = {0: with_alarms(seeds_of(90.0, 90.1, 90.2, 89.9, 49.0))}
    found = estimate(b, a)
    assert found.value > 8 and found.p == 1
    assert found.needs(found.value) == "training that varies less"


def test_where_half_of_the_fits_have_failed_a_score_is_of_all_and_so_is_what_it_is_compared_with():
    most, one, none = (30.0, 31.0, 32.0, 90.0, 91.0), (90.0, 91.0, 92.0, 93.0, 30.0), [90.0] * 5
    a, b, c = ({0: with_alarms(seeds_of(*of))} for of in (most, one, none))
    assert estimate(a).value == np.mean(most) and estimate(a).alarms == "seeds_disagree:3/5"
    found, own = estimate(a, b), stats.ttest_rel(most, one)
    assert found.value == pytest.approx(np.mean(most) - np.mean(one))
    assert found.score.of_side(b[0]) == np.mean(one)
    assert found.p == pytest.approx(own.pvalue, rel=1e-4)
    assert estimate(b, c).value == 91.5 - 90.0
    both = estimate({0: a[0], 1: b[0]}, {0: c[0], 1: c[0]})
    assert both.value == pytest.approx((np.mean(most) + np.mean(one)) / 2 - 90.0)
    row = numbers(estimate(a))
    assert row["sd"] == pytest.approx(np.std(most, ddof=1)) and row["mean"] == np.mean(most)
    assert estimate({0: with_alarms(seeds_of(90.0, 30.0))}).value == 60.0


@pytest.mark.parametrize(("limits", "apart"), [((0.0, 100.0), 10.0), ((-100.0, 100.0), 20.0)])
def test_a_fit_has_failed_if_it_is_a_tenth_of_the_metrics_range_below_the_best(limits, apart):
    scores = replace(seeds_of(90.0, 90.0 - apart, 89.99 - apart), limits=limits)
    found = with_alarms(scores, nothing=100.0)
    assert found.raised == "seeds_disagree:1/3" and found.value == 90.0 - apart / 2


def test_an_interval_reaches_to_the_mean_over_all_fits_so_that_no_side_gains_by_its_failures():
    fits = [90.0, 90.1, 90.2, 90.3, 90.4]
    lower, higher = [fit - 2.0 for fit in fits], [fit + 2.0 for fit in fits]
    one = with_alarms(seeds_of(*fits[:4], 30.0))  # 78.1 over all, 90.15 of four
    above, below = (estimate({0: one}, {0: seeds_of(*of)}) for of in (lower, higher))
    assert above.value > 1.9 and above.interval[0] == pytest.approx(78.12 - 88.2)
    assert above.p == 1 and above.interval[1] < 2.5 and not above.within(10.0)
    assert below.interval == pytest.approx((78.12 - 92.2, below.interval[1]))
    assert below.interval[1] < -1 and below.p < 0.001
    many = {task: seeds_of(*fits) for task in range(5)}  # of 12 points lost a sixth
    few = estimate(many | {0: one}, many)
    assert few.interval[0] == pytest.approx(-12.08 / 5) and few.within(2.5) and not few.within(2)


def test_a_mean_below_the_bag_of_words_is_an_alarm_without_a_mark():
    assert is_marked("below_bag_of_words:3/3;majority_rate:2/3")
    assert not is_marked("below_bag_of_words:3/3") and not is_marked("")


def test_fine_tuning_seeds_of_one_pre_training_do_not_count_as_more_of_it():
    scores = [50, 52, 60, 62]
    nested = seeds_of(*scores, pretrain=(0, 0, 1, 1))
    alone = seeds_of(*scores, pretrain=(0, 0, 0, 0))
    assert nested.over_seeds == Component(pytest.approx(np.var([51, 61], ddof=1) / 2), 1)
    assert alone.over_seeds == Component(pytest.approx(np.var(scores, ddof=1) / 4), 3)
    uneven = seeds_of(50, 52, 60, pretrain=(0, 0, 1))
    assert uneven.over_seeds.variance == pytest.approx(np.var([51, 60], ddof=1) * (4 + 1) / 9)


def test_a_difference_is_paired_by_seed_whatever_their_order():
    a, b = seeds_of(10, 20, 60), seeds_of(11, 61, 21)
    b = replace(b, seeds=(0, 2, 1))
    assert total([a, b], [1, -1]).values == pytest.approx([-1, -1, -1])
    assert total([a, b.at([1])], [1, -1]).seeds == (1,)
    assert total([a, None], [1, -1]) is total([a, replace(b, seeds=(3, 4, 5))], [1, -1]) is None


def test_a_mean_that_lacks_a_task_has_no_estimate():
    line, pool = {"a": seeds_of(1, 2), "b": None}, SeedPool()
    assert pool.estimate([(1.0, line)], {"a": 0.5, "b": 0.5}) is None
    assert pool.estimate([(1.0, line)], {"a": 1.0}).value == 1.5
    assert pool.estimate([], {"a": 1.0}) is None


def test_the_variance_over_seeds_is_the_mean_of_the_variants_with_their_seeds_weighed():
    three, two = seeds_of(50, 56, 53), seeds_of(40, 44, 40, pretrain=(0, 1, 0))
    pool = [{"rte": one} for one in (three, three, two)]
    unit = (9 + 9 + 8) / 3  # the variances of a unit: 9 of three, 8 of the two of the control
    assert (three.share, two.share) == (pytest.approx(1 / 3), pytest.approx(5 / 9))
    pooled, excess = estimate({"rte": three}, {"rte": two}, pool=pool).seeds
    assert pooled.variance == pytest.approx((1 / 3 + 5 / 9) * unit)
    assert pooled.df == pytest.approx((2 + 2 + 1) / 2)
    by_model = np.array([(10 + 13) / 2, 12])  # the contrast's means over each of the two controls
    own = by_model.var(ddof=1) * 5 / 9
    assert (excess.variance, excess.df) == (pytest.approx(max(0, own - pooled.variance)), 1)
    one, other = {"rte": three}, {"rte": seeds_of(41, 45, 42)}
    twice = [(1.0, one), (-1.0, pool[2]), (-1.0, other), (1.0, pool[2])]  # it cancels out
    pooled = SeedPool(dict(enumerate(pool))).estimate(twice, {"rte": 1.0}).seeds[0]
    assert pooled.variance == pytest.approx(2 / 3 * unit)


def first_that_shows(counts, distance, error_of, df_of):
    """The least number whose t interval and the quantile of 80 % power reach the distance."""
    for n in counts:
        quantile = stats.t.ppf(0.975, df_of(n)) + stats.norm.ppf(0.8)
        if quantile * error_of(n) <= distance:
            return n


@pytest.mark.parametrize("distance", [40.0, 4.0, 2.5])
def test_the_seeds_that_an_effect_needs_are_those_of_the_formula(distance):
    found = estimate({0: seeds_of(4, 6, 1)})  # a variance of 19/3 between seeds
    n = first_that_shows(range(4, 99), distance, lambda n: np.sqrt(19 / 3 / n), lambda n: n - 1)
    assert found.needs(distance) == f"{n} seeds"
    assert found.decides(n) <= distance and (n == 4 or found.decides(n - 1) > distance)


def test_where_the_rows_are_too_few_they_are_named_as_well():
    sure = (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) ** 2
    more = 2 * sure * 4.0 / 5.0**2  # 2.5 times as many
    found = estimate_of(1.0, [Component(1.0, 1)], Component(4.0, 99))
    for n in range(2, 99):
        parts = [Component(2.0 / n, n - 1), Component(4.0 / more, 99 * more)]
        error = np.sqrt(sum(part.variance for part in parts))
        if half_width(parts, 0.95) + stats.norm.ppf(0.8) * error <= 5.0:
            break
    assert found.needs(5.0) == f"{n} seeds and 260 rows a task"
    many = estimate_of(1.0, [Component(0.01, 1)], Component(4.0, 4320))
    assert many.needs(5.0) == "2 seeds and 11,000 rows a task"


def test_what_no_number_of_seeds_shows_needs_other_training_and_one_seed_another():
    assert estimate({0: seeds_of(4, 60, 1)}).needs(0.5) == "training that varies less"
    assert estimate({0: seeds_of(4, 6, 1)}).needs(0.0) == "training that varies less"
    one = estimate({0: seeds_of(60)})
    assert one.value == 60 and np.isnan(one.interval).all() and np.isnan(one.p)
    assert one.needs(5) == "2 seeds"


@pytest.mark.parametrize("limits", [(0.0, 100.0), (-100.0, 100.0)])
def test_where_nothing_varies_the_rows_alone_bound_the_value(limits):
    same = {0: replace(seeds_of(*limits[1:] * 3), limits=limits, n_rows=400)}
    wild = [{0: seeds_of(60.0, 70.0)}] * 2  # whatever other lines vary
    found, share = estimate(same, pool=wild), 1 - 0.025 ** (1 / 400)  # Clopper and Pearson's
    assert stats.binomtest(0, 400).proportion_ci(0.95).high == pytest.approx(share)
    assert found.interval == pytest.approx((100 - share * np.ptp(limits), 100.0))
    lead = estimate({0: same[0].minus(53.3)}, pool=wild)  # of which the mean is rounded
    assert lead.interval == pytest.approx((46.7 - share * np.ptp(limits), 46.7))
    equal, reach = estimate(same, same), 2 * np.ptp(limits)
    assert equal.interval == pytest.approx((-share * reach, share * reach))
    assert equal.p == 1 and equal.within(5.0) and not equal.within(1.0)
    few = {0: replace(same[0], n_rows=20)}
    assert not estimate(few, few).within(5.0)
    assert estimate(same, few).interval == estimate(few, few).interval
    n = int(estimate(few, few).needs(5.0).removesuffix(" rows a task").replace(",", ""))
    assert estimate(same, same).decides(9) == pytest.approx(share * reach)
    assert reach * (1 - 0.025 ** (1 / n)) <= 5.0 < reach * (1 - 0.025 ** (1 / (n - 10)))
    as_given = estimate({0: replace(same[0], n_rows=1)})  # rows that were not resampled
    assert np.isnan(as_given.interval).all()


def test_values_by_seed_vary_over_pre_training_alone():
    found = of_seeds({3: 1.0, 5: 4.0})
    assert found.seeds == found.pretrain == (3, 5) and found.n_units == 2
    assert list(found.values) == [1.0, 4.0] and found.over_rows.variance == 0


def test_holm_is_that_worked_out_by_hand():
    assert holm([0.01, 0.04, np.nan, 0.03]) == pytest.approx(
        [0.03, 0.06, np.nan, 0.06], nan_ok=True
    )
    assert list(holm([0.6, 0.9])) == [1.0, 1.0]
