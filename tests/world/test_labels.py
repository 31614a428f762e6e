"""Labels follow from the texts: the oracle scores 100, and would not if a label were wrong."""

import dataclasses

import numpy as np
import pytest

from tasks import PAPER_TASKS, Example, task
from tasks.baselines import bag_of_words, majority
from tasks.metrics import score
from tests.world.oracle import answer

NAMES = [t.name for t in PAPER_TASKS] + ["dprd"]


def mistakes(name: str, examples: list[Example]) -> list[Example]:
    """The examples whose label is not the oracle's answer."""
    return [e for e in examples if answer(name, e) != pytest.approx(e.label, abs=1e-4)]


@pytest.mark.parametrize("name", NAMES)
def test_the_oracle_scores_100_on_every_split_of_two_worlds(splits, other_splits, name: str):
    for world in (splits, other_splits):
        for split, examples in world(name).items():
            assert mistakes(name, examples) == [], split


@pytest.mark.parametrize("name", NAMES)
def test_the_oracle_notices_each_changed_label(other_splits, name: str):
    kind, examples = task(name), other_splits(name)[task(name).train][:50]
    n = len(kind.labels)
    step = 0.5 if kind.soft_labels else 1
    changed = [dataclasses.replace(e, label=(e.label + step) % n) for e in examples]
    assert len(mistakes(name, changed)) == len(examples)


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


def test_a_bag_of_words_beats_the_majority_on_most_tasks_and_is_far_from_the_oracle(splits):
    gains, scores = {}, {}
    for kind in PAPER_TASKS:
        train, rows = splits(kind.name)[kind.train], splits(kind.name)[kind.main]
        labels = np.array([e.label for e in rows])
        constant, bag = (
            score(kind.spec, predict(kind, train, rows), labels)[kind.metric]
            for predict in (majority, bag_of_words)
        )
        gains[kind.name], scores[kind.name] = bag - constant, bag
    print(gains, scores)
    # One standard error of a score of 1,000 rows is at most 1.6 points.
    assert sum(gain > 3 for gain in gains.values()) >= 8, gains
    assert max(scores.values()) < 92, scores
    assert np.mean(list(scores.values())) < 75, scores


@pytest.mark.parametrize("name", NAMES)
def test_texts_are_short_enough_for_a_small_context(splits, name: str):
    limits = {"race": 70, "story_cloze": 45}
    for e in (e for rows in splits(name).values() for e in rows):
        longest = max([len(c.split()) for c in e.choices] or [0])
        assert len(f"{e.first} {e.second}".split()) + longest <= limits.get(name, 30)
