"""The answers that follow from the world's rules, derived from the text of an example alone.

`answer(task, example)` reads the texts with `parser.py` and the lexicon's tables; it knows nothing
of how rows are generated. A score of 100 on every split shows that every label follows from its
text. `is_true(paragraph)` does the same for what the books say, and for cloze items.
"""

import re
from collections.abc import Iterable

from tasks import Example
from tasks.prompt import CLAIM
from tasks.world.draw import (
    CLASSES,
    GENDER,
    HYPONYM,
    NEGATORS,
    SELDOM,
    VERDICTS,
    alive,
    he,
    np,
)
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

THREE = (True, None, False)  # whether a claim follows, by SNLI's labels in their order
STSB_OPINION, STSB_WORK = 4.0, 1.0
FRAMES = re.compile(
    "|".join(
        frame.replace(" ,", ",").format("(.*)") for frames in GENRES.values() for frame in frames
    ),
    re.IGNORECASE,
)
REVERSERS = (*CLASSES["love"], *CLASSES["hate"], *SELDOM, *NEGATORS, "cannot")
REVERSED = re.compile(rf"\b({'|'.join(REVERSERS)})\b")
JUDGED = {*CLASSES["positive"], *CLASSES["negative"]}
FELT = {word for name in parser.FEELINGS for word in CLASSES[name]}
TWO = re.compile(rf"\b({'|'.join(LINKS)}|though|looked for|wanted)\b")


def answer(task: str, example: Example) -> int | float:
    """The label of an example: an index into the task's labels or choices; for STS-B a score."""
    first, second = example.first, example.second
    match task:
        case "snli" | "mnli":
            return THREE.index(follows(read_clauses(without_frame(first)), second))
        case "rte":
            return int(not follows(read_clauses(parser.sentences(first)[1]), second))
        case "qnli":
            return int(not follows(read_clauses(second), asked_why(first)))
        case "qqp":
            return int(follows(read_clauses(without_who(first)), without_who(second)) is True)
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
        if "near" not in words:
            return "lexical"
        return "compositional" if "and" in words else "relational"
    if REVERSED.search(text):
        return "compositional"
    two = len(read_story(example.first)) == 2 if task == "story_cloze" else TWO.search(text)
    return "relational" if two else "lexical"


def without_frame(text: str) -> str:
    """A statement without what a genre of MNLI adds to it."""
    found = FRAMES.fullmatch(text.removesuffix("."))
    return next(filter(None, found.groups())) if found else text


def without_who(question: str) -> str:
    """What a question of who heard or knew it says."""
    return re.sub(rf"^Who ({'|'.join(KNEW)}) that ", "", question)


def asked_why(question: str) -> str:
    """What a question takes for granted: `She was glad` of `Why was she glad?`."""
    return re.sub("^Why (was|were) (he|she|they)", r"\2 \1", question)


def about(told: list[Feeling], who: str) -> Feeling:
    """What is told of the one whom a name, a noun or a pronoun stands for. Raises Unreadable."""
    found = [feeling for feeling in told if who in (feeling.who, pronoun_of(feeling.who))]
    if len(found) != 1:
        raise Unreadable(f"{who!r} is one of {len(found)} in {told}")
    return found[0]


def follows(told: list[Feeling], claim: str) -> bool | None:
    """Whether a claim follows from what is told; None if nothing is told about that feeling."""
    said = read_claim(claim)
    known = about(told, said.who)
    return known.good == said.good if known.of == said.of else None


def turned_out(told: list[Feeling], said: str) -> bool | None:
    """Whether a claim is so: it follows, or the word behind it says that nobody expected it."""
    claim, comma, end = said.rstrip(".?").rpartition(", ")
    if not comma or end == "of course":
        return follows(told, claim or said)
    good = {"luckily": True, "alas": False}[end]
    return follows(told, claim) is False and read_claim(claim).good == good


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


def kind_of(paragraph: str) -> str:
    """The kind of discourse that a paragraph is of, by the words that mark it."""
    if "because" in paragraph:
        return "reasons"
    if "?" in paragraph:
        return "questions"
    if "went to the" in paragraph:
        return "stories"
    if re.search(r"\bVery (positive|negative)\b|\bEveryone\b", paragraph) or JUDGED & {
        *parser.tokens(paragraph)
    }:
        return "remarks"
    if FELT & {*parser.tokens(paragraph)}:
        return "deeds"
    return "kinds" if re.search(r"\b[Ii]t (was an?|can(not)?) ", paragraph) else "forms"


def is_true(paragraph: str) -> bool:
    """Whether what a paragraph says follows from how it begins; or, where it ends in a verdict on
    that, whether the verdict is right."""
    said, right = paragraph.replace(f"{CLAIM} ", ""), True
    for follows_, verdict in VERDICTS.items():
        if paragraph.endswith(verdict):
            said, right = said.removesuffix(f" {verdict}"), follows_
    return _rest_follows(said) is right


def _rest_follows(paragraph: str) -> bool | None:
    """Whether the rest of a paragraph follows from how it begins; None if it is about what nothing
    is told of."""
    first, *rest = re.split(r"(?<=[.?]) ", paragraph)
    claims = [
        claim
        for part in rest
        for claim in re.sub(r"^(.*) (was|were) (.*), not", r"\1 \2 \3. \1 \2 not", part).split(". ")
    ]
    match kind_of(paragraph):
        case "forms":
            return all(map(is_grammatical, (first, *rest)))
        case "deeds":
            if first.startswith("It was a day of"):
                first, *claims = claims
            told = read_clauses(without_frame(first))
            each = [turned_out(told, claim) for claim in claims]
            return all(each) if len(each) > 1 else each[0]
        case "stories":
            *told, end = (re.sub("^And (.)", lambda m: m[1].upper(), p) for p in (first, *rest))
            end = end.removeprefix("In the end ")
            return follows(read_story(" ".join(told)), end)
        case "questions" if first.startswith("Why"):
            return bool(follows(read_clauses(rest[0]), asked_why(first)))
        case "questions" if first.startswith("Who"):
            told, said = map(without_who, (first, *rest))
            return bool(turned_out(read_clauses(told), said))
        case "questions":
            told, question, answer = rest
            return race(f"{first} {told}", question, (answer,)) == 0
        case "remarks":
            positive = read_remark(first).positive
            return all(_agrees(claim, positive) for claim in claims)
        case "kinds":
            said = re.sub(r"(It can \w+) but not", r"\1. It cannot", " ".join(rest)).split(". ")
            return all(_is_so(first, claim.removesuffix(".")) for claim in said)
        case _:
            deed, reason = first.lower().removesuffix(".").split(" because ")
            subject, be, traits = re.fullmatch(r"(.*) (was|were) (.*)", reason).groups()
            people = re.findall(r"the \w+", deed)
            (who,) = (w for w in people if subject in (w, pronoun_of(parser.noun(w))))
            said = " ".join(rest).lower()
            return said in (f"{who} {be} {traits}.", f"who {be} {traits}? {who}.")


def _agrees(reaction: str, positive: bool) -> bool:
    words = parser.tokens(reaction)
    if words[0] == "very":
        return (words[1] == "positive") == positive
    if words[0] == "everyone":
        return mood_of_everyone(reaction) == positive
    if words[-1] != "it":
        return read_remark(reaction).positive == positive
    return {parser.CLASS[words[-2]], parser.CLASS[words[-4]]} == {"love" if positive else "hate"}


def _is_so(fact: str, claim: str) -> bool:
    if claim.startswith("It was a"):
        return parser.noun(claim) == HYPONYM[parser.read_found(fact)]
    return can(fact, claim)
