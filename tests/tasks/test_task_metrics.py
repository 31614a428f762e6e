"""Metrics against numbers worked out by hand."""

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import f1_score, matthews_corrcoef

from tasks import task
from tasks.metrics import METRICS, expected_score, score, score_split, soft_labels

# Of class 1: 3 hits, 1 false alarm, 2 misses; 4 right zeros.
LABELS = np.array([1, 1, 1, 1, 1, 0, 0, 0, 0, 0])
GUESSES = np.array([1, 1, 1, 0, 0, 1, 0, 0, 0, 0])


def test_f1_of_a_hand_made_table_is_of_class_one_alone():
    scores = score(task("qqp").spec, GUESSES, LABELS)
    assert scores == pytest.approx({"f1": 100 * 6 / 9, "accuracy": 70.0})
    assert score(task("qqp").spec, 1 - GUESSES, 1 - LABELS)["f1"] == pytest.approx(100 * 8 / 11)
    nothing = np.zeros(10, dtype=int)
    assert score(task("qqp").spec, nothing, LABELS)["f1"] == 0.0
    assert score(task("qqp").spec, nothing, nothing) == {"f1": 0.0, "accuracy": 100.0}


@pytest.mark.parametrize("noise", [0.0, 2.4e-7])
def test_a_constant_prediction_correlates_zero(noise):
    labels = np.array([1.0, 2.0, 3.0, 4.0])
    constant = 2.5 + noise * np.arange(4)
    assert score(task("stsb").spec, constant, labels) == {"pearson": 0.0, "spearman": 0.0}
    assert score(task("cola").spec, np.ones(10, dtype=int), LABELS)["matthews"] == 0.0


@pytest.mark.parametrize(
    ("name", "predictions", "labels"),
    [
        ("cola", [], []),
        ("cola", [1, 0], [1]),
        ("stsb", [1.0, float("nan")], [1.0, 2.0]),
        ("cola", [0.7, 0.2], [1, 0]),
        ("cola", [[1], [0]], [[1], [0]]),
    ],
)
def test_what_cannot_be_scored_is_an_error_and_no_number(name, predictions, labels):
    with pytest.raises(ValueError, match=name):
        score(task(name).spec, np.array(predictions), np.array(labels))


@pytest.mark.parametrize("n", [3, 40, 1000])
def test_the_metrics_are_those_of_scikit_learn_and_scipy(n):
    rng = np.random.default_rng(n)
    labels, guesses = rng.integers(0, 2, n), rng.integers(0, 2, n)
    values = rng.random(n).round(1)  # with ties
    noisy = values + rng.random(n)
    assert METRICS["matthews"](labels, guesses) == matthews_corrcoef(labels, guesses)
    assert METRICS["f1"](labels, guesses) == f1_score(labels, guesses)
    for classes in (2, 7):  # of which a few rows have some alone
        sides = rng.integers(0, classes, (2, n))
        found = METRICS["macro_f1"](*sides)
        assert found == pytest.approx(f1_score(*sides, average="macro"), rel=1e-12)
    for name, expected in (("pearson", pearsonr), ("spearman", spearmanr)):
        found = METRICS[name](values, noisy)
        assert found == pytest.approx(expected(values, noisy).statistic, rel=1e-12)


def test_race_is_scored_whole_and_by_half():
    predictions, labels = np.array([0, 1, 2, 3]), np.array([0, 1, 2, 0])
    groups = ["middle", "high", "high", "high"]
    scores = score_split(task("race").spec, predictions, labels, groups, "dev")
    assert {split: values["accuracy"] for split, values in scores.items()} == pytest.approx(
        {"dev": 75.0, "dev_middle": 100.0, "dev_high": 200 / 3}
    )


def test_soft_labels_share_a_score_between_its_two_classes_and_have_it_as_mean():
    targets = soft_labels(np.array([0.0, 2.25, 5.0]))
    assert targets.tolist() == [
        [1, 0, 0, 0, 0, 0],
        [0, 0, 0.75, 0.25, 0, 0],
        [0, 0, 0, 0, 0, 1],
    ]
    scores = np.linspace(0, 5, 41)
    targets = soft_labels(scores)
    assert np.allclose(targets.sum(axis=1), 1.0)
    assert np.allclose(expected_score(targets), scores)
