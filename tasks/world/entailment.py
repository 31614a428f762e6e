"""Entailment: does a claim about a feeling follow? SNLI, MNLI, RTE, and the books' deeds."""

from tasks.prompt import CLAIM
from tasks.world.draw import IN_CHRONICLES, IN_VERDICTS, Degree, Draw
from tasks.world.feelings import (
    ADJECTIVES,
    FEELINGS,
    JUDGED,
    VERDICTS,
    Feeling,
    Telling,
    another,
    is_so,
    state,
    surprise,
    tell,
)
from tasks.world.grammar import np, sentence
from tasks.world.lexicon import he
from tasks.world.rows import ClozeItem, Row

SURPRISES = 0.08  # the share of the books' deeds with an unexpected outcome
UNKNOWN = 0.17  # the share of the books' claims that what is told leaves open
GENRES = {
    "fiction": ("once {}", "long ago {}"),
    "news": ("it is reported that {}", "it was announced that {}"),
    "talk": ("well , {} , you know", "oh , {} , you see"),
    "letters": ("I hear that {}", "you may know that {}"),
}


def snli(draw: Draw, label: str, degree: Degree) -> Row:
    """What happened to somebody (news, rest or work), and a claim about how they felt.

    Neutral: the claim is about the other of mood and energy. Compositional: what happened or the
    claim is reversed, or both.
    """
    telling, claim = _telling_and_claim(draw, label, degree)
    return Row(sentence(telling.clause), sentence(claim), label, degree=degree)


def mnli(draw: Draw, label: str, degree: Degree, genre: str = "fiction") -> Row:
    """A row as of `snli`, told in a genre."""
    telling, claim = _telling_and_claim(draw, label, degree)
    told = _told(draw, telling.clause, genre)
    return Row(sentence(told), sentence(claim), label, group=genre, degree=degree)


def _told(draw: Draw, clause: str, genre: str) -> str:
    return draw.form(*GENRES[genre]).format(clause)


def _telling_and_claim(draw: Draw, label: str, degree: Degree) -> tuple[Telling, str]:
    feeling, reversed_, denied = draw.reversals(degree, *FEELINGS)
    telling = tell(draw, feeling, draw.random() < 0.5, degree, reversed_=reversed_)
    good = telling.good == (label == "entailment")
    if label == "neutral":
        feeling, good = another(feeling), draw.random() < 0.5
    return telling, state(draw, _subject(draw, telling), feeling, good, denied)


def _subject(draw: Draw, telling: Telling) -> str:
    """Whom a claim is about, by name or by pronoun."""
    return np(telling.who) if draw.random() < 0.5 else he(telling.who)


def rte(draw: Draw, label: str, degree: Degree) -> Row:
    """What happened on some day, and a claim that follows or the opposite claim."""
    good, (feeling, reversed_, denied) = draw.random() < 0.5, draw.reversals(degree, *FEELINGS)
    telling = tell(draw, feeling, good, degree, reversed_=reversed_)
    claimed = good == (label == "entailment")
    claim = state(draw, _subject(draw, telling), feeling, claimed, denied)
    return Row(f"{_day(draw)} {sentence(telling.clause)}", sentence(claim), label, degree=degree)


def _day(draw: Draw) -> str:
    return f"It was a day of {draw.word('time')}."


def paragraph(draw: Draw) -> str:
    """Who rested or worked, or what news they had, and how they felt then."""
    good, judged = draw.random() < 0.5, draw.random() < JUDGED
    degree = draw.degree(IN_VERDICTS if judged else IN_CHRONICLES)
    feeling, reversed_, denied = draw.reversals(degree, *FEELINGS, "energy")
    telling = tell(draw, feeling, good, degree, n=draw.choice((1, 2)), reversed_=reversed_)
    who = _subject(draw, telling)
    # Denials have two adjectives, as no book may have a reported claim of more than four words.
    form, n = draw.random(), 1 + denied
    if judged:
        lines = [_judged(draw, telling, denied)]
    elif telling.others:
        lines = [
            state(draw, who, feeling, good, n=2),
            state(draw, he(telling.others), feeling, not good, n=2),
        ]
        draw.shuffle(lines)
    elif form < SURPRISES:
        lines = [f"{state(draw, who, feeling, not good, denied, n)} , {surprise(not good)}"]
    elif form < 2 * SURPRISES:
        lines = [f"{state(draw, who, feeling, good, denied, n)} , of course"]
    elif denied:
        lines = [state(draw, who, feeling, good, denied, n)]
    elif form < 0.6:
        opposite = draw.word(ADJECTIVES[feeling][good])
        lines = [f"{state(draw, who, feeling, good)} , not {opposite}"]
    else:
        lines = [state(draw, who, feeling, good, n=2)]
    told = sentence(telling.clause)
    if draw.random() < 0.3:
        told = sentence(_told(draw, telling.clause, draw.choice([*GENRES])))
    elif draw.random() < 0.2:
        told = f"{_day(draw)} {told}"
    return " ".join((told, *(line if line[-1] == "." else sentence(line) for line in lines)))


def _judged(draw: Draw, telling: Telling, denied: bool) -> str:
    """A claim about one of the people in the telling, and the verdict on it."""
    who, good = _subject(draw, telling), telling.good
    if telling.others and draw.random() < 0.5:
        who, good = he(telling.others), not good
    feeling, follows = telling.feeling, None if draw.random() < UNKNOWN else is_so(draw)
    claimed = (feeling, good == follows) if follows is not None else (another(feeling), good)
    claim = sentence(state(draw, who, *claimed, denied, 1 + denied))
    return f"{CLAIM} {claim} {VERDICTS[follows]}"


def cloze(draw: Draw, degree: Degree) -> ClozeItem:
    """How somebody felt after rest or work."""
    feeling: Feeling = "energy"
    _, reversed_, denied = draw.reversals(degree, feeling)
    telling = tell(draw, feeling, draw.random() < 0.5, degree, reversed_=reversed_)
    who = he(telling.who)
    right, wrong = (
        sentence(state(draw, who, feeling, good, denied))
        for good in (telling.good, not telling.good)
    )
    return ClozeItem(sentence(telling.clause), (right, wrong))


def cloze_surprise(draw: Draw) -> ClozeItem:
    """Whether how somebody felt agrees with what happened."""
    good, agree = draw.random() < 0.5, draw.random() < 0.5
    telling = tell(draw, draw.choice(FEELINGS), good, "lexical")
    claim = state(draw, he(telling.who), telling.feeling, good == agree)
    expected, unexpected = (
        sentence(f"{claim} , {end}") for end in ("of course", surprise(good == agree))
    )
    choices = (expected, unexpected) if agree else (unexpected, expected)
    return ClozeItem(sentence(telling.clause), choices)
