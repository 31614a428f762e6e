"""The rules of grammar that CoLA asks about, as one expression over parts of speech."""

import re

from tasks.world.draw import GENDER, HYPONYM, NAMES, PEOPLE, PLACES, THINGS, VERBS, plural
from tests.world.parser import tokens

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
