"""Nearest neighbours: a row gets the answer of the training rows that are most like it."""

from collections import Counter

import numpy as np

from tasks.example import Example
from tasks.task import Task
from tasks.word_features import Features

NEIGHBOURS = 5
AT_ONCE = 500  # texts per block, so that their similarities to all training rows fit into memory


def predict(
    task: Task, train: list[Example], rows: list[Example], features: Features
) -> np.ndarray:
    """Predictions [n] for `rows`: the majority label of their nearest training rows.

    Nearness is the cosine similarity of the counts of `features`. Scores are averaged instead; of
    several choices, the one whose neighbours are most often right is predicted.
    """
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.preprocessing import normalize

    n = len(rows[0].choices) if task.family == "multiple_choice" else 1
    labels = np.array([k == row.label if n > 1 else row.label for row in train for k in range(n)])
    count = CountVectorizer(analyzer=lambda found: found)
    known = normalize(count.fit_transform(found for row in train for found in features(task, row)))
    asked = normalize(count.transform(found for row in rows for found in features(task, row)))
    k = min(NEIGHBOURS, len(labels))
    answers = []
    for start in range(0, asked.shape[0], AT_ONCE):
        alike = (asked[start : start + AT_ONCE] @ known.T).toarray()
        answers += [labels[row] for row in np.argsort(-alike, axis=1, kind="stable")[:, :k]]
    if n > 1:
        return np.mean(answers, axis=1).reshape(-1, n).argmax(axis=1)
    if task.soft_labels:
        return np.mean(answers, axis=1)
    return np.array([Counter(near.tolist()).most_common(1)[0][0] for near in answers])
