"""Parse the world's sentences back into events, with the lexicon alone."""

import re
from dataclasses import dataclass

from tasks.world.lexicon import (
    CATEGORIES,
    CLASSES,
    HYPONYM,
    NAMES,
    PEOPLE,
    PLACES,
    THINGS,
    TIMES,
    VERBS,
    plural,
)

NOUNS = {word for pair in PEOPLE + THINGS for word in pair} | set(HYPONYM) | set(CATEGORIES)
PLURALS = {plural(noun): noun for noun in NOUNS}
NAME = {name.lower(): name for name in NAMES}
PLACE = {word for pair in PLACES for word in pair}
STATE = {word: sort for sort in ("certain", "possible", "impossible") for word in CLASSES[sort]}
FORMS: dict[str, list[tuple[str, str]]] = {}
for _verb in VERBS.values():
    for _form in ("base", "third", "past"):
        FORMS.setdefault(getattr(_verb, _form), []).append((_verb.base, _form))


class Unreadable(ValueError):
    """A text that is not a sentence of the world."""


@dataclass(frozen=True)
class Reading:
    """What a sentence says or asks: singular nouns, names, base verbs; "" is left out.

    `state` is "certain", "possible" or "impossible" if the sentence says how its subject is.
    """

    subject: str = ""
    verb: str = ""
    object: str = ""
    place: str = ""
    time: str = ""
    negated: bool = False
    passive: bool = False
    asks: str = ""
    state: str = ""


def tokens(text: str) -> list[str]:
    """Lower-case words and commas."""
    return re.findall(r"\w+|,", text.lower())


def sentences(text: str) -> list[str]:
    """The sentences of a text, without their marks."""
    return [part.strip() for part in re.split(r"[.?!]", text) if part.strip()]


def read(text: str) -> Reading:
    """Read one sentence or question with one verb. Raises Unreadable."""
    words, place = _take(_without_frame(tokens(text)), PLACE)
    words, time = _take(words, set(TIMES))
    words = [word for word in words if word != ","]
    if words[0] in ("who", "what", "where", "when"):
        return _question(words[0], words[1:], place, time)
    if words[-1] in STATE and words[-2] in ("is", "was"):
        return Reading(noun(words[:-2]), state=STATE[words[-1]])
    if "by" in words:
        cut = words.index("by")
        if words[cut - 2] != "was":
            raise Unreadable(text)
        verb = _verb_of(words[cut - 1], "past")
        thing = noun(words[: cut - 2])
        return Reading(noun(words[cut + 1 :]), verb, thing, place, time, passive=True)
    negated = "not" in words
    if negated:
        cut = words.index("not")
        if words[cut - 1] not in ("did", "does"):
            raise Unreadable(text)
        words = words[: cut - 1] + words[cut + 1 :]
    subject, verb, thing = _clause(words, "base" if negated else "")
    return Reading(subject, verb, thing, place, time, negated)


def noun(words: list[str]) -> str:
    """The noun of a phrase: a name, a bare plural, or an article and a noun."""
    if len(words) == 1 and words[0] in NAME:
        return NAME[words[0]]
    if len(words) == 1 and words[0] in PLURALS:
        return PLURALS[words[0]]
    if len(words) == 2 and words[0] in ("the", "a", "an") and words[1] in NOUNS:
        return words[1]
    raise Unreadable(" ".join(words))


def _question(asks: str, words: list[str], place: str, time: str) -> Reading:
    if asks == "who":
        return Reading("", _verb_of(words[0], "past"), noun(words[1:]), place, time, asks=asks)
    if words[0] != "did":
        raise Unreadable(" ".join(words))
    subject, verb, thing = _clause(words[1:], "base")
    return Reading(subject, verb, thing, place, time, asks=asks)


def _clause(words: list[str], form: str) -> tuple[str, str, str]:
    """Subject, base verb and object ("" if there is none) of an active clause."""
    cut = 1 if words[0] in NAME or words[0] in PLURALS else 2
    if len(words) <= cut:
        raise Unreadable(" ".join(words))
    rest = words[cut + 1 :]
    return noun(words[:cut]), _verb_of(words[cut], form), noun(rest) if rest else ""


def _without_frame(words: list[str]) -> list[str]:
    """Drop what a genre of MNLI adds to a statement."""
    if words[:3] == ["i", "hear", "that"]:
        return words[3:]
    if words[:2] == ["well", ","] and words[-3:] == [",", "you", "know"]:
        return words[2:-3]
    return words


def _take(words: list[str], known: set[str]) -> tuple[list[str], str]:
    """Cut a phrase of place or time out of the words: the rest, and the noun."""
    for i in range(len(words) - 2):
        if words[i : i + 2] == ["in", "the"] and words[i + 2] in known:
            return words[:i] + words[i + 3 :], words[i + 2]
    return words, ""


def _verb_of(word: str, form: str = "") -> str:
    for base, known in FORMS.get(word, []):
        if form in ("", known):
            return base
    raise Unreadable(word)
