"""Parse the world's sentences back into events, with the lexicon alone."""

import re
from dataclasses import dataclass

from tasks.world import lexicon
from tasks.world.lexicon import NAMES, PEOPLE, PLACES, THINGS, TIMES, VERBS, plural

NOUNS = {word for pair in PEOPLE + THINGS for word in pair} | set(lexicon.HYPONYM)
NOUNS |= set(lexicon.CATEGORIES)
PLURALS = {plural(noun): noun for noun in NOUNS}
NAME = {name.lower(): name for name in NAMES}
FORMS: dict[str, list[tuple[str, str]]] = {}
for _verb in VERBS.values():
    for _tense in ("base", "third", "past"):
        FORMS.setdefault(getattr(_verb, _tense), []).append((_verb.base, _tense))
PLACE = {word for pair in PLACES for word in pair}
TIME = {word for pair in TIMES for word in pair}
WH = ("who", "whom", "what", "where", "when")


class Unreadable(ValueError):
    """A text that is not a sentence of the world."""


@dataclass(frozen=True)
class Reading:
    """What a sentence says or asks: singular nouns, names, base verbs; "" is left out."""

    subject: str = ""
    verb: str = ""
    object: str = ""
    place: str = ""
    time: str = ""
    negated: bool = False
    asks: str = ""


def tokens(text: str) -> list[str]:
    """Lower-case words and commas."""
    return re.findall(r"\w+|,", text.lower())


def read(text: str) -> Reading:
    """Read one sentence or question with one verb. Raises Unreadable."""
    words = _without_frame(tokens(text))
    words, place = _take(words, "in", PLACE)
    words, time = _take(words, "at", TIME)
    words = [word for word in words if word != ","]
    asks = words.pop(0) if words and words[0] in WH else ""
    if "was" in words:
        cut = words.index("was")
        _, verb, by, *doer = words[cut:]
        if by != "by":
            raise Unreadable(text)
        return Reading(_noun(doer), _verb_of(verb, "past"), _noun(words[:cut]), place, time)
    if asks and words and words[0] == "did":
        words = words[1:]
        cut = _find_verb(words, "base")
        rest = words[cut + 1 :]
        thing = _noun(rest) if rest else ""
        return Reading(
            _noun(words[:cut]), _verb_of(words[cut], "base"), thing, place, time, asks=asks
        )
    negated = "did" in words
    if negated:
        start = words.index("did")
        if words[start : start + 2] != ["did", "not"]:
            raise Unreadable(text)
        words = words[:start] + words[start + 2 :]
    cut = 0 if asks else _find_verb(words, "base" if negated else "")
    subject = "" if asks else _noun(words[:cut])
    return Reading(
        subject, _verb_of(words[cut]), _noun(words[cut + 1 :]), place, time, negated, asks
    )


def _without_frame(words: list[str]) -> list[str]:
    """Drop what a genre of MNLI adds to a statement."""
    if words[:3] == ["i", "hear", "that"]:
        return words[3:]
    if words[:2] == ["well", ","] and words[-3:] == [",", "you", "know"]:
        return words[2:-3]
    return words


def _take(words: list[str], preposition: str, known: set[str]) -> tuple[list[str], str]:
    """Cut a phrase of place or time out of the words: the rest, and the noun."""
    for i, word in enumerate(words):
        end = i + (2 if preposition == "at" else 3)
        if word == preposition and words[end - 1 : end] and words[end - 1] in known:
            return words[:i] + words[end:], words[end - 1]
    return words, ""


def _find_verb(words: list[str], tense: str) -> int:
    """The index of the verb, which follows the first noun phrase."""
    start = 1 if words and (words[0] in NAME or words[0] in PLURALS) else 2
    if len(words) <= start or not any(tense in ("", t) for _, t in FORMS.get(words[start], [])):
        raise Unreadable(" ".join(words))
    return start


def _verb_of(word: str, tense: str = "") -> str:
    for base, form in FORMS.get(word, []):
        if tense in ("", form):
            return base
    raise Unreadable(word)


def _noun(words: list[str]) -> str:
    """The noun of a phrase: a name, a bare plural, or an article and a noun."""
    if len(words) == 1 and words[0] in NAME:
        return NAME[words[0]]
    if len(words) == 1 and words[0] in PLURALS:
        return PLURALS[words[0]]
    if len(words) == 2 and words[0] in ("the", "a", "an") and words[1] in NOUNS:
        return words[1]
    raise Unreadable(" ".join(words))
