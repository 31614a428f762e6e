"""Labels follow from the texts, and from nothing easier than the texts."""

from collections import Counter

import numpy as np
import pytest

from tasks import TASKS, Example, task
from tasks.baselines import bag_of_words
from tasks.metrics import score
from tests.world.oracle import answer

NAMES = [t.name for t in TASKS] + ["dprd"]
PAIRS = [t for t in NAMES if t != "dprd"]


@pytest.mark.parametrize("name", NAMES)
def test_the_oracle_scores_100_on_every_split(splits, name: str):
    for split, examples in splits(name).items():
        for example in examples:
            assert answer(name, example) == pytest.approx(example.label), (split, example)


@pytest.mark.parametrize("name", NAMES)
def test_the_oracle_rejects_a_changed_label(splits, name: str):
    first = next(iter(splits(name).values()))[0]
    assert answer(name, first) != pytest.approx(1 + first.label)


@pytest.mark.parametrize("name", PAIRS)
def test_no_row_occurs_twice_within_or_across_splits(splits, name: str):
    seen: Counter = Counter()
    for examples in splits(name).values():
        for e in examples:
            seen[(*sorted((e.first.lower(), e.second.lower())), *sorted(e.choices))] += 1
    assert max(seen.values()) == 1


@pytest.mark.parametrize("name", PAIRS)
def test_a_bag_of_words_stays_near_the_majority_baseline(splits, name: str):
    kind, rows = task(name), splits(name)
    train = rows[kind.train]
    # A sharper bound would take the rows of several worlds; these are three standard deviations.
    for split in kind.report:
        labels = np.array([e.label for e in rows[split]])
        got = score(kind.spec, bag_of_words(kind, train, rows[split]), labels)
        if kind.soft_labels:
            assert abs(got["pearson"]) < 25
        elif kind.family == "multiple_choice":
            assert got["accuracy"] < 100 / len(rows[split][0].choices) + 12
        else:
            assert got["accuracy"] < 100 * max(np.bincount(labels)) / len(labels) + 12


def lengths(e: Example) -> list[float]:
    """The numbers of characters and words of each text and of both."""
    texts = (e.first, e.second, e.first + e.second)
    return [float(f(t)) for t in texts for f in (len, lambda t: t.count(" "))]


@pytest.mark.parametrize("name", [n for n in PAIRS if task(n).family != "multiple_choice"])
def test_length_does_not_predict_the_label(splits, name: str):
    from sklearn.tree import DecisionTreeClassifier

    kind, rows = task(name), splits(name)
    train = rows[kind.train]
    test = [e for split in kind.report for e in rows[split]]
    cut = np.mean([e.label for e in train]) if kind.soft_labels else None

    def label(e: Example) -> int:
        return int(e.label > cut) if cut is not None else int(e.label)

    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    tree.fit([lengths(e) for e in train], [label(e) for e in train])
    truth = np.array([label(e) for e in test])
    right = np.mean(tree.predict([lengths(e) for e in test]) == truth)
    assert right < max(np.bincount(truth)) / len(truth) + 0.08


@pytest.mark.parametrize("name", ["race", "story_cloze", "dprd"])
def test_neither_position_nor_length_of_a_choice_predicts_the_answer(splits, name: str):
    everything = [e for part in splits(name).values() for e in part]
    n = len(everything[0].choices)
    places = Counter(e.label for e in everything)
    assert max(places.values()) - min(places.values()) <= 2
    for pick in (min, max):
        hits = 0
        for e in everything:
            sizes = [(len(choice), k) for k, choice in enumerate(e.choices)]
            hits += pick(sizes)[1] == e.label
        assert abs(hits / len(everything) - 1 / n) < 0.08


def test_the_answer_of_race_occurs_anywhere_in_the_passage(splits):
    found: Counter = Counter()
    for e in (e for part in splits("race").values() for e in part):
        word = e.choices[int(e.label)].rstrip(".").split()[-1]
        where = [i for i, part in enumerate(e.first.split(".")) if f" {word}" in f" {part}"]
        found[where[0]] += 1
    assert set(found) == {0, 1, 2, 3}
    assert max(found.values()) < 0.35 * sum(found.values())


def test_every_ending_is_right_as_often_as_wrong(splits):
    """An ending predicts nothing without its story."""
    right: Counter = Counter()
    wrong: Counter = Counter()
    for e in (e for part in splits("story_cloze").values() for e in part):
        for k, choice in enumerate(e.choices):
            for word in choice.lower().rstrip(".").split():
                (right if k == e.label else wrong)[word] += 1
    common = [word for word in right if right[word] + wrong[word] >= 40]
    assert len(common) > 10
    for word in common:
        assert 0.3 < right[word] / (right[word] + wrong[word]) < 0.7, word


def test_labels_have_their_intended_shares(splits):
    def share(name: str, label: int) -> float:
        examples = splits(name)["dev"]
        return sum(e.label == label for e in examples) / len(examples)

    assert share("mrpc", 1) == pytest.approx(0.68, abs=0.02)
    assert share("qqp", 1) == pytest.approx(0.37, abs=0.02)
    assert share("cola", 1) == pytest.approx(0.60, abs=0.02)
    scores = [e.label for e in splits("stsb")["dev"]]
    assert {0.0, 5.0} <= set(scores) and len(set(scores)) > 10
    assert any(value % 1 for value in scores)


def test_task_sizes_are_ordered_as_those_of_the_published_sets(splits):
    size = {name: len(splits(name)[task(name).train]) for name in PAIRS}
    small = ["rte", "story_cloze", "mrpc", "stsb", "cola"]
    assert size["rte"] == min(size.values())
    assert max(size[name] for name in small) < min(size[n] for n in ("mnli", "snli", "qqp"))
