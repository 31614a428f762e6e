"""What chance gives: a correlation that a predictor which knows nothing seldom passes."""

import numpy as np
import pytest

from gpt1.records import RunRecord
from gpt1.training.alarms import alarms, best_of_chance


@pytest.mark.parametrize("rows", [25, 200, 1000])
@pytest.mark.parametrize("classes", [False, True])
def test_one_in_twenty_predictors_that_know_nothing_passes_chance(classes, rows):
    """Of two classes Pearson's correlation is Matthews'."""
    rng, size = np.random.default_rng(rows), (1000, rows)
    labels, given = (rng.integers(0, 2, size) if classes else rng.normal(size=size) for _ in "ab")
    scores = [100 * np.corrcoef(one, other)[0, 1] for one, other in zip(labels, given, strict=True)]
    passed = np.mean([score > best_of_chance(rows) for score in scores])
    assert 0.02 < passed < 0.08


@pytest.mark.parametrize(
    ("metric", "rows", "score", "names"),
    [
        ("pearson", 1000, 1.3, ["majority_rate"]),
        ("pearson", 1000, 5.3, []),
        ("matthews", 1000, 5.1, ["majority_rate"]),
        ("matthews", 3, 99.0, ["majority_rate"]),
        ("accuracy", 1000, 0.1, []),  # above its majority, which is 0 here
    ],
)
def test_a_correlation_that_chance_gives_on_so_many_rows_raises_an_alarm(
    metric, rows, score, names
):
    scores = {"dev": {metric: score}}
    fitted = {"clf_loss_start": 1.0, "clf_loss_end": 0.5, "label_entropy": 0.6}
    own = RunRecord.model_construct(scores=scores, rows={"dev": rows}, constant=False, **fitted)
    assert alarms(own, 0.0, "dev", metric) == names
