"""The cloze items: as many as asked for, balanced, and right by the oracle's rules."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tasks.world.draw import HYPONYM
from tasks.world.make import write_cloze
from tasks.world.settings import WorldSettings
from tests.world import oracle, parser

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


def test_each_skill_has_as_many_items_as_configured_right_at_each_place_as_often(
    cloze: Items, settings: WorldSettings
):
    assert len(cloze) >= 8
    for skill, items in cloze.items():
        assert len(items) == settings.cloze
        (n_choices,) = {len(item["choices"]) for item in items}
        places = Counter(item["label"] for item in items)
        assert {*places} == {*range(n_choices)}
        assert max(places.values()) - min(places.values()) <= 1, skill
        for item in items:
            assert set(item) == {"skill", "context", "choices", "label"}
            assert item["context"].strip() and all(map(str.strip, item["choices"]))
            assert len(set(item["choices"])) == n_choices


def right_choices(skill: str, context: str, choices: list[str]) -> list[bool]:
    """Of each choice, whether it is right, by the oracle's rules."""
    match skill:
        case "agreement" | "reflexive":
            return [parser.is_grammatical(f"{context} {choice}") for choice in choices]
        case "opinion" | "conceded opinion" | "denied opinion":
            positive = parser.read_remark(context).positive
            return [(choice == "Very positive.") == positive for choice in choices]
        case "ending" | "ending of two" | "ending and liking":
            right = oracle.ending(context, tuple(choices))
            return [place == right for place in range(len(choices))]
        case "energy" | "energy of two" | "seldom":
            told = parser.read_clauses(context)
            return [oracle.follows(told, choice) for choice in choices]
        case "surprise":
            told = parser.read_clauses(context)
            return [oracle.turned_out(told, choice) for choice in choices]
        case "category":
            kind = parser.read_found(parser.sentences(context)[0])
            return [parser.noun(choice[:-1]) == HYPONYM[kind] for choice in choices]
        case "ability":
            fact, start = parser.sentences(context)
            return [oracle.can(fact, f"{start} {choice}") for choice in choices]
        case "pronoun":
            told, question = parser.sentences(context)
            pronoun, *reason = told.partition(" because ")[2].split()
            assert reason == question.split()[1:]
            return [parser.pronoun_of(parser.noun(choice[:-1])) == pronoun for choice in choices]
    raise ValueError(f"no rules for {skill!r}")


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
