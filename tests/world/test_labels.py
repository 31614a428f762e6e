"""Labels and cloze items follow from the texts, as an oracle reads them, and from nothing easier.

No repeated row, length or position gives them away, and neither does one text alone.
"""

import dataclasses
import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from tasks import PAPER_TASKS, Example, Task, task
from tasks.baselines import bag_of_words, majority
from tasks.metrics import score
from tasks.world.draw import NEGATORS, Draw
from tasks.world.tasks import WORLD_TASKS
from tests.world import oracle
from tests.world.conftest import LARGE, NAMES
from tests.world.parser import CLASS, FEELINGS, tokens

CHOICES = [t for t in PAPER_TASKS if t.family == "multiple_choice"]
PAIRS = [t for t in PAPER_TASKS if t.family not in ("multiple_choice", "classification")]
LABELLED = [t.name for t in PAPER_TASKS if t.family != "multiple_choice"]
STATES = ("happy", "sad", "fresh", "weary")
MARGIN = 0.09  # of a share of 1,000 rows, whose standard error is at most 0.016
# The reversals in a combination that training rows of a task lack.
TWO_OF_ONE = {"sst2": 1, "scitail": 1, "mrpc": 2, "stsb": 2, "story_cloze": 2}


@pytest.mark.parametrize("name", NAMES)
def test_the_oracle_scores_100_on_every_split_of_two_worlds(splits, other_splits, name: str):
    for world in (splits, other_splits):
        for e in (e for examples in world(name).values() for e in examples):
            assert oracle.answer(name, e) == pytest.approx(e.label, abs=1e-4), e


def test_labels_have_their_intended_shares(splits):
    for name, share in {"mrpc": 0.68, "qqp": 0.37, "cola": 0.60}.items():
        found = np.mean([e.label == 1 for e in splits(name)["dev"]])
        assert found == pytest.approx(share, abs=0.02), name
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


def test_no_row_occurs_twice_within_or_across_splits(splits, name: str):
    seen: Counter = Counter()
    for e in (e for examples in splits(name).values() for e in examples):
        seen[*sorted((e.first.lower(), e.second.lower()))] += 1
    assert max(seen.values()) == 1


def lengths(e: Example) -> list[float]:
    """The numbers of characters and words of each text and of both."""
    texts = (e.first, e.second, e.first + e.second)
    return [float(f(t)) for t in texts for f in (len, lambda t: t.count(" "))]


@pytest.mark.parametrize("name", LABELLED)
def test_length_does_not_predict_the_label(splits, name: str):
    kind, rows = task(name), splits(name)
    train, test = rows[kind.train], [e for split in kind.report for e in rows[split]]
    cut = np.median([e.label for e in train]) if kind.soft_labels else None
    said, truth = (
        np.array([e.label if cut is None else e.label > cut for e in of], dtype=int)
        for of in (train, test)
    )
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    tree.fit([*map(lengths, train)], said)
    right = np.mean(tree.predict([*map(lengths, test)]) == truth)
    assert right < max(np.bincount(truth)) / len(truth) + MARGIN


def picked(choices: Sequence[str], pick: Callable) -> int:
    """The place of the shortest (`min`) or longest (`max`) choice."""
    return pick((len(choice), k) for k, choice in enumerate(choices))[1]


def check_places(labels: Sequence[float], n_choices: int) -> None:
    """The right choice is at each of the places equally often."""
    places = Counter(labels)
    assert {*places} == {*range(n_choices)}
    assert max(places.values()) - min(places.values()) <= 1


@pytest.mark.parametrize("name", [*(kind.name for kind in CHOICES), "dprd"])
def test_neither_position_nor_length_of_a_choice_predicts_the_answer(splits, name: str):
    for part in splits(name).values():
        check_places([e.label for e in part], len(part[0].choices))
    everything = [e for part in splits(name).values() for e in part]
    for pick in (min, max):
        right = np.mean([picked(e.choices, pick) == e.label for e in everything])
        assert abs(right - 1 / len(everything[0].choices)) < MARGIN


@pytest.mark.parametrize("name", LABELLED)
def test_the_order_of_the_rows_tells_nothing_of_their_labels(splits, name: str):
    for part in splits(name).values():
        labels = np.array([e.label for e in part])
        halves = labels[: len(labels) // 2].mean(), labels[len(labels) // 2 :].mean()
        error = labels.std() * 2 / len(labels) ** 0.5
        assert abs(halves[0] - halves[1]) < 4 * error


@pytest.mark.parametrize("combined", [0.0, 0.4])  # of training and of reported rows
@pytest.mark.parametrize("name", ["snli", "qnli", "rte", "qqp"])
def test_a_denial_of_either_feeling_tells_nothing_of_the_label(name: str, combined: float):
    """Whichever reversals are held out, a claim alone is as likely under each label."""
    of = WORLD_TASKS[name]
    draw = Draw(3, f"{name}/train", combined=combined)
    for label in of.labels:
        denied: dict[str, list[bool]] = {"mood": [], "energy": []}
        for _ in range(3000):
            row = of.make(draw, label, "compositional")
            words = tokens(row.first if name == "qnli" else row.second)
            (feeling,) = {FEELINGS[CLASS[word]][0] for word in words if CLASS.get(word) in STATES}
            text = f" {' '.join(words)} "
            denied[feeling].append(any(f" {negator} " in text for negator in NEGATORS))
        for shares in denied.values():
            assert len(shares) / 3000 == pytest.approx(0.5, abs=0.04)
            assert np.mean(shares) == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("name", [*TWO_OF_ONE, "cola"])
def test_training_rows_lack_a_combination_of_clauses_that_reported_rows_have(splits, name: str):
    def combined(e: Example) -> bool:
        if name == "cola":  # a determiner before two verbs
            return oracle.degree(name, e) == "compositional" and not e.first.startswith("The ")
        text = " ".join(tokens(" ".join((e.first, e.second, *e.choices[:1]))))
        reversals = len(oracle.REVERSED.findall(text))
        return reversals >= TWO_OF_ONE[name] and (reversals > 1 or bool(oracle.TWO.search(text)))

    kind = task(name)
    assert not any(map(combined, splits(name)[kind.train]))
    rows = [e for e in splits(name)[kind.main] if oracle.degree(name, e) == "compositional"]
    assert np.mean([*map(combined, rows)]) == pytest.approx(0.4, abs=0.07)


Items = dict[str, list[dict]]


@pytest.fixture(scope="module")
def cloze(world: Path) -> Items:
    """The items of every skill."""
    found: Items = {}
    text = (world / "Cloze" / "items.jsonl").read_text(encoding="utf-8")
    for line in text.splitlines():
        item = json.loads(line)
        found.setdefault(item["skill"], []).append(item)
    return found


def test_each_skill_has_as_many_items_as_configured_right_at_each_place_as_often(cloze: Items):
    assert len(cloze) >= 8
    for items in cloze.values():
        assert len(items) == LARGE.cloze
        (n_choices,) = {len(item["choices"]) for item in items}
        check_places([item["label"] for item in items], n_choices)
        for item in items:
            assert set(item) == {"skill", "context", "choices", "label"}
            assert item["context"].strip() and all(map(str.strip, item["choices"]))
            assert len(set(item["choices"])) == n_choices


def test_the_right_choice_and_no_other_makes_a_true_paragraph(cloze: Items):
    for item in (item for items in cloze.values() for item in items):
        right = [oracle.is_true(f"{item['context']} {choice}") for choice in item["choices"]]
        assert right.index(True) == item["label"] and sum(right) == 1, item


def test_no_choice_is_right_by_its_length_alone(cloze: Items):
    for skill, items in cloze.items():
        right = np.mean([picked(item["choices"], min) == item["label"] for item in items])
        assert 0.2 < right < 0.8, skill


def test_liking_a_word_whatever_the_context_gives_no_more_than_chance(cloze: Items):
    for skill, own in cloze.items():
        n, half = len(own[0]["choices"]), len(own) // 2
        liked: Counter[str] = Counter()
        for item in own[:half]:
            for k, choice in enumerate(item["choices"]):
                liked[choice] += 1 if k == item["label"] else -1 / (n - 1)
        answers = [max(range(n), key=lambda k: liked[item["choices"][k]]) for item in own[half:]]
        hits = [said == item["label"] for said, item in zip(answers, own[half:], strict=True)]
        assert np.mean(hits) < 1 / n + 0.15, skill
