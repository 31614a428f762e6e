"""The world's sentences read back, and judged as grammatical, with the lexicon's tables alone.

Each is read by the classes of its words: no two classes share one. That sentences have the forms
that they had is told by the digest of a world (`test_world.py`).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from tasks.world.draw import (
    CLASSES,
    GENDER,
    HYPONYM,
    NAMES,
    NEGATORS,
    OTHERS,
    PEOPLE,
    PLACES,
    SELDOM,
    THINGS,
    VERBS,
    he,
    plural,
)

CLASS = {word: name for name, words in CLASSES.items() for word in words}
WHO = {who.lower(): who for who in GENDER}
# How somebody is of whom an adjective is said, or to whom something happened.
STATES = {"happy": ("mood", True), "sad": ("mood", False)}
STATES |= {"fresh": ("energy", True), "weary": ("energy", False)}
CAUSES = {"gain": ("mood", True), "loss": ("mood", False)}
CAUSES |= {"rest": ("energy", True), "work_hard": ("energy", False)}
FEELINGS = STATES | CAUSES


class Unreadable(ValueError):
    """A text that is not a sentence of the world."""


@dataclass(frozen=True)
class Feeling:
    """How somebody was: `of` is "mood" or "energy", `who` a name, a noun, a pronoun or "others"."""

    who: str
    of: str
    good: bool


@dataclass(frozen=True)
class Opinion:
    """What was thought of a work."""

    work: str
    positive: bool


def tokens(text: str) -> list[str]:
    """Lower-case words and commas."""
    return re.findall(r"\w+|,", text.lower())


def sentences(text: str) -> list[str]:
    """The sentences of a text, without their marks."""
    return [part.strip() for part in re.split(r"[.?!\n]", text) if part.strip()]


def _one(found: Iterable[str], text: str) -> str:
    """The one that was found. Raises Unreadable for none or several."""
    each = {*found}
    if len(each) != 1:
        raise Unreadable(f"{len(each)} of one kind in {text!r}")
    return each.pop()


def _class(text: str, classes: Iterable[str]) -> str:
    """The one of some classes that words of the text are of."""
    return _one((name for word in tokens(text) if (name := CLASS.get(word, "")) in classes), text)


def _is_denied(text: str) -> bool:
    return re.search(rf"\b({'|'.join(NEGATORS)})\b", text.lower()) is not None


def noun(phrase: str) -> str:
    """A name, a noun or a pronoun, without its article; "others"."""
    word = phrase.lower().split(" ")[-1]
    return "others" if phrase.lower() in OTHERS else WHO.get(word, word)


def pronoun_of(who: str) -> str:
    """The pronoun of a noun or a name; "they" of others."""
    return he(who) if who in GENDER else "they"


def subject(text: str) -> str:
    """Whom a clause is about, whom a pronoun in it has to stand for. Raises Unreadable."""
    words = [word for word in tokens(text) if word != "though"]
    if " ".join(words[:2]) in OTHERS:
        return "others"
    who = noun(words[words[0] == "the"])
    if {"he", "she"} & {*words[1:]} - {pronoun_of(who)}:
        raise Unreadable(f"a pronoun stands for nobody in {text!r}")
    return who


def read_clause(text: str) -> Feeling:
    """How somebody must have been to whom this happened."""
    of, good = CAUSES[_class(text, CAUSES)]
    words = {*tokens(text)}
    reversed_ = bool(words & {*SELDOM, *CLASSES["hate"]})
    return Feeling(subject(text), of, good != reversed_)


def read_clauses(text: str) -> list[Feeling]:
    """How one person was, or each of two whose clauses a word links."""
    return [read_clause(clause) for clause in re.split(r", (?:but|while|whereas|yet) ", text)]


def read_claim(text: str) -> Feeling:
    """How somebody was said to be."""
    of, good = STATES[_class(text, STATES)]
    who = subject(text)
    if ("were" if who in ("they", "others") else "was") not in tokens(text):
        raise Unreadable(f"the verb does not agree in {text!r}")
    return Feeling(who, of, good != _is_denied(text))


def read_remark(text: str) -> Opinion:
    """The opinion that is not conceded, with `though` or before `but`."""
    clauses = [" ".join(tokens(clause)) for clause in text.split(",")]
    conceded = [clause.startswith("though ") for clause in clauses]
    if len(clauses) == 2 and re.match("but |yet ", clauses[1]):
        conceded[0] = not conceded[0]
    main = _one(
        (clause for clause, given in zip(clauses, conceded, strict=True) if not given), text
    )
    positive = (_class(main, ("positive", "negative")) == "positive") != _is_denied(main)
    return Opinion(_one({*tokens(main)} & {*CLASSES["work"]}, main), positive)


def read_found(text: str) -> str:
    """The kind that was found."""
    subject(text)
    return _one(re.findall(r"\bfound an? (\w+)", text.lower()), text)


def read_can(text: str) -> tuple[str, bool]:
    """An "ability" or a "mishap", and whether it is denied."""
    return _class(text, ("ability", "mishap")), "cannot" in tokens(text)


def read_opening(text: str) -> str:
    """Who went somewhere, at the beginning of a story."""
    return noun(_one(re.findall(r"^in the \w+ (.*) went to the \w+$", text.lower()), text))


# What follows are the rules of grammar that CoLA asks about.
ARTICLE_ERROR = re.compile(r"\ba [aeiou]|\ban [^aeiou]", re.I)
_WORDS = {
    **{"the": "THE", "in": "IN", "near": "NEAR", "and": "AND", "these": "MANY", "many": "MANY"},
    **{"himself": "HIM", "herself": "HER", "themselves": "THEM"},
    **dict.fromkeys(("a", "an", "this", "every"), "ONE"),
}


def _tags() -> dict[str, set[str]]:
    """All parts of speech that each word can be."""
    tags = {word: {tag} for word, tag in _WORDS.items()}

    def add(word: str, tag: str) -> None:
        tags.setdefault(word.lower(), set()).add(tag)

    for noun in (*THINGS, *HYPONYM, *(who for people in PEOPLE.values() for who in people)):
        gender = GENDER.get(noun, "n")
        add(noun, f"S{gender}")
        add(plural(noun), f"P{gender}")
    for name in NAMES:
        add(name, f"N{GENDER[name]}")
    for place in PLACES:
        add(place, "PLACE")
    for verb in (verb for verbs in VERBS.values() for verb in verbs):
        for form in ("base", "third", "past"):
            add(getattr(verb, form), f"V{form}")
    return tags


def _grammar() -> re.Pattern[str]:
    """The grammar; each part of speech has a space behind it."""
    one, many = "(?:THE|ONE) S[mfn] ", "(?:THE|MANY) P[mfn] "
    thing = f"(?:{one}|{many})"
    near = f"(?:NEAR {thing})?"
    single, several = f"(?:{one}{near}|N[mf] )", f"{many}{near}"
    said = [
        f"{subject}{verb} {thing}(?:AND (?:{verb} )?{thing})?"
        for subject, verb in ((single, "(?:Vthird|Vpast)"), (several, "(?:Vbase|Vpast)"))
    ]
    said += [f"(?:THE S{g} {near}|N{g} )Vpast {him} " for g, him in (("m", "HIM"), ("f", "HER"))]
    said.append(f"THE P[mf] {near}Vpast THEM ")
    return re.compile(f"(?:{'|'.join(said)})(?:IN THE PLACE )?")


_TAGS, _PATTERN = _tags(), _grammar()


def is_grammatical(text: str) -> bool:
    """Whether articles, determiners, verbs and reflexive pronouns agree with their nouns."""
    if ARTICLE_ERROR.search(text):
        return False
    readings = [""]
    for word in tokens(text):
        readings = [f"{done}{tag} " for done in readings for tag in _TAGS.get(word, ())]
    return any(_PATTERN.fullmatch(reading) for reading in readings)
