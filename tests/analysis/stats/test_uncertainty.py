"""Intervals cover the truth, false alarms are rare, planted effects are found: by simulation."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import tasks
from tasks.metrics import score
from tests.analysis.stats.scenarios import estimate, seeds_of
from workflow.analysis.rows import Predictions
from workflow.analysis.stats import bootstrap as row_bootstrap
from workflow.analysis.stats.bootstrap import resample
from workflow.analysis.stats.estimates import holm
from workflow.analysis.stats.samples import resampled, shared_texts
from workflow.analysis.stats.scores import Score

N_TASKS, N_ROWS = 8, 150
# Standard deviations, in the units of a row's own noise, of what a row, a seed (on all tasks) and
# a seed (on one task) add to the chance of a right answer.
ROW, COMMON, OWN = 1.0, 0.15, 0.25
TOTAL = np.sqrt(1 + ROW**2 + COMMON**2 + OWN**2)


def simulate(rng: np.random.Generator, n_seeds: int, skills: list[float]) -> list[dict[int, Score]]:
    """By variant and task, right answers of a model whose expected accuracy is known."""
    found: list[dict[int, Score]] = [{} for _ in skills]
    common = COMMON * rng.normal(size=(len(skills), n_seeds))
    for task in range(N_TASKS):
        hard = ROW * rng.normal(size=N_ROWS)
        for variant, skill in enumerate(skills):
            own = OWN * rng.normal(size=n_seeds) + common[variant]
            right = skill + own[:, None] + hard + rng.normal(size=(n_seeds, N_ROWS)) > 0
            found[variant][task] = accuracy(right.astype(int), f"simulated {task}")
    return found


def accuracy(right: np.ndarray, name: str = "rows") -> Score:
    """The accuracy of seeds whose right answers are 1."""
    n_seeds, n_rows = right.shape
    scored = resample("accuracy", right, np.ones(n_rows, int), np.arange(n_rows), name)
    return Score(tuple(range(n_seeds)), tuple(range(n_seeds)), *scored)


def covers(interval: tuple[float, float], truth: float) -> bool:
    return interval[0] <= truth <= interval[1]


@pytest.fixture
def few_resamples(monkeypatch):
    """Enough for a variance, so that hundreds of simulated runs take seconds."""
    monkeypatch.setattr(row_bootstrap, "N_RESAMPLES", 120)
    row_bootstrap.times_drawn.cache_clear()
    yield
    row_bootstrap.times_drawn.cache_clear()


@pytest.mark.parametrize("n_seeds", [2, 3, 5])
def test_intervals_cover_the_true_difference_in_95_of_100_runs(n_seeds, few_resamples):
    rng, skills, n = np.random.default_rng(n_seeds), [0.6, 0.2], 250
    truth = 100 * float(np.subtract(*stats.norm.cdf(np.array(skills) / TOTAL)))
    of_tasks, of_means, of_scores = [], [], []
    for _ in range(n):
        a, b = simulate(rng, n_seeds, skills)
        of_means.append(covers(estimate(a, b).interval, truth))
        of_tasks += [covers(estimate(a, b, [task]).interval, truth) for task in a]
        level = 100 * stats.norm.cdf(skills[0] / TOTAL)
        of_scores += [covers(estimate(a, tasks=[task]).interval, level) for task in a]
    error = np.sqrt(0.95 * 0.05 / n)
    assert np.mean(of_means) >= 0.95 - 2.5 * error
    assert np.mean(of_tasks) >= 0.95 - error and np.mean(of_scores) >= 0.95 - error


def test_a_planted_effect_is_found(few_resamples):
    rng = np.random.default_rng(3)
    on_average, by_task = {2: [], 5: []}, {2: [], 5: []}
    for n_seeds in (2, 5) * 50:
        a, b = simulate(rng, n_seeds, [1.2, 0.0])
        on_average[n_seeds].append(estimate(a, b).p < 0.05)
        by_task[n_seeds] += list(holm([estimate(a, b, [task]).p for task in a]) < 0.05)
    assert np.mean(on_average[5]) > 0.95 and np.mean(by_task[5]) > 0.9
    assert np.mean(on_average[2]) > 0.3  # so little do two seeds say where all tasks share them
    assert 0.05 < np.mean(by_task[2]) < 0.5  # and so little of single tasks


CASES = {"rte": "accuracy", "qqp": "f1", "cola": "matthews", "stsb": "pearson"}


@pytest.mark.parametrize("most", [7, 79, 80, 2000])  # of the blocks in which rows are drawn
@pytest.mark.parametrize("name", [*CASES, "spearman", "macro_f1"])
def test_scores_and_resampled_scores_are_those_of_the_tasks_metrics(name, most, monkeypatch):
    monkeypatch.setattr(row_bootstrap, "MOST_UNITS", most)
    metric = CASES.get(name, name)
    like = {"spearman": "stsb", "macro_f1": "rte"}
    spec = replace(tasks.task(like.get(name, name)).spec, metrics=(metric,))
    rng = np.random.default_rng(0)
    labels = rng.uniform(0, 5, 80) if spec.soft_labels else rng.integers(0, 2, 80)
    said = np.stack([labels + rng.normal(size=80), np.full(80, 2.0)])
    if not spec.soft_labels:
        said = np.stack([np.where(rng.random(80) < 0.7, labels, 1 - labels), np.zeros(80, int)])
    if name == "macro_f1":  # of a third class, which some resamples lack
        labels[:2], said[0, :3] = 2, 2
    scores, boot, n = resample(metric, said, labels, np.arange(80), "a name")
    assert n == 80
    assert scores == pytest.approx([score(spec, one, labels)[metric] for one in said])
    if metric == "spearman":  # ranks of all rows
        return
    # the fifth resample, row by row
    blocks = row_bootstrap.blocks("a name", 80)
    assert np.bincount(blocks).tolist() == [-(-(80 - k) // most) for k in range(min(most, 80))]
    times = row_bootstrap.times_drawn("a name", min(most, 80))[5].astype(int)[blocks]
    again = [score(spec, np.repeat(one, times), np.repeat(labels, times))[metric] for one in said]
    assert boot[:, 5] == pytest.approx(again)


def test_predictions_that_rounding_alone_tells_apart_correlate_zero_on_resampled_rows():
    places, task = np.arange(9), tasks.task("stsb")
    rows = pd.DataFrame({"label": places / 2, "prediction": 2.5 + 1e-7 * places})
    rows = rows.assign(seed=0, split="dev", group="", guid=[f"stsb/dev/{i}" for i in places])
    found = resampled(seeds_of(1.0), Predictions(Path(), rows, {}), task, "dev", "pearson")
    assert found.n_rows == 9 and not found.values.any() and not found.resampled.any()


def test_rows_that_share_a_text_are_drawn_together():
    rng = np.random.default_rng(2)
    right = rng.integers(0, 2, size=(2, 200))
    four_times = np.repeat(right, 4, axis=1)
    apart = resample("accuracy", four_times, np.ones(800, int), np.arange(800), "rows")
    shared = resample(
        "accuracy", four_times, np.ones(800, int), np.repeat(np.arange(200), 4), "rows"
    )
    assert shared[2] == 200
    assert np.var(shared[1].mean(axis=0)) == pytest.approx(
        4 * np.var(apart[1].mean(axis=0)), rel=0.2
    )


@pytest.mark.parametrize(
    ("name", "guids", "texts"),
    [
        ("race", ["race/dev/high/1/0", "race/dev/high/1/1", "race/dev/high/2/0"], [0, 0, 1]),
        ("rte", ["rte/dev/0", "rte/dev/1", "rte/dev/2"], [0, 1, 2]),
    ],
)
def test_questions_about_one_article_are_drawn_together(name, guids, texts):
    assert shared_texts(tasks.task(name), guids).tolist() == texts


def test_blocks_of_many_rows_have_the_variance_of_the_rows():
    rng = np.random.default_rng(4)
    right = (rng.random((1, 9000)) < 0.7) * 1
    _, boot, n = resample("accuracy", right, np.ones(9000, int), np.arange(9000), "many")
    assert n == 9000
    assert boot.std() == pytest.approx(100 * np.sqrt(0.7 * 0.3 / 9000), rel=0.1)
