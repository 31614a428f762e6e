"""Baselines: the best constant answer, linear models on words and classes, nearest neighbours.

    python -m tasks baselines cola --examples examples/cola --out cola.json

All are fitted on the train split (the first two on all of its rows, the others on at most 10,000)
and scored on every other labelled one, by the same metric function as the fine-tuned models. None
is a neural network:

- constant answer: the one that scores best on the training rows;
- bag of words: each text's words, the words that two texts share, and how much they overlap;
- word overlap (two texts): how many words the texts share;
- one text: the bag of words of only one of two texts, the better one; for multiple choice, of the
  choices only;
- word pairs (two texts): the bag of words, and each word of one text with each word of the other;
- word classes: word pairs, each word replaced by its class in the books (`tasks.word_classes`);
- class orders: ordered pairs of classes within three words, and pairs of these pairs across the
  texts, or within a single one; not for long texts such as RACE's published ones;
- nearest neighbours: the answer of the five training rows whose runs of classes are most alike;
- affix bigrams (one text): neighbouring words by their first and last letters.
"""

import argparse
import functools
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import combinations_with_replacement, pairwise, product
from pathlib import Path
from typing import Any

import numpy as np

from tasks import task as task_named
from tasks import word_classes
from tasks.common.errors import InputError
from tasks.common.records import BaselinesRecord, Scores
from tasks.examples import facts_of, read_labelled
from tasks.metrics import score_split
from tasks.spec import Example
from tasks.splits import drawn
from tasks.task import Task
from tasks.word_classes import WordClasses, words
from tasks.world import read_degrees

MAX_ROWS = 10_000  # training rows that each baseline but the first two is fitted to
LONG = 150  # words of a row, on average, of which pairs of pairs would not fit into memory
STRENGTHS = (0.1, 1.0, 10.0)  # C: the inverse of the regularisation
FOLDS = 3
MAX_FEATURES = 50_000  # the most frequent ones
NEIGHBOURS = 5
NEAR = 3  # maximum distance in words of an ordered pair
LONGEST = 3  # maximum number of words in a run
AT_ONCE = 500  # texts per block, so that their similarities to all training rows fit into memory
Texts = list[list[str]]  # the words of a row's texts, of multiple choice with one of the choices
# The words to count of these texts in a task of a family.
Features = Callable[[Texts, str], list[str]]


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
    """Predictions [n] for `rows` by a linear model on word counts, without tuning."""
    return linear(task, train, rows, bag, tuned=False)


def linear(
    task: Task, train: list[Example], rows: list[Example], features: Features, tuned: bool = True
) -> np.ndarray:
    """Predictions [n] for `rows` by logistic (STS-B: ridge) regression on counts of `features`.

    For multiple choice a binary classifier scores each choice, and the best one is predicted. If
    `tuned`, the regularisation is chosen by cross-validation.
    """
    # Imported here, because they take a second to import.
    from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, Ridge
    from sklearn.model_selection import GridSearchCV, GroupKFold

    n, labels = _labels(task, train)
    if len(set(labels)) == 1:  # no regression can be fitted to a single label
        return np.full(len(rows), labels[0])
    counts, asked = _counts(task, train, rows, features, MAX_FEATURES)
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
    if n > 1:
        return model.decision_function(asked).reshape(-1, n).argmax(axis=1)
    return model.predict(asked)


def nearest(
    task: Task, train: list[Example], rows: list[Example], features: Features
) -> np.ndarray:
    """Predictions [n] for `rows`: the majority label of their nearest training rows.

    Nearness is the cosine similarity of the counts of `features`. Scores are averaged instead; of
    several choices, the one whose neighbours are most often right is predicted.
    """
    from sklearn.preprocessing import normalize

    n, labels = _labels(task, train)
    known, asked = map(normalize, _counts(task, train, rows, features, None))
    answers = []
    for start in range(0, asked.shape[0], AT_ONCE):
        alike = (asked[start : start + AT_ONCE] @ known.T).toarray()
        closest = np.argsort(-alike, axis=1, kind="stable")[:, :NEIGHBOURS]
        answers += [np.array(labels)[row] for row in closest]
    if n > 1:
        return np.mean(answers, axis=1).reshape(-1, n).argmax(axis=1)
    if task.soft_labels:
        return np.mean(answers, axis=1)
    return np.array([Counter(near.tolist()).most_common(1)[0][0] for near in answers])


def _labels(task: Task, train: list[Example]) -> tuple[int, list[Any]]:
    """The number of choices of a row, else 1, and the labels; of a choice, whether it is right."""
    if task.family != "multiple_choice":
        return 1, [row.label for row in train]
    n = len(train[0].choices)
    return n, [k == row.label for row in train for k in range(n)]


def _counts(
    task: Task, train: list[Example], rows: list[Example], features: Features, most: int | None
) -> tuple[Any, Any]:
    """Sparse counts [n, features] of the training rows and of `rows`, or of all their choices.

    Counted are the training rows' features, the `most` frequent ones if there are more.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    count = CountVectorizer(analyzer=lambda of: features(of, task.family), max_features=most)
    known, asked = ([of for row in part for of in texts(task, row)] for part in (train, rows))
    return count.fit_transform(known), count.transform(asked)


def baselines(
    task: Task,
    splits: dict[str, list[Example]],
    classes: WordClasses | None = None,
    degrees: Mapping[str, set[str]] | None = None,
) -> dict[str, Scores]:
    """{"majority": {split: {metric: 0..100}}, "bag_of_words": {...}, ...}, for all but train.

    With the `degrees` of the synthetic world's rows (`read_degrees`) each split is scored by degree
    as well, as `{split}_{degree}`.

    Baselines that do not apply to a task are absent, such as word classes without books. For
    `one_text` each score is that of the better text. Raises InputError if there is no training row.
    """
    train = splits.get("train")
    if not train:
        raise InputError(f"{task.name}: no train rows; prepare the examples again")
    scored = {split: rows for split, rows in splits.items() if split != "train"}
    rows = [example for part in scored.values() for example in part]
    degree_of = {row: degree for degree, those in (degrees or {}).items() for row in those}
    some = drawn(train, MAX_ROWS, 0, "baselines")
    fitted: dict[str, Features] = {"word_overlap": word_overlap, "word_pairs": word_pairs}
    if task.family == "classification":
        fitted = {"affix_bigrams": affix_bigrams}
    answers = {
        "majority": majority(task, train, rows),
        "bag_of_words": bag_of_words(task, train, rows),
    }
    if classes:
        class_of = {word: str(number) for word, number in classes.items()}
        pairs, orders, runs = (
            functools.partial(features, of=lambda word: class_of.get(word, "-"))
            for features in (word_pairs, word_orders, word_runs)
        )
        fitted["word_classes"] = pairs
        if np.mean([len(f"{row.first} {row.second}".split()) for row in some]) <= LONG:
            fitted["class_orders"] = orders
        answers["nearest_neighbours"] = nearest(task, some, rows, runs)
    answers |= {name: linear(task, some, rows, features) for name, features in fitted.items()}
    found = {name: scores(task, scored, own, degree_of) for name, own in answers.items()}
    if task.family != "classification":
        each = []
        for place in (-1,) if task.family == "multiple_choice" else (0, -1):
            alone = linear(task, some, rows, functools.partial(one_text, place=place))
            each.append(scores(task, scored, alone, degree_of))
        found["one_text"] = {
            split: {name: max(one[split][name] for one in each) for name in values}
            for split, values in each[0].items()
        }
    return found


def scores(
    task: Task,
    splits: dict[str, list[Example]],
    predictions: np.ndarray,
    degree_of: Mapping[str, str],
) -> Scores:
    """{split: {metric: 0..100}} of predictions [n] for the rows of all `splits`, in their order."""
    found: Scores = {}
    starts = np.cumsum([len(rows) for rows in splits.values()])[:-1]
    for (split, rows), part in zip(splits.items(), np.split(predictions, starts), strict=True):
        labels = np.array([row.label for row in rows])
        degrees = [degree_of.get(task.place(row.guid), "") for row in rows]
        for groups in ([row.group for row in rows], degrees):
            found |= score_split(task.spec, part, labels, groups, split)
    return found


def texts(task: Task, example: Example) -> list[Texts]:
    """The words of one or both texts; for multiple choice, of document, question and choice."""
    first, second = words(example.first), words(example.second)
    if task.family == "multiple_choice":
        return [[first, second, words(choice)] for choice in example.choices]
    return [[first] if task.family == "classification" else [first, second]]


def bag(parts: Texts, family: str, of: Callable[[str], str] = str) -> list[str]:
    """Words in one text only, words in both, and the overlap as a share of the second's words."""
    *before, last = parts
    if not before:
        return [of(word) for word in last]
    # A similarity pair has no order: a word in only one text is the same feature for either. The
    # context, which all choices share, cannot separate them: it counts only through the overlap.
    names = {"similarity": ("only", "only"), "multiple_choice": ("", "choice")}
    first = [word for text in before for word in text]
    shared = set(first) & set(last)
    found = [f"both {of(word)}" for word in sorted(shared)]
    for part, name in zip((first, last), names.get(family, ("first", "second")), strict=True):
        found += [f"{name} {of(word)}" for word in part if name and word not in shared]
    # The overlap, as the share of the second text's words, in tenths.
    return [*found, f"overlap {10 * len(shared) // max(1, len(set(last)))}"]


def word_pairs(parts: Texts, family: str, of: Callable[[str], str] = str) -> list[str]:
    """The bag of words, and each pair of a word in the last text and a word in one before it."""
    return bag(parts, family, of) + _across([{of(word) for word in text} for text in parts], family)


def word_orders(parts: Texts, family: str, of: Callable[[str], str] = str) -> list[str]:
    """Each ordered pair of words near each other, and each pair of such pairs.

    Pairs of pairs are across texts: a pair in the last one with a pair in any text before it. In a
    single text they are within it.
    """
    *before, last = in_order = [_in_order(text, of) for text in parts]
    found = [f"last {pair}" for pair in last]
    found += [f"{number} {pair}" for number, pairs in enumerate(before) for pair in pairs]
    if before:
        return found + _across(in_order, family)
    return found + [" ".join(pairs) for pairs in combinations_with_replacement(last, 2)]


def _across(parts: Sequence[Collection[str]], family: str) -> list[str]:
    """Each pair of what stands in the last text and in one before it; of a similarity, sorted."""
    found = []
    for number, part in enumerate(parts[:-1]):
        for pair in product(part, parts[-1]):
            one, other = sorted(pair) if family == "similarity" else pair
            found.append(f"{number} {one} {other}")
    return found


def _in_order(text: list[str], of: Callable[[str], str]) -> list[str]:
    """The distinct pairs of words up to `NEAR` apart, as "one>other"; text ends count as words."""
    names = ["^", *map(of, text), "$"]
    return sorted(
        {f"{name}>{other}" for i, name in enumerate(names) for other in names[i + 1 : i + 1 + NEAR]}
    )


def word_runs(parts: Texts, _: str, of: Callable[[str], str] = str) -> list[str]:
    """Every run of up to three words of each text, where the text's ends count as words."""
    ends = (["^", *map(of, text), "$"] for text in parts)
    return [
        f"{number} {' '.join(names[i : i + n])}"
        for number, names in enumerate(ends)
        for n in range(1, LONGEST + 1)
        for i in range(len(names) - n + 1)
    ]


def word_overlap(parts: Texts, family: str) -> list[str]:
    """The numbers of shared and unshared words, and the shared fraction of each text's words."""
    first, second = {word for text in parts[:-1] for word in text}, {*parts[-1]}
    shared = len(first & second)
    found = ["both"] * shared + ["second"] * (len(second) - shared)
    found += ["first"] * (len(first) - shared) * (family != "multiple_choice")
    shares = (10 * shared // max(1, len(text)) for text in (first, second))
    return [*found, *(f"{name} {share}" for name, share in zip("ab", shares, strict=True))]


def one_text(parts: Texts, _: str, place: int) -> list[str]:
    """The words of the first text (place 0) or of the last one (-1), without the other."""
    return parts[place]


def affix_bigrams(parts: Texts, _: str) -> list[str]:
    """Each pair of adjacent words, by the words themselves and by their first and last letters."""
    found = []
    for pair in pairwise(["^", *parts[0], "$"]):
        forms = ([word, f"{word[0]}-", f"-{word[-1]}", f"-{word[-2:]}"] for word in pair)
        found += [" ".join(bigram) for bigram in product(*forms)]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", help="a task's name")
    parser.add_argument("--examples", type=Path, required=True, help="what tasks.prepare wrote")
    parser.add_argument(
        "--word-classes", type=Path, nargs="?", help="what tasks.word_classes wrote"
    )
    parser.add_argument("--degrees", type=Path, nargs="?", help="the synthetic world's degrees.csv")
    parser.add_argument("--out", required=True, type=Path, help="JSON: each baseline's scores")
    args = parser.parse_args()
    settings = facts_of(args.task, args.examples).settings
    task = task_named(args.task, settings.own)
    classes = word_classes.read(args.word_classes) if args.word_classes else None
    degrees = read_degrees(args.degrees) if args.degrees and settings.is_made else None
    scores = baselines(task, read_labelled(task.name, args.examples), classes, degrees)
    BaselinesRecord(task=task.name, **scores).write(args.out)
    for name, by_split in scores.items():
        values = ", ".join(f"{split} {value[task.metric]:.1f}" for split, value in by_split.items())
        print(f"{task.title} {name}: {task.metric} {values}")
