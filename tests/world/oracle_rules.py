"""The oracle's rules of grammar, sentiment, story endings and reasons."""

import re

from tasks import Example
from tasks.world.lexicon import CLASSES, GENDER, NEGATORS
from tests.world.parser import FORMS, NAME, NOUNS, PLACE, PLURALS, read, sentences, tokens

POSITIVE, NEGATIVE = CLASSES["positive"], CLASSES["negative"]
HAPPY, SAD = CLASSES["happy"], CLASSES["sad"]
GAINS, LOSSES = CLASSES["gain"], CLASSES["loss"]
DOER, DONE_TO = CLASSES["doer"], CLASSES["done_to"]
LIKES = {"loved": True, "adored": True, "hated": False, "detested": False}
ARTICLE_ERROR = re.compile(r"\ba [aeiou]|\ban [^aeiou]", re.I)


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


def mood(text: str) -> bool | None:
    """Whether everyone was happy; None if the text is about something else."""
    words = tokens(text.removeprefix("Why was "))
    return words[-1] in HAPPY if words[0] == "everyone" and words[-1] in HAPPY + SAD else None


def asked_mood(text: str) -> tuple[str, bool] | None:
    """Who was happy (or sad), if the text asks why."""
    words = tokens(text)
    if words[0] != "why" or words[-1] not in HAPPY + SAD:
        return None
    return words[2], words[-1] in HAPPY


def is_reason(news: str, who: str, happy: bool) -> bool:
    """Whether the news about `who` explains the mood."""
    words = tokens(news)
    assert words[1] in GAINS + LOSSES, f"no news: {news!r}"
    return words[0] == who and (words[1] in GAINS) == happy


def work(text: str) -> str:
    """The work that an opinion is of; "" if the text is none."""
    words = tokens(text)
    found = [word for word in words if word in CLASSES["work"]]
    return found[0] if words[-1] in POSITIVE + NEGATIVE and len(found) == 1 else ""


def is_grammatical(text: str) -> bool:
    """Whether order, agreement, articles, auxiliaries and reflexive pronouns are right."""
    if ARTICLE_ERROR.search(text):
        return False
    readings: list[list[str]] = [[]]
    for word in tokens(text):
        readings = [done + [tag] for done in readings for tag in _tags(word)]
    return any(_PATTERN.fullmatch(" ".join(chosen) + " ") for chosen in readings)


def _tags(word: str) -> list[str]:
    """All parts of speech that a word can be."""
    fixed = {"the": "THE", "did": "DID", "not": "NOT", "in": "IN", "himself": "HIM"}
    fixed |= {"herself": "HER", "these": "MANY", "many": "MANY", "and": "AND"}
    fixed |= dict.fromkeys(("a", "an", "this", "every"), "ONE")
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


def _grammar() -> re.Pattern[str]:
    """The grammar as one expression over parts of speech, each followed by a space."""
    one, many = "(?:(?:THE|ONE) S[mfn] |N[mf] )", "(?:THE|MANY) P[mfn] "
    thing = f"(?:{one}|{many})"
    finite = f"(?:{one}(?:Vthird|Vpast|DID NOT Vbase) |{many}(?:Vbase|Vpast|DID NOT Vbase) )"
    him = "(?:(?:THE|ONE) Sm |Nm )Vpast HIM "
    her = "(?:(?:THE|ONE) Sf |Nf )Vpast HER "
    return re.compile(f"(?:{finite}{thing}(?:AND {thing})?|{him}|{her})(?:IN THE PLACE )?")


_PATTERN = _grammar()


def ending(story: str, choices: tuple[str, ...]) -> int:
    """The index of the ending that fits the story."""
    told = [tokens(part) for part in sentences(story)]
    who = told[0][3]
    assert who in NAME, f"nobody goes anywhere in {story!r}"
    happy = _outcome(told, who)
    fits = []
    for words in map(tokens, choices):
        assert who in words and words[-1] in HAPPY + SAD, f"no ending: {words}"
        fits.append((words[-1] in HAPPY) == happy)
    assert sum(fits) == 1, f"{sum(fits)} endings fit {story!r}"
    return fits.index(True)


def _outcome(told: list[list[str]], who: str) -> bool:
    """Whether the one whom the story is about is happy: won what is liked, or lost the reverse."""
    pronoun = "she" if GENDER[NAME[who]] == "f" else "he"
    news = [s for s in told if s[:2] == ["there", pronoun] and s[2] in GAINS + LOSSES]
    assert len(news) == 1, f"{len(news)} pieces of news in {told}"
    likes = [LIKES[word] for sentence in told for word in sentence if word in LIKES]
    assert len(likes) <= 1, f"{len(likes)} likings in {told}"
    return (news[0][2] in GAINS) == (likes or [True])[0]


def referent(example: Example) -> int:
    """The index of the candidate that the reason is about."""
    about = subject_of_reason(example.first, tokens(example.second)[-1])
    return [tokens(choice)[-1] for choice in example.choices].index(about)


def subject_of_reason(deed: str, reason: str) -> str:
    """Whom a reason for a deed ("... because") is about: the doer, or the one it was done to."""
    event = read(deed.rsplit(" because", 1)[0])
    assert (reason in DOER) != (reason in DONE_TO), f"{reason!r} fits both or neither"
    return event.subject if reason in DOER else event.object
