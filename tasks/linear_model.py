"""The linear model of the baselines: scikit-learn's regressions on feature counts."""

from collections import Counter

import numpy as np

from tasks.example import Example
from tasks.task import Task
from tasks.word_features import Features

STRENGTHS = (0.1, 1.0, 10.0)  # C: the inverse of the regularisation
FOLDS = 3
MAX_FEATURES = 50_000  # the most frequent ones


def predict(
    task: Task,
    train: list[Example],
    rows: list[Example],
    features: Features,
    tuned: bool = True,
) -> np.ndarray:
    """Predictions [n] for `rows` by logistic (STS-B: ridge) regression on counts of `features`.

    For multiple choice a binary classifier scores each choice, and the best one is predicted. If
    `tuned`, the regularisation is chosen by cross-validation.
    """
    # Imported here, because only this function needs them and they take a second to import.
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, Ridge
    from sklearn.model_selection import GridSearchCV, GroupKFold

    n = len(rows[0].choices) if task.family == "multiple_choice" else 1
    labels = [k == row.label if n > 1 else row.label for row in train for k in range(n)]
    if len(set(labels)) == 1:  # no regression can be fitted to a single label
        return np.full(len(rows), labels[0])
    count = CountVectorizer(analyzer=lambda found: found, max_features=MAX_FEATURES)
    counts = count.fit_transform(found for row in train for found in features(task, row))
    model = Ridge(alpha=10.0) if task.soft_labels else LogisticRegression(max_iter=1000)
    rarest = len(train) if task.soft_labels else min(Counter(labels).values())
    if tuned and rarest >= FOLDS:
        of_row = [i for i in range(len(train)) for _ in range(n)]
        folds = GroupKFold(FOLDS).split(of_row, groups=of_row) if n > 1 else FOLDS
        if task.soft_labels:
            values = {"alpha": tuple(1 / c for c in STRENGTHS)}
            model = GridSearchCV(model, values, cv=folds, scoring="neg_mean_squared_error")
        else:  # each strength starts from the weights of the one before it
            search = LogisticRegressionCV(
                Cs=STRENGTHS,
                cv=folds,
                l1_ratios=(0,),
                scoring="neg_log_loss",
                max_iter=1000,
                use_legacy_attributes=False,
            )
            model.set_params(C=search.fit(counts, labels).C_)
    model.fit(counts, labels)
    counts = count.transform(found for row in rows for found in features(task, row))
    if n > 1:
        return model.decision_function(counts).reshape(-1, n).argmax(axis=1)
    return model.predict(counts)
