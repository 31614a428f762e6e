"""Seeds pooled over the lines of a run: intervals cover the truth, by simulation."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from tests.analysis.stats.scenarios import with_alarms
from tests.analysis.stats.test_uncertainty import covers, seeds_of
from workflow.analysis.stats.pooling import SeedPool, estimates
from workflow.analysis.stats.sample import (
    combine,
    difference,
    equally,
    mean_of,
    over_tasks,
    weight_of,
)

TASKS = range(6)
FAILING = 0.08  # of the fits


def simulate(rng: np.random.Generator, n_seeds: int, spreads, loss: float = 0.0, n_lstm: int = 0):
    """By variant and task scores of equal expectation: each task has the chance of its own fit, and
    half as much that a seed does to all tasks. Some fits fail and lose `loss` points. The last ones
    are LSTMs; if there are any, theirs alone fail."""
    variants = []
    for i, spread in enumerate(spreads):
        arch = "lstm" if i >= len(spreads) - n_lstm else "transformer"
        scores = 60 + spread * rng.normal(size=(len(TASKS), n_seeds))
        scores += spread / 2 * rng.normal(size=n_seeds)
        can_fail = arch == "lstm" or not n_lstm
        scores -= can_fail * loss * (rng.random(scores.shape) < FAILING)
        samples = {task: seeds_of(list(scores[task])) for task in TASKS}
        weighted = {t: replace(of, weights=weight_of(arch)) for t, of in samples.items()}
        variants.append({t: with_alarms(of) for t, of in weighted.items()})
    return variants


def coverage(n_seeds: int, spreads, n_lstm: int = 0, other: int = 1) -> tuple[float, float]:
    """How often the contrast of the first variant and an `other` covers 0: of the mean, and of the
    worst task."""
    rng, means, of_tasks = np.random.default_rng(n_seeds), [], []
    for _ in range(200 if n_seeds < 5 else 400):  # five seeds leave the least room to 95 %
        variants = simulate(rng, n_seeds, spreads, n_lstm=n_lstm)
        paired = {task: difference(variants[0][task], variants[other][task]) for task in TASKS}
        found = estimates(paired, {"mean": list(TASKS)}, SeedPool(variants))
        means.append(covers(found.pop("mean").interval, 0.0))
        of_tasks.append([covers(one.interval, 0.0) for one in found.values()])
    return float(np.mean(means)), float(np.mean(of_tasks, axis=0).min())


@pytest.mark.parametrize("n_seeds", [2, 3, 5])
def test_where_variants_vary_alike_95_of_100_intervals_cover(n_seeds):
    of_mean, of_worst_task = coverage(n_seeds, [3.0] * 8)
    assert 0.94 < of_mean < 1 and 0.93 < of_worst_task < 1


@pytest.mark.parametrize("n_seeds", [2, 3, 5])
def test_the_wildest_of_a_run_is_covered_as_the_documentation_says(n_seeds):
    of_mean, of_worst_task = coverage(n_seeds, [12.0, *[2.0] * 7])
    assert of_mean > 0.85 and of_worst_task > 0.82


@pytest.mark.parametrize("n_seeds", [2, 3, 5])
@pytest.mark.parametrize(
    ("n_lstm", "other"), [(2, 1), (1, 4), (2, 4)], ids=["transformers", "both, one LSTM", "both"]
)
def test_beside_a_wilder_architecture_95_of_100_intervals_cover(n_seeds, n_lstm, other):
    spreads = [2.0] * 4 + [12.0] * n_lstm
    of_mean, of_worst_task = coverage(n_seeds, spreads, n_lstm, other)
    assert of_mean > 0.94 and of_worst_task > 0.93


def test_the_failing_fits_of_one_architecture_widen_no_interval_of_the_other():
    rng = np.random.default_rng(1)
    transformers, lstms = simulate(rng, 3, [2.0] * 4), simulate(rng, 3, [3.0] * 4, 40.0, n_lstm=4)
    paired = {task: difference(transformers[0][task], transformers[1][task]) for task in TASKS}
    alone, beside = (
        [one.interval for one in estimates(paired, seeds=SeedPool(lines)).values()]
        for lines in (transformers, transformers + lstms)
    )
    assert beside == alone


def test_a_contrast_of_two_architectures_has_the_variance_of_each_from_its_own_pool():
    calm = [{0: replace(seeds_of([60.0, 62.0]), weights=weight_of("transformer"))} for _ in "abcd"]
    wild = [{0: replace(seeds_of([40.0, 60.0]), weights=weight_of("lstm"))} for _ in "ab"]
    contrast = difference(calm[0][0], wild[0][0])
    *pooled, excess = SeedPool(calm + wild).parts(contrast, {0: 1.0})
    assert [(part.variance, part.df) for part in pooled] == [(1.0, 2.0), (100.0, 1.0)]
    assert excess.variance == 0 and SeedPool(calm).parts(contrast, {0: 1.0})[0].df == 1  # no LSTM
    completed = SeedPool(calm).with_others([wild[0], calm[0], {0: None}])
    assert [*completed.lines] == [*calm, wild[0], {0: None}]


def test_contrasts_with_wild_controls_that_are_left_out_are_covered():
    rng, covered, of_tasks = np.random.default_rng(1), [], []
    for _ in range(400):
        variants = simulate(rng, 3, [*[2.0] * 6, 12.0])
        paired = {task: difference(variants[0][task], variants[6][task]) for task in TASKS}
        found = estimates(paired, {"mean": list(TASKS)}, SeedPool(variants[:6]))
        covered.append(covers(found.pop("mean").interval, 0.0))
        of_tasks.append([covers(one.interval, 0.0) for one in found.values()])
    assert np.mean(covered) > 0.9 and np.mean(of_tasks, axis=0).min() > 0.88


def test_two_models_of_shuffled_books_behind_three_fits_are_two_seeds():
    rng, covered = np.random.default_rng(2), []
    for _ in range(400):
        variants = simulate(rng, 3, [2.0] * 6)
        models = 60 + 20 * rng.normal(size=2)[[0, 1, 0]]  # some learn a task, others do not
        control = {t: seeds_of(list(models + 2 * rng.normal(size=3)), (0, 1, 0)) for t in TASKS}
        paired = {task: difference(variants[0][task], control[task]) for task in TASKS}
        found = estimates(paired, {"mean": list(TASKS)}, SeedPool(variants))
        covered.append(covers(found["mean"].interval, 0.0))
    assert np.mean(covered) > 0.88


def test_pooled_intervals_are_less_than_half_as_wide_with_two_seeds():
    rng, widths = np.random.default_rng(0), []
    for _ in range(200):
        variants = simulate(rng, 2, [3.0] * 8)
        mean = difference(*(mean_of(samples, TASKS) for samples in variants[:2]))
        paired = {task: difference(variants[0][task], variants[1][task]) for task in TASKS}
        assert mean is not None
        halves = []
        for seeds in (SeedPool(variants), SeedPool()):
            low, high = estimates(paired, {"mean": list(TASKS)}, seeds)["mean"].interval
            halves.append((high - low) / 2)
        widths.append(halves)
    pooled, own = np.median(widths, axis=0)
    assert pooled < own / 2


def test_a_contrast_that_varies_more_than_the_pool_keeps_its_own_variance():
    calm = [{task: seeds_of([60.0, 61.0]) for task in TASKS} for _ in range(8)]
    wild = {task: seeds_of([30.0, 50.0]) for task in TASKS}
    parts = SeedPool(calm).parts(mean_of(wild, TASKS), equally(TASKS))
    assert sum(part.variance for part in parts) == pytest.approx(100.0)  # (50 - 30)^2 / 2 / 2
    assert [part.df for part in parts] == [4, 1]


def lines_with_a_failed_fit() -> tuple[dict, dict, dict]:
    """A line of which one of six fits failed by 40 points, and two whose fits all fit."""
    scores = {0: [60.0, 62.0], 1: [60.0, 62.0], 2: [20.0, 60.0]}
    failing = {task: with_alarms(seeds_of(of)) for task, of in scores.items()}
    calm, other = ({task: seeds_of([60.0, 62.0]) for task in scores} for _ in "ab")
    return failing, calm, other


def test_the_intervals_of_a_line_reach_lower_by_the_failures_that_no_seed_shows():
    failing, calm, other = lines_with_a_failed_fit()
    pool, own = SeedPool([failing, calm, other]), {0: 1.0}
    most, none_of_two = (stats.binomtest(*of).proportion_ci(0.95).high for of in ((1, 6), (0, 2)))
    assert pool.unseen(failing[0], own) == pytest.approx((40 * none_of_two, 0))
    assert pool.unseen(difference(calm[0], failing[0]), own) == pytest.approx((0, 40 * none_of_two))
    assert pool.unseen(failing[2], {2: 1.0}) == (0, 0)  # its own failure is in its variance
    mean = pool.unseen(mean_of(failing, failing), equally(failing))
    assert mean == pytest.approx((40 * (most - 0.5 / 3), 0))
    slope = {0: -0.5, 1: 0.5}
    assert pool.unseen(over_tasks(failing, slope), slope) == pytest.approx((20 * most, 20 * most))
    for sign, score in ((1, 63.0), (1, 59.0), (-1, 63.0), (-1, 59.0)):
        other = seeds_of([score - 2, score + 2])
        found, without = (
            estimates({0: combine([other, line[0]], [sign, -sign])}, seeds=pool)[0]
            for line in (failing, calm)
        )
        wider = np.abs(np.subtract(found.interval, without.interval))
        assert wider == pytest.approx([0, 40 * none_of_two][::sign])
        assert not found.within(30.0) and found.within(80.0)
        assert (found.p == without.p) == (score > 61.0)  # the line that fails is the lower one


def test_a_line_from_scratch_has_no_part_in_what_pre_trained_ones_vary():
    calm = [{0: replace(seeds_of([60.0, 62.0]), weights=weight_of("transformer"))} for _ in "ab"]
    kind = weight_of("transformer from scratch")
    wild = {0: replace(seeds_of([0.0, 54.0]), weights=kind)}
    pool = SeedPool([*calm, wild])
    assert [of.variance for of in pool.parts(calm[0][0], {0: 1.0})] == [1.0, 0.0]
    assert pool.parts(difference(calm[0][0], wild[0]), {0: 1.0})[1].variance == 27.0**2


def test_a_failed_fit_widens_no_interval_of_lines_whose_fits_all_fit():
    failing, calm, other = lines_with_a_failed_fit()
    pool = SeedPool([failing, calm, other])
    assert (
        pool.unseen(calm[0], {0: 1.0})
        == pool.unseen(difference(calm[0], other[0]), {0: 1.0})
        == (0, 0)
    )
    assert pool.parts(calm[0], {0: 1.0})[0].variance == 1.0
    assert not estimates({2: difference(failing[2], calm[2])}, seeds=pool)[2].within(1e6)


def test_variants_with_fewer_seeds_are_not_pooled():
    whole = {task: seeds_of([60.0, 70.0]) for task in TASKS}
    one_pretraining = {task: seeds_of([60.0, 60.1], (0, 0)) for task in TASKS}
    parts = SeedPool([whole, *[one_pretraining] * 7]).parts(mean_of(whole, TASKS), equally(TASKS))
    assert [(part.variance, part.df) for part in parts] == [(25.0, 1), (0.0, 1)]
    alone = SeedPool([one_pretraining] * 7).parts(mean_of(whole, TASKS), equally(TASKS))
    assert [(part.variance, part.df) for part in alone] == [(25.0, 1)]


def test_two_models_that_answer_alike_are_equal_whatever_other_lines_vary():
    variants = [{task: seeds_of([60.0, 70.0]) for task in TASKS} for _ in range(8)]
    alike = {task: replace(seeds_of([0.0, 0.0]), limits=(-100.0, 100.0)) for task in TASKS}
    found = estimates(alike, {"mean": list(TASKS)}, SeedPool(variants))["mean"]
    share = 200 * stats.binomtest(0, 100).proportion_ci(0.95).high
    assert found.interval == pytest.approx((-share, share)) and found.within(10.0)


def test_equal_is_two_one_sided_tests_at_5_of_100():
    rng, said = np.random.default_rng(1), []
    for _ in range(400):
        variants = simulate(rng, 3, [3.0] * 8)
        shifted = {task: seeds_of(list(variants[0][task].score + 2.0)) for task in TASKS}
        paired = {task: difference(shifted[task], variants[1][task]) for task in TASKS}
        found = estimates(paired, {"mean": list(TASKS)}, SeedPool(variants))
        said.append(found["mean"].within(2.0))  # the true difference is at the margin
    assert np.mean(said) < 0.05
