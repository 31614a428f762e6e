"""Seeds pooled over the lines of a run: intervals cover the truth, by simulation."""

import numpy as np
import pytest
from scipy import stats

from tests.analysis.stats.scenarios import estimate, seeds_of, with_alarms
from tests.analysis.stats.test_uncertainty import covers
from workflow.analysis.stats.estimates import SeedPool
from workflow.analysis.stats.scores import Component, Score

TASKS = range(6)


def simulate(rng: np.random.Generator, n_seeds: int, spreads, n_lstm: int = 0) -> list:
    """By variant and task scores of equal expectation: each task has the chance of its own fit, and
    half as much that a seed does to all tasks. The last ones are LSTMs."""
    variants = []
    for i, spread in enumerate(spreads):
        kind = "lstm" if i >= len(spreads) - n_lstm else "transformer"
        scores = 60 + spread * rng.normal(size=(len(TASKS), n_seeds))
        scores += spread / 2 * rng.normal(size=n_seeds)
        variants.append({t: seeds_of(*scores[t], kind=kind) for t in TASKS})
    return variants


CASES = {  # spreads, LSTMs, the other one of the contrast, how many are pooled; least coverage
    "all vary alike": ([3.0] * 8, 0, 1, 8, 0.94, 0.93),
    "the wildest of a run": ([12.0, *[2.0] * 7], 0, 1, 8, 0.85, 0.82),
    "transformers beside LSTMs": ([2.0] * 4 + [12.0] * 2, 2, 1, 6, 0.94, 0.93),
    "both, one LSTM": ([2.0] * 4 + [12.0], 1, 4, 5, 0.94, 0.92),
    "both": ([2.0] * 4 + [12.0] * 2, 2, 4, 6, 0.94, 0.93),
    "a wild control that is left out": ([2.0] * 6 + [12.0], 0, 6, 6, 0.9, 0.88),
}


OF_SEEDS = [(case, n) for case in CASES for n in ([3] if "control" in case else [2, 3, 5])]


@pytest.mark.parametrize(("case", "n_seeds"), OF_SEEDS)
def test_intervals_of_the_mean_and_of_the_worst_task_cover_as_documented(case, n_seeds):
    spreads, n_lstm, other, pooled, least_of_mean, least_of_task = CASES[case]
    rng, means, of_tasks = np.random.default_rng(n_seeds), [], []
    for _ in range(400):
        variants = simulate(rng, n_seeds, spreads, n_lstm)
        pair, pool = (variants[0], variants[other]), variants[:pooled]
        means.append(covers(estimate(*pair, pool=pool).interval, 0.0))
        of_tasks.append([covers(estimate(*pair, [t], pool).interval, 0.0) for t in TASKS])
    assert least_of_mean < np.mean(means) < 1
    assert least_of_task < np.mean(of_tasks, axis=0).min()


def test_two_models_that_answer_alike_are_equal_whatever_other_lines_vary():
    alike = line(0, 0, tasks=TASKS, limits=(-100.0, 100.0))
    found = estimate(alike, pool=[line(60, 70, tasks=TASKS)] * 8)
    share = 200 * stats.binomtest(0, 100).proportion_ci(0.95).high
    assert found.interval == pytest.approx((-share, share)) and found.within(10.0)


def test_two_models_of_shuffled_books_behind_three_fits_are_two_seeds():
    rng, covered = np.random.default_rng(2), []
    for _ in range(400):
        variants = simulate(rng, 3, [2.0] * 6)
        models = 60 + 20 * rng.normal(size=2)[[0, 1, 0]]  # some learn a task, others do not
        fits = {t: models + 2 * rng.normal(size=3) for t in TASKS}
        control = {
            t: seeds_of(*of, pretrain=(0, 1, 0), kind="transformer") for t, of in fits.items()
        }
        covered.append(covers(estimate(variants[0], control, pool=variants).interval, 0.0))
    assert np.mean(covered) > 0.88


def line(*values: float, tasks=(0,), **fields) -> dict[int, Score]:
    """A line with the same scores on each of some tasks."""
    return {task: seeds_of(*values, **fields) for task in tasks}


def test_each_kind_of_line_has_the_variance_of_its_own_pool():
    calm = [line(60, 62, kind="transformer") for _ in "abcd"]
    wild = [line(40, 60, kind="lstm") for _ in "ab"]
    scratch = line(0, 54, kind="transformer from scratch")
    *pooled, excess = estimate(calm[0], wild[0], pool=[*calm, *wild, scratch]).seeds
    assert [*pooled, excess] == [Component(1.0, 2.0), Component(100.0, 1.0), Component(0.0, 1)]
    assert estimate(calm[0], scratch, pool=[*calm, scratch]).seeds[1].variance == 27.0**2
    assert estimate(calm[0], pool=[*calm, scratch]).seeds[0].variance == 1.0
    assert estimate(calm[0], wild[0], pool=calm).seeds[0].df == 1  # no LSTM
    known, others = dict(enumerate(calm)), {"a": wild[0], "b": calm[0], "c": {0: None}}
    others_of_it = {"a": wild[0], "c": {0: None}}
    assert SeedPool(known).with_others(others).variants == known | others_of_it


def test_a_contrast_that_varies_more_than_the_pool_keeps_its_own_variance():
    parts = estimate(line(30, 50, tasks=TASKS), pool=[line(60, 61, tasks=TASKS)] * 8).seeds
    assert sum(part.variance for part in parts) == pytest.approx(100.0)  # (50 - 30)^2 / 2 / 2
    assert [part.df for part in parts] == [4, 1]


def test_lines_whose_independent_seeds_are_of_another_sort_are_not_pooled():
    whole, one_model = line(60, 70, tasks=TASKS), line(60, 60.1, tasks=TASKS, pretrain=(0, 0))
    parts = estimate(whole, pool=[whole, *[one_model] * 7]).seeds
    assert [(part.variance, part.df) for part in parts] == [(25.0, 1), (0.0, 1)]
    alone = estimate(whole, pool=[one_model] * 7).seeds
    assert [(part.variance, part.df) for part in alone] == [(25.0, 1)]


def test_a_failed_fit_changes_no_interval_but_of_means_that_it_is_in():
    scores = {0: [60.0, 62.0, 64.0], 1: [60.0, 61.0, 63.0], 2: [20.0, 60.0, 61.0]}
    failing = {task: with_alarms(seeds_of(*of)) for task, of in scores.items()}
    fitted = failing | {2: seeds_of(60.5, 60.0, 61.0)}
    calm = line(60, 62, 61, tasks=scores)
    of = [estimate(one, calm, [0], [one, calm]) for one in (failing, fitted)]
    assert of[0].interval == of[1].interval
    means = [estimate(one, calm, None, [one, calm]) for one in (failing, fitted)]
    assert means[0].value == pytest.approx(means[1].value)
    assert estimate(failing, calm, [2], [failing, calm]).alarms == "seeds_disagree:1/3"
