"""The world's sentences read back, and judged as grammatical, with the lexicon's tables alone."""

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
    TIMES,
    VERBS,
    he,
    plural,
)

CLASS = {word: name for name, words in CLASSES.items() for word in words}
WHO = {who.lower(): who for who in GENDER}
# How somebody is of whom an adjective is said, or to whom something happened.
FEELINGS = {
    **{"happy": ("mood", True), "sad": ("mood", False)},
    **{"gain": ("mood", True), "loss": ("mood", False)},
    **{"fresh": ("energy", True), "weary": ("energy", False)},
    **{"rest": ("energy", True), "work_hard": ("energy", False)},
}


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


def _any(words: Iterable[str]) -> str:
    return f"(?:{'|'.join(words)})"


def _of(*classes: str) -> str:
    """One word of these classes, or several joined by `and`."""
    word = _any(word for name in classes for word in CLASSES[name])
    return f"{word}(?: (?:and|or) {word})*"


_ONE = _any(f"the {who}" if who.islower() else who.lower() for who in GENDER)
_SUBJECT = f"(?:{_ONE}|{_any(OTHERS)})"
_WHERE = f"in the {_any(PLACES)}"
_A_THING, _THE_THING = f"an? {_any(THINGS)}", f"the {_any(THINGS)}"
_A_KIND = f"an? {_any(HYPONYM)}"
_NEWS, _LIKING = f"(?P<news>{_of('gain', 'loss')})", f"(?P<liking>{_of('love', 'hate')})"
_DEED = f"(?P<deed>{_of('rest', 'work_hard')})"
_NEGATED = f"(?:(?P<negator>{_any(NEGATORS)}) )?"
_CLAUSES = [
    f"(?P<who>{_SUBJECT}) (?:(?P<seldom>{_any(SELDOM)}) )?{_DEED}(?: {_WHERE})?",
    f"(?P<who>{_SUBJECT}) {_NEWS} {_A_THING}(?: {_WHERE})?",
    f"(?P<who>{_SUBJECT}) {_LIKING} {_THE_THING} and {_NEWS} it",
    f"(?P<who>{_SUBJECT}) {_NEWS} {_THE_THING} that (?P<pronoun>he|she) {_LIKING}",
    f"(?P<who>{_SUBJECT}) {_NEWS} {_THE_THING} , for (?P<pronoun>he|she) {_LIKING} it",
    f"(?P<who>{_SUBJECT}) {_LIKING} {_THE_THING} there (?P<pronoun>he|she) {_NEWS} it",
]
_STATE = f"{_NEGATED}(?P<how>{_of('happy', 'sad', 'fresh', 'weary')})"
_CLAIMS = [
    f"(?P<who>he|she|everyone(?: {_WHERE})?|{_ONE}) was {_STATE}",
    f"(?P<who>they|{_any(OTHERS)}) were {_STATE}",
]
_JUDGED = f"(?:(?:{_NEGATED}|(?:so|quite|truly|really) ))(?P<how>{_of('positive', 'negative')})"
_WORK = f"the (?P<work>{_any(CLASSES['work'])})"
_OPINIONS = [
    f"{_WORK} (?:of|by) {_ONE} (?:was|seemed) {_JUDGED}",
    f"{_ONE} (?:found|called|thought) {_WORK} {_JUDGED}",
    f"to {_ONE} {_WORK} was {_JUDGED}",
]
_IT_FOUND = f"(?P<pronoun>he|she) found (?P<kind>{_A_KIND})(?: {_WHERE})?"
_FOUND = [
    f"{_ONE} found (?P<kind>{_A_KIND}) {_WHERE}",
    f"(?P<who>{_ONE}) looked for {_A_KIND} , but {_IT_FOUND}",
    f"though (?P<who>{_ONE}) looked for {_A_KIND} , {_IT_FOUND}",
    f"(?P<who>{_ONE}) found (?P<kind>{_A_KIND}) , though (?P<pronoun>he|she) looked for {_A_KIND}"
    f"(?: {_WHERE})?",
    f"(?P<who>{_ONE}) wanted {_A_KIND} , yet {_IT_FOUND}",
]
_CAN = f"it can(?P<negator>not)? (?P<what>{_of('ability', 'mishap')})"
_OPENING = f"in the {_any(TIMES)} (?P<who>{_SUBJECT}) went to the {_any(PLACES)}"


def _match(forms: list[str], text: str) -> dict[str, str | None]:
    """The groups of the one form that a text has.

    Raises Unreadable for none or several, and for a pronoun that stands for nobody.
    """
    found = [m for form in forms if (m := re.fullmatch(form, " ".join(tokens(text))))]
    if len(found) != 1:
        raise Unreadable(f"{len(found)} forms fit {text!r}")
    groups = found[0].groupdict()
    if groups.get("pronoun") and groups["pronoun"] != pronoun_of(noun(groups["who"])):
        raise Unreadable(f"a pronoun stands for nobody in {text!r}")
    return groups


def _class(words: str | None) -> str:
    """The one class of words that are joined by `and`."""
    (name,) = {CLASS[word] for word in re.split(" (?:and|or) ", words or "")}
    return name


def noun(phrase: str | None) -> str:
    """A name, a noun or a pronoun, without its article; "others"."""
    word = (phrase or "").lower().split(" ")[-1]
    return "others" if phrase in OTHERS else WHO.get(word, word)


def pronoun_of(who: str) -> str:
    """The pronoun of a noun or a name; "they" of others."""
    return he(who) if who in GENDER else "they"


def read_clause(text: str) -> Feeling:
    """How somebody must have been to whom this happened."""
    groups = _match(_CLAUSES, text)
    of, good = FEELINGS[_class(groups.get("deed") or groups.get("news"))]
    hated = "liking" in groups and _class(groups["liking"]) == "hate"
    reversed_ = hated or bool(groups.get("seldom"))
    return Feeling(noun(groups["who"]), of, good != reversed_)


def read_clauses(text: str) -> list[Feeling]:
    """How one person was, or each of two whose clauses a word links."""
    return [read_clause(clause) for clause in re.split(r", (?:but|while|whereas|yet) ", text)]


def read_claim(text: str) -> Feeling:
    """How somebody was said to be."""
    groups = _match(_CLAIMS, text)
    of, good = FEELINGS[_class(groups["how"])]
    who = (groups["who"] or "").partition(" in ")[0]
    return Feeling(noun(who), of, good != bool(groups["negator"]))


def read_remark(text: str) -> Opinion:
    """The opinion that is not conceded, with `though` or before `but`."""
    clauses = [" ".join(tokens(clause)) for clause in text.split(",")]
    conceded = [clause.startswith("though ") for clause in clauses]
    if len(clauses) == 2 and re.match("but |yet ", clauses[1]):
        conceded[0] = not conceded[0]
    mains = [clause for clause, given in zip(clauses, conceded, strict=True) if not given]
    if len(mains) != 1:
        raise Unreadable(f"{len(mains)} main clauses in {text!r}")
    for clause in clauses:
        groups = _match(_OPINIONS, re.sub("^(though|but|yet) ", "", clause))
        if clause == mains[0]:
            positive = (_class(groups["how"]) == "positive") != bool(groups["negator"])
            opinion = Opinion(groups["work"] or "", positive)
    return opinion


def read_found(text: str) -> str:
    """The kind that was found."""
    return noun(_match(_FOUND, text)["kind"])


def read_can(text: str) -> tuple[str, bool]:
    """An "ability" or a "mishap", and whether it is denied."""
    groups = _match([_CAN], text)
    return _class(groups["what"]), bool(groups["negator"])


def read_opening(text: str) -> str:
    """Who went somewhere, at the beginning of a story."""
    return noun(_match([_OPENING], text)["who"])


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
