"""The oracle's rules of grammar, sentiment, story endings and reasons."""

import re

from tasks import Example
from tasks.world.lexicon import (
    GENDER,
    HAPPY,
    NEGATIVE,
    NEGATORS,
    POSITIVE,
    REASONS,
    REJOICE,
    SYNONYM,
)
from tests.world.parser import FORMS, NAME, NOUNS, PLACE, PLURALS, read, tokens

# Whether a story's word is good news for somebody who loves the object, wishes for rain, takes
# part in the race or has the plan.
EVENT = {"found": True, "discovered": True, "lost": False, "misplaced": False}
WEATHER = {"rain": True, "clouds": True, "sun": False, "warmth": False}
DAY = {"wet": True, "grey": True, "dry": False, "bright": False}
DEED = {"quick": True, "fast": True, "slow": False, "down": False}
HELP = {"helped": True, "aided": True, "stopped": False, "hindered": False}


def is_positive(text: str) -> bool:
    """Whether the clause that is not conceded (with though, or before but) praises its work."""
    clauses = [tokens(clause) for clause in text.split(",")]
    conceded = [clause[0] == "though" for clause in clauses]
    if len(clauses) == 2 and clauses[1][0] == "but":
        conceded = [True, False]
    main = [clause for clause, given in zip(clauses, conceded, strict=True) if not given]
    assert len(main) == 1, f"{len(main)} main clauses in {text!r}"
    words = main[0]
    assert words[-1] in POSITIVE + NEGATIVE, f"no opinion in {text!r}"
    denied = any(f" {negator} " in f" {' '.join(words)} " for negator in NEGATORS)
    return (words[-1] in POSITIVE) != denied


def is_grammatical(text: str) -> bool:
    """Whether order, agreement, articles, auxiliaries and reflexive pronouns are right."""
    tags = [_tag(word) for word in tokens(text)]
    return any(_PATTERN.fullmatch(" ".join(chosen) + " ") for chosen in _readings(tags))


def _tag(word: str) -> list[str]:
    """All parts of speech that a word can be."""
    fixed = {
        "the": "THE",
        "a": "ONE",
        "an": "ONE",
        "this": "ONE",
        "every": "ONE",
        "these": "MANY",
        "many": "MANY",
        "did": "DID",
        "not": "NOT",
        "in": "IN",
        "himself": "HIM",
        "herself": "HER",
    }
    tags = [fixed[word]] if word in fixed else []
    tags += [f"V{form}" for _, form in FORMS.get(word, [])]
    if word in NAME:
        tags.append("N" + GENDER[NAME[word]])
    if word in NOUNS:
        tags.append("S" + GENDER.get(word, "n"))
    if word in PLURALS:
        tags.append("P" + GENDER.get(PLURALS[word], "n"))
    if word in PLACE:
        tags.append("PLACE")
    return tags


def _readings(tags: list[list[str]]) -> list[list[str]]:
    readings: list[list[str]] = [[]]
    for options in tags:
        readings = [done + [tag] for done in readings for tag in options]
    return readings


def _grammar() -> re.Pattern[str]:
    """The grammar as one expression over parts of speech, each followed by a space."""
    one, many = "(?:(?:THE|ONE) S[mfn] |N[mf] )", "(?:THE|MANY) P[mfn] "
    thing = f"(?:{one}|{many})"
    finite = f"(?:{one}(?:Vthird|Vpast|DID NOT Vbase) |{many}(?:Vbase|Vpast|DID NOT Vbase) )"
    him = "(?:(?:THE|ONE) Sm |Nm )Vpast HIM "
    her = "(?:(?:THE|ONE) Sf |Nf )Vpast HER "
    return re.compile(f"(?:{finite}{thing}|{him}|{her})(?:IN THE PLACE )?")


_PATTERN = _grammar()


def ending(example: Example) -> int:
    """The index of the ending that fits the story."""
    story = tokens(example.first)
    good = _outcome(example.first, story)
    fits = [_fits(tokens(choice), story, good) for choice in example.choices]
    assert sum(fits) == 1, f"{sum(fits)} endings fit {example.first!r}"
    return fits.index(True)


def _outcome(text: str, story: list[str]) -> bool | str:
    """Whether the story goes well; for a race, who wins."""
    sentences = [tokens(part) for part in text.split(".") if part.strip()]
    if "hoped" in story:
        return WEATHER[sentences[0][-1]] == DAY[sentences[2][-1]]
    if "prize" in story:
        one, two = (w for w in sentences[0] if w in NAME)
        about = sentences[2][0]
        return about if DEED[sentences[2][-1]] else ({one, two} - {about}).pop()
    if "wanted" in story:
        return next(HELP[word] for word in sentences[2] if word in HELP)
    feeling = read(text.split(".")[0]).verb
    loved = feeling in ("love", SYNONYM["love"])
    return loved == next(EVENT[word] for word in sentences[2] if word in EVENT)


def _fits(choice: list[str], story: list[str], outcome: bool | str) -> bool:
    if "prize" in story:
        return outcome in choice
    if "wanted" in story:
        return ("never" not in choice) == outcome
    return any(word in HAPPY + REJOICE for word in choice) == outcome


def referent(example: Example) -> int:
    """The index of the candidate that the reason is about."""
    deed = read(example.first.rsplit(" because", 1)[0])
    adjective = example.second.rstrip(". ").split()[-1]
    doer, other = _reasons(deed.verb)
    assert (adjective in doer) != (adjective in other), f"{adjective!r} fits both or neither"
    wanted = deed.subject if adjective in doer else deed.object
    return [choice.split()[-1] for choice in example.choices].index(wanted)


def _reasons(verb: str) -> tuple[list[str], list[str]]:
    concept = verb if verb in REASONS else SYNONYM[verb]
    assert concept in REASONS, f"no reason for {verb!r}"
    return REASONS[concept]
