"""Labels follow from the texts: the oracle scores 100, and would not if a label were wrong."""

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest

from tasks import PAPER_TASKS, Example, Task, task
from tasks.baselines import bag_of_words, majority
from tasks.metrics import score
from tests.world.oracle import answer

NAMES = [t.name for t in PAPER_TASKS] + ["dprd"]
CHOICES = [t for t in PAPER_TASKS if t.family == "multiple_choice"]
PAIRS = [t for t in PAPER_TASKS if t.family not in ("multiple_choice", "classification")]


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
    assert {e.label for e in splits("stsb")["dev"]} == {0.0, 1.0, 4.0, 5.0}


def scores_of(splits, kind: Task, read: Callable[[Example], Example]) -> tuple[float, float]:
    """The scores of a constant answer, and of a bag of words of what is read."""
    train, rows = splits(kind.name)[kind.train], splits(kind.name)[kind.main]
    labels = np.array([e.label for e in rows])
    seen = [[read(e) for e in of] for of in (train, rows)]
    predictions = majority(kind, train, rows), bag_of_words(kind, *seen)
    constant, bag = (score(kind.spec, of, labels)[kind.metric] for of in predictions)
    return constant, bag


@pytest.mark.parametrize("kind", PAPER_TASKS, ids=lambda kind: kind.name)
def test_a_bag_of_words_is_far_from_the_oracle(splits, kind: Task):
    assert scores_of(splits, kind, lambda e: e)[1] < 90


@pytest.mark.parametrize("left_out", ["first", "second"])
@pytest.mark.parametrize("kind", PAIRS, ids=lambda kind: kind.name)
def test_one_text_of_a_pair_alone_tells_nothing_of_the_label(splits, kind: Task, left_out: str):
    constant, bag = scores_of(splits, kind, lambda e: dataclasses.replace(e, **{left_out: ""}))
    # The standard error of a correlation of 1,000 rows is 3.
    assert bag < constant + (10 if kind.soft_labels else 5)


@pytest.mark.parametrize("kind", CHOICES, ids=lambda kind: kind.name)
def test_choices_alone_tell_nothing_of_the_answer(splits, kind: Task):
    bag = scores_of(splits, kind, lambda e: dataclasses.replace(e, first="", second=""))[1]
    assert bag < 100 / len(splits(kind.name)[kind.main][0].choices) + 5


@pytest.mark.parametrize("name", NAMES)
def test_texts_are_short_enough_for_a_small_context(splits, name: str):
    limits = {"race": 45, "story_cloze": 45}
    for e in (e for rows in splits(name).values() for e in rows):
        longest = max([len(c.split()) for c in e.choices] or [0])
        assert len(f"{e.first} {e.second}".split()) + longest <= limits.get(name, 30)
