"""The answers that follow from the world's rules, derived from the text of an example alone.

`answer(task, example)` reads the texts with `parser.py` and the lexicon's tables; it knows nothing
of how rows are generated. A score of 100 on every split shows that every label follows from its
text.
"""

import re
from collections.abc import Iterable

from tasks import Example
from tasks.world.draw import CLASSES, GENDER, NEGATORS, SELDOM, alive, he, np
from tasks.world.feelings import GENRES, KNEW, LINKS
from tests.world import parser
from tests.world.parser import (
    Feeling,
    Unreadable,
    is_grammatical,
    pronoun_of,
    read_claim,
    read_clauses,
    read_remark,
)

THREE = ("entailment", "neutral", "contradiction")
STSB_OPINION, STSB_WORK = 4.0, 1.0
FRAMES = re.compile(
    "|".join(
        frame.replace(" ,", ",").format("(.*)") for frames in GENRES.values() for frame in frames
    ),
    re.IGNORECASE,
)
REVERSERS = (*CLASSES["love"], *CLASSES["hate"], *SELDOM, *NEGATORS, "cannot")
REVERSED = re.compile(rf"\b({'|'.join(REVERSERS)})\b")
TWO = re.compile(rf"\b({'|'.join(LINKS)}|though|looked for|wanted)\b")


def answer(task: str, example: Example) -> int | float:
    """The label of an example: an index into the task's labels or choices; for STS-B a score."""
    first, second = example.first, example.second
    match task:
        case "snli" | "mnli":
            return THREE.index(three_way(read_clauses(without_frame(first)), second))
        case "rte":
            return int(not follows(read_clauses(parser.sentences(first)[1]), second))
        case "qnli":
            return int(not follows(read_clauses(second), asked_why(first)))
        case "qqp":
            heard = (re.sub(rf"^Who ({'|'.join(KNEW)}) that ", "", t) for t in (first, second))
            return int(follows(read_clauses(next(heard)), next(heard)))
        case "scitail":
            return int(can(first, second))
        case "race":
            return race(first, second, example.choices)
        case "story_cloze":
            return ending(first, example.choices)
        case "mrpc":
            return int(read_remark(first).positive == mood_of_everyone(second))
        case "stsb":
            one, two = read_remark(first), read_remark(second)
            agree, alike = one.positive == two.positive, one.work == two.work
            return STSB_OPINION * agree + STSB_WORK * alike
        case "sst2":
            return int(read_remark(first).positive)
        case "cola":
            return int(is_grammatical(first))
        case "dprd":
            return referent(example)
    raise ValueError(f"no rules for {task!r}")


def degree(task: str, example: Example) -> str:
    """How hard an example is, as its words show."""
    text = " ".join(parser.tokens(" ".join((example.first, example.second, *example.choices))))
    words = text.split()
    if task == "cola":
        return (
            "lexical"
            if "near" not in words
            else "compositional"
            if "and" in words
            else "relational"
        )
    if REVERSED.search(text):
        return "compositional"
    two = len(read_story(example.first)) == 2 if task == "story_cloze" else TWO.search(text)
    return "relational" if two else "lexical"


def without_frame(text: str) -> str:
    """A statement without what a genre of MNLI adds to it."""
    found = FRAMES.fullmatch(text.removesuffix("."))
    return next(filter(None, found.groups())) if found else text


def asked_why(question: str) -> str:
    """What a question takes for granted: `She was glad` of `Why was she glad?`."""
    return re.sub("^Why (was|were) (he|she|they)", r"\2 \1", question)


def about(told: list[Feeling], who: str) -> Feeling:
    """What is told of the one whom a name, a noun or a pronoun stands for. Raises Unreadable."""
    found = [feeling for feeling in told if who in (feeling.who, pronoun_of(feeling.who))]
    if len(found) != 1:
        raise Unreadable(f"{who!r} is one of {len(found)} in {told}")
    return found[0]


def three_way(told: list[Feeling], claim: str) -> str:
    """Nothing follows for the feeling that nothing is told about."""
    said = read_claim(claim)
    known = about(told, said.who)
    if known.of != said.of:
        return "neutral"
    return "entailment" if known.good == said.good else "contradiction"


def follows(told: list[Feeling], claim: str) -> bool:
    """Whether a claim follows from what is told."""
    return three_way(told, claim) == "entailment"


def turned_out(told: list[Feeling], said: str) -> bool:
    """Whether a claim is so: it follows, or the word behind it says that nobody expected it."""
    claim, comma, end = said.rstrip(".?").rpartition(", ")
    if not comma or end == "of course":
        return follows(told, claim or said)
    good = {"luckily": True, "alas": False}[end]
    return three_way(told, claim) == "contradiction" and read_claim(claim).good == good


def mood_of_everyone(text: str) -> bool:
    """Whether everyone was glad."""
    said = read_claim(text)
    if (said.who, said.of) != ("everyone", "mood"):
        raise Unreadable(text)
    return said.good


def can(fact: str, claim: str) -> bool:
    """Whether what was found can do what is claimed: the living act, and things are acted upon."""
    what, denied = parser.read_can(claim)
    return (alive(parser.read_found(fact)) == (what == "ability")) != denied


def only(fits: Iterable[bool], told: object) -> int:
    """The place of the one choice that fits. Raises Unreadable."""
    places = [place for place, fit in enumerate(fits) if fit]
    if len(places) != 1:
        raise Unreadable(f"{len(places)} choices fit {told}")
    return places[0]


def race(passage: str, question: str, choices: tuple[str, ...]) -> int:
    """The one answer that follows for the one who is asked about."""
    opening, text = parser.sentences(passage)
    told, asked = read_clauses(text), parser.tokens(question)
    if asked[:2] != ["how", "did"] or asked[3:] != ["feel"]:
        raise Unreadable(question)
    if about(told, asked[2]).who != parser.read_opening(opening):
        raise Unreadable(f"{asked[2]!r} is not who {opening!r}")
    was = "were" if asked[2] == "they" else "was"
    return only((follows(told, f"{asked[2]} {was} {choice}") for choice in choices), passage)


def read_story(text: str) -> list[Feeling]:
    """What a story tells of the one it is about, whom its pronouns stand for, and of others."""
    opening, *parts = parser.sentences(text)
    who, told, liking = parser.read_opening(opening), [], ""
    for part in parts:
        words = parser.tokens(part)
        if words[0] in ("then", "soon", "later", "afterwards", "there") and words[1] != he(who):
            raise Unreadable(f"{words[1]!r} is not {who}")
        if words[-2:] in (["came", "too"], ["came", "home"], ["went", "away"]):
            continue
        if parser.CLASS.get(words[1]) in ("love", "hate"):
            liking = f"{part} "
        elif words[0] == "there" and liking:
            told += read_clauses(liking + part)
        elif words[0] == "there":
            told += read_clauses(f"{np(who)} {' '.join(words[2:])}")
        else:
            told += read_clauses(part)
    return told


def ending(story: str, choices: tuple[str, ...]) -> int:
    """The one ending that follows from the story."""
    told = read_story(story)
    ends = [choice.removeprefix("In the end ") for choice in choices]
    return only((follows(told, end) for end in ends), story)


def referent(example: Example) -> int:
    """The one candidate of the verb's number: the pronoun before it is not kept."""
    be = parser.tokens(example.second)[0]
    if be not in ("was", "were") or not example.first.endswith(" because"):
        raise Unreadable(example.first)
    nouns = [parser.noun(choice) for choice in example.choices]
    return only(((noun in GENDER) == (be == "was") for noun in nouns), example.first)
