"""The cloze items: as many as asked for, balanced, and right by the oracle's rules."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tasks.world.make import write_cloze
from tasks.world.settings import WorldSettings
from tests.world.oracle_cloze import right_choices

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


def test_every_skill_has_as_many_items_as_the_settings_say(cloze: Items, settings: WorldSettings):
    assert len(cloze) >= 8
    assert {len(items) for items in cloze.values()} == {settings.cloze}


def test_items_have_a_context_and_different_choices_as_many_for_each_skill(cloze: Items):
    for items in cloze.values():
        assert len({len(item["choices"]) for item in items}) == 1
        for item in items:
            assert set(item) == {"skill", "context", "choices", "label"}
            assert item["context"].strip() and all(map(str.strip, item["choices"]))
            assert len(set(item["choices"])) == len(item["choices"]) > item["label"] >= 0


def test_right_choices_are_balanced_over_the_positions(cloze: Items):
    for skill, items in cloze.items():
        places = Counter(item["label"] for item in items)
        assert len(places) == len(items[0]["choices"])
        assert max(places.values()) - min(places.values()) <= 1, skill


def test_the_right_choice_and_no_other_follows_from_the_lexicon(cloze: Items):
    for skill, items in cloze.items():
        for item in items:
            right = right_choices(skill, item["context"], item["choices"])
            assert right.index(True) == item["label"] and sum(right) == 1, item


def test_no_choice_is_right_by_its_length_alone(cloze: Items):
    for skill, items in cloze.items():
        hits = Counter()
        for item in items:
            sizes = [(len(choice), k) for k, choice in enumerate(item["choices"])]
            hits[min(sizes)[1] == item["label"]] += 1
        assert 0.2 < hits[True] / len(items) < 0.8, skill


def test_liking_a_word_whatever_the_context_gives_no_more_than_chance():
    lines = write_cloze(WorldSettings(seed=3, cloze=400)).splitlines()
    for skill in {json.loads(line)["skill"] for line in lines}:
        items = [item for line in lines if (item := json.loads(line))["skill"] == skill]
        half = len(items) // 2
        liked: Counter[str] = Counter()
        for item in items[:half]:
            for k, choice in enumerate(item["choices"]):
                liked[choice] += 1 if k == item["label"] else -1 / (len(item["choices"]) - 1)
        answers = [max(item["choices"], key=lambda c: liked[c]) for item in items[half:]]
        hits = [
            item["choices"][item["label"]] == said
            for item, said in zip(items[half:], answers, strict=True)
        ]
        chance = 1 / len(items[0]["choices"])
        assert sum(hits) / len(hits) < chance + 0.15, skill
