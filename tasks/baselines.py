"""Baselines: the best constant answer, and a linear model on bag-of-words features.

    python -m tasks.baselines cola --examples examples/cola --out cola.json

Both are fitted on the train split and scored on every other labelled one, by the same metric
function as the fine-tuned models. The bag of words sees each text's words, the words that two texts
share and how many these are; never the order of words.
"""

import argparse
import math
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tasks import task as task_named
from tasks.common.arrow import split_names
from tasks.common.errors import InputError, run
from tasks.common.files import write_json
from tasks.examples import Example, check_split, read, read_facts
from tasks.metrics import score_split
from tasks.task import Task

WORD = re.compile(r"\w+|[^\w\s]")
Scores = dict[str, dict[str, float]]


def majority(task: Task, train: list[Example], rows: list[Example]) -> np.ndarray:
    """The one answer that scores best on the training rows; STS-B: the mean score.

    Under accuracy and Matthews that is the most frequent label (the smaller index if tied); under
    F1 it is the positive class, however rare, because never predicting it scores 0.
    """
    labels = [example.label for example in train]
    if task.soft_labels:
        return np.full(len(rows), np.mean(labels))
    counts = Counter(labels)
    best = 1 if task.metric == "f1" else min(counts, key=lambda label: (-counts[label], label))
    return np.full(len(rows), best, dtype=int)


def bag_of_words(task: Task, train: list[Example], rows: list[Example]) -> np.ndarray:
    """Predictions [n] for `rows` by logistic (STS-B: ridge) regression on word counts of `train`.

    For multiple choice a binary classifier scores each choice, and the best one is predicted.
    """
    # Here, because only this function needs them and they take a second to import.
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline

    labels = [example.label for example in train]
    regression = Ridge(alpha=10.0) if task.soft_labels else LogisticRegression(max_iter=1000)
    count = CountVectorizer(analyzer=lambda words: words, max_features=50_000)
    model = make_pipeline(count, regression)
    if task.family == "multiple_choice":
        n = len(rows[0].choices)
        right = [k == label for label in labels for k in range(n)]
        model.fit(features(task, train), right)
        return model.decision_function(features(task, rows)).reshape(-1, n).argmax(axis=1)
    if len(set(labels)) == 1:  # which no regression can be fitted to
        return majority(task, train, rows)
    return model.fit(features(task, train), labels).predict(features(task, rows))


def baselines(task: Task, splits: dict[str, list[Example]]) -> dict[str, Scores]:
    """{"majority": {split: {metric: 0..100}}, "bag_of_words": {...}} for every split but train."""
    train = splits.get("train")
    if not train:
        raise InputError(f"{task.name}: no train rows; prepare the examples again")
    scored = {split: rows for split, rows in splits.items() if split != "train"}
    rows = [example for part in scored.values() for example in part]
    return {
        "majority": _scores(task, scored, majority(task, train, rows)),
        "bag_of_words": _scores(task, scored, bag_of_words(task, train, rows)),
    }


def _scores(task: Task, splits: dict[str, list[Example]], predictions: np.ndarray) -> Scores:
    scores: Scores = {}
    start = 0
    for split, rows in splits.items():
        part = predictions[start : start + len(rows)]
        labels = np.array([example.label for example in rows])
        groups = [example.group for example in rows]
        scores |= score_split(task.spec, part, labels, groups, split)
        start += len(rows)
    return scores


def _words(text: str) -> list[str]:
    return WORD.findall(text.lower())


def features(task: Task, examples: list[Example]) -> Iterator[list[str]]:
    """The features of each example; for multiple choice, of each choice of each example."""
    for example in examples:
        first, second = _words(example.first), _words(example.second)
        if task.family == "classification":
            yield first
        elif task.family == "multiple_choice":
            # What all choices share cannot separate them: the context counts only by its overlap.
            for choice in example.choices:
                yield _compared(first + second, _words(choice), ("", "choice"))
        else:
            # Similarity has no first and second: what only one of both has counts alike.
            names = ("only", "only") if task.family == "similarity" else ("first", "second")
            yield _compared(first, second, names)


def _compared(first: list[str], second: list[str], names: tuple[str, str]) -> list[str]:
    shared = set(first) & set(second)
    features = [f"both {word}" for word in sorted(shared)]
    for words, name in zip((first, second), names, strict=True):
        if name:
            features += [f"{name} {word}" for word in words if word not in shared]
    # The overlap, as the share of the second text's words, in tenths.
    share = len(shared) / max(1, len(set(second)))
    return [*features, f"overlap {math.floor(10 * share)}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", help="a task's name")
    parser.add_argument(
        "--examples", type=Path, required=True, help="the folder that tasks.prepare wrote"
    )
    parser.add_argument("--out", required=True, help="JSON of scores per baseline and split")
    args = parser.parse_args()
    task = task_named(args.task)
    facts = read_facts(args.examples)
    if facts["task"] != task.name:
        raise InputError(f"{args.examples}: examples of {facts['task']}, not of {task.name}")
    labelled = [split for split in split_names(args.examples) if split not in task.unlabelled]
    for split in labelled:
        check_split(args.examples, split, facts)
    splits = {split: read(args.examples, split) for split in labelled}
    scores = baselines(task, splits)
    write_json(args.out, {"task": task.name, **scores})
    for name, by_split in scores.items():
        values = ", ".join(f"{split} {value[task.metric]:.1f}" for split, value in by_split.items())
        print(f"{task.title} {name}: {task.metric} {values}")


if __name__ == "__main__":
    sys.exit(run(main))
