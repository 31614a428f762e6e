"""The words of the synthetic world and how they are related.

People and names have a gender, kinds a category that is alive or not; opinions, feelings, deeds and
news are classes of words. Labels follow from these tables and from nothing else.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

_FILE = Path(__file__).with_name("lexicon.yaml")
_WORDS: dict[str, Any] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))


def _lists(table: dict[str, str]) -> dict[str, list[str]]:
    return {name: line.split() for name, line in table.items()}


PEOPLE, NAMES_OF = _lists(_WORDS["people"]), _lists(_WORDS["names"])
NAMES = [name for names in NAMES_OF.values() for name in names]
GENDER = {
    who: gender for table in (PEOPLE, NAMES_OF) for gender, words in table.items() for who in words
}
THINGS: list[str] = _WORDS["things"].split()
PLACES: list[str] = _WORDS["places"].split()
TIMES: list[str] = _WORDS["times"].split()
NUMBERS: list[str] = _WORDS["numbers"].split()
CATEGORIES = _lists(_WORDS["categories"])
HYPONYM = {kind: category for category, kinds in CATEGORIES.items() for kind in kinds}
LIVING: list[str] = _WORDS["living"].split()
# The words that reverse an adjective, and those that reverse a verb.
NEGATORS = ("not", "hardly", "far from", "by no means", "anything but", "scarcely")
SELDOM = ("never", "hardly", "scarcely", "rarely", "seldom", "barely")
OTHERS = ("the others", "other people")  # not the one whom a text is about
CLASSES = _lists(_WORDS["classes"])


@dataclass(frozen=True)
class Verb:
    """The forms of a verb."""

    base: str
    third: str
    past: str


def _with_s(word: str) -> str:
    """A word with the ending of a plural noun or of a verb in the third person."""
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "sh", "ch", "x")) else "s")


def _verb(base: str) -> Verb:
    past = base + ("d" if base.endswith("e") else "ed")
    return Verb(base, _with_s(base), _WORDS["irregular"]["past"].get(base, past))


VERBS = {takes: [_verb(base) for base in bases] for takes, bases in _lists(_WORDS["verbs"]).items()}


def plural(noun: str) -> str:
    """The plural of a noun."""
    return _WORDS["irregular"]["plural"].get(noun) or _with_s(noun)


def a(noun: str) -> str:
    """The noun with its indefinite article."""
    return ("an " if noun[0] in "aeiou" else "a ") + noun


def he(who: str) -> str:
    """The subject pronoun of a person's name or noun, or of other people."""
    return "they" if who in OTHERS else "she" if GENDER[who] == "f" else "he"


def alive(kind: str) -> bool:
    """Whether a kind is of a living category."""
    return HYPONYM[kind] in LIVING
