"""Alarms: signs that a run has learnt nothing."""

import math
from statistics import NormalDist

from gpt1.records import RunRecord

CORRELATIONS = ("matthews", "pearson")  # Matthews' is Pearson's for two binary variables
CHANCE = 0.95  # share of uninformed predictors that stay below `best_of_chance`


def alarms(record: RunRecord, majority: float, split: str, metric: str) -> list[str]:
    """Names of the alarms of a run; empty if there are none.

    `majority_rate`: the score on the main reported split is not above `majority`, the score of the
    best constant answer, or, if the metric is a correlation, not above `best_of_chance`.
    `constant_prediction`: the same prediction for all rows of a reported split. `loss_not_falling`:
    the classification loss is no lower at the end than at the start. `not_fitted`: at the end it is
    not below chance, which is the entropy of the training labels.
    """
    names = []
    least = majority
    if metric in CORRELATIONS:
        least = max(majority, best_of_chance(record.rows[split]))
    if record.scores[split][metric] <= least:
        names.append("majority_rate")
    if record.constant:
        names.append("constant_prediction")
    if not record.clf_loss_end < record.clf_loss_start:
        names.append("loss_not_falling")
    if not record.clf_loss_end < record.label_entropy:
        names.append("not_fitted")
    return names


def best_of_chance(rows: int) -> float:
    """The correlation, 0 to 100, that 1 in 20 uninformed predictors exceeds.

    Without any correlation, the inverse hyperbolic tangent of Pearson's coefficient is about normal
    with variance 1 / (rows - 3) (Fisher 1921, "On the 'probable error' of a coefficient of
    correlation deduced from a small sample").
    """
    if rows <= 3:
        return 100.0
    return 100 * math.tanh(NormalDist().inv_cdf(CHANCE) / math.sqrt(rows - 3))
