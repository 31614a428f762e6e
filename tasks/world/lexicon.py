"""The words of the embedded world and how their meanings are related.

People, things and places belong to topics and have two names each (synonyms), used without
preference; actions come in quartets of two synonyms and their two antonyms; kinds of animals,
plants and tools have a category. Opinions, moods, states and reasons are classes of adjectives.
Labels follow from these tables and from nothing else.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

_FILE = Path(__file__).with_name("lexicon.yaml")
_WORDS: dict[str, Any] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))


def _lists(table: dict[str, str]) -> dict[str, list[str]]:
    return {name: line.split() for name, line in table.items()}


def _two_names(sort: str) -> list[tuple[str, ...]]:
    return [tuple(line.split()[:2]) for nouns in _TOPICS.values() for line in nouns[sort]]


_TOPICS: dict[str, dict[str, list[str]]] = _WORDS["topics"]
PEOPLE, THINGS, PLACES = map(_two_names, ("people", "things", "places"))
TOPIC = {
    noun: topic
    for topic, nouns in _TOPICS.items()
    for lines in nouns.values()
    for line in lines
    for noun in line.split()[:2]
}
TIMES: list[str] = _WORDS["times"].split()
NUMBERS: list[str] = _WORDS["numbers"].split()
CATEGORIES = _lists(_WORDS["categories"])
HYPONYM = {kind: category for category, kinds in CATEGORIES.items() for kind in kinds}
ANIMALS = ("dog", "bird", "fish")
NAMES_F, NAMES_M = _lists(_WORDS["names"]).values()
NAMES = NAMES_F + NAMES_M
GENDER = {name: "f" for name in NAMES_F} | {name: "m" for name in NAMES_M}
for one, two, gender in (line.split() for nouns in _TOPICS.values() for line in nouns["people"]):
    GENDER |= {one: gender, two: gender}
NEGATORS = ("not", "hardly", "far from", "by no means")
CLASSES = _lists(_WORDS["classes"])


@dataclass(frozen=True)
class Verb:
    """A verb: its forms, the quartet and the side of it (0 or 1) it belongs to, and its object.

    The two verbs of a side are synonyms, those of opposite sides antonyms; `takes` is "being" or
    "thing".
    """

    base: str
    third: str
    past: str
    quartet: int
    side: int
    takes: str


def _with_s(word: str) -> str:
    """A word with the ending of a plural or of a third person."""
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "sh", "ch", "x")) else "s")


def _verb(base: str, quartet: int, side: int, takes: str) -> Verb:
    past = base + ("d" if base.endswith("e") else "ed")
    if base.endswith("y") and base[-2] not in "aeiou":
        past = base[:-1] + "ied"
    past = _WORDS["irregular"]["past"].get(base, past)
    return Verb(base, _with_s(base), past, quartet, side, takes)


_SIDES = [(takes, sides) for takes, quartets in _WORDS["verbs"].items() for sides in quartets]
QUARTETS = [
    [[_verb(base, number, side, takes) for base in sides[side].split()] for side in (0, 1)]
    for number, (takes, sides) in enumerate(_SIDES)
]
VERBS = {verb.base: verb for quartet in QUARTETS for side in quartet for verb in side}
_SYNONYMS = PEOPLE + THINGS + PLACES
_SYNONYMS += [(one.base, two.base) for quartet in QUARTETS for one, two in quartet]
SYNONYM = {a: b for one, two in _SYNONYMS for a, b in ((one, two), (two, one))}


def plural(noun: str) -> str:
    """The plural of a noun."""
    return _WORDS["irregular"]["plural"].get(noun) or _with_s(noun)


def a(noun: str) -> str:
    """The noun with its indefinite article."""
    return ("an " if noun[0] in "aeiou" else "a ") + noun


def he(person: str) -> str:
    """The subject pronoun of a person's name or noun."""
    return "she" if GENDER[person] == "f" else "he"


def opposites(verb: str) -> tuple[str, str]:
    """The two antonyms of a verb."""
    entry = VERBS[verb]
    one, two = QUARTETS[entry.quartet][1 - entry.side]
    return one.base, two.base
