"""What makes people glad or sad, fresh or weary: SNLI, MNLI, RTE, and the books' deeds.

Stories and questions are made of the same clauses. There are three degrees of difficulty, the same
in every task but CoLA. Lexical: the class of one word settles the label. Relational: two clauses
contrast, and one of them counts. Compositional: a word reverses what another says ("hated",
"hardly", "not"), in one of two texts or in both.
"""

from dataclasses import dataclass
from typing import Literal

from tasks.prompt import CLAIM, FALSE, TRUE, UNKNOWN
from tasks.world.draw import (
    IN_CHRONICLES,
    NEGATORS,
    OTHERS,
    SELDOM,
    ClozeItem,
    Draw,
    Row,
    a,
    he,
    np,
    sentence,
)
from tasks.world.settings import Degree

Feeling = Literal["mood", "energy"]
REVERSED_NEWS = (
    "{who} {liking} the {thing} and {news} it",
    "{who} {news} the {thing} that {he} {liking}",
    "{who} {news} the {thing} , for {he} {liking} it",
)
# The books' verdicts on a claim that follows, that does not, or that what is told leaves open.
VERDICTS = {True: TRUE, False: FALSE, None: UNKNOWN}
FOLLOWS = {"entailment": True, "contradiction": False, "neutral": None}
# Most claims are true, like most of what a book says: where claims cannot be predicted at all,
# models do not learn whether they are true (bench/LOG.md).
TRUE_SHARE = 0.75
DENIED = 0.2  # the share of denials among the claims about kinds and remarks
LINKS = ("but", "while", "whereas", "yet")
FEELINGS: tuple[Feeling, ...] = ("mood", "energy")
OTHER: dict[Feeling, Feeling] = {"mood": "energy", "energy": "mood"}
# For each feeling, the classes of its adjectives and of its causes, the good ones first.
ADJECTIVES: dict[Feeling, tuple[str, str]] = {
    "mood": ("happy", "sad"),
    "energy": ("fresh", "weary"),
}
CAUSES: dict[Feeling, tuple[str, str]] = {"mood": ("gain", "loss"), "energy": ("rest", "work_hard")}
# The word after a state that nobody expected. Without it nothing in the books would compare how
# somebody felt with what had happened.
SURPRISE = {True: "luckily", False: "alas"}
SURPRISES = 0.08  # the share of the books' deeds with an unexpected outcome
LEFT_OPEN = 0.17  # the share of the books' claims that what is told leaves open
DAY = "It was a day of {}."
GENRES = {
    "fiction": ("once {}", "long ago {}"),
    "news": ("it is reported that {}", "it was announced that {}"),
    "talk": ("well , {} , you know", "oh , {} , you see"),
    "letters": ("I hear that {}", "you may know that {}"),
}


@dataclass(frozen=True)
class Telling:
    """A clause and what follows from it: how `who` feels; `others`, if any, feel the opposite.

    `denied`: a claim about it is to be a denial.
    """

    clause: str
    who: str
    feeling: Feeling
    good: bool
    denied: bool
    others: str = ""


def tell(
    draw: Draw,
    degree: Degree,
    good: bool | None = None,
    feelings: tuple[Feeling, ...] = FEELINGS,
    most: int = 1,
    mixed: bool = False,
) -> Telling:
    """Tell what makes somebody feel good or bad (None: either), in one or up to `most` words.

    Relational: others have the opposite luck, or if `mixed` either luck in the other feeling; the
    telling may be about either party. Compositional: it is reversed (`cause`), or what is claimed
    about it is a denial, or both.
    """
    feeling, reversed_, denied = draw.reversals(degree, *feelings)
    n = draw.randint(1, most) if most > 1 else 1
    good = draw.random() < 0.5 if good is None else good
    who = draw.who()
    if degree != "relational":
        clause = cause(draw, who, feeling, good, reversed_, n)
        return Telling(clause, who, feeling, good, denied)
    one, two = draw.sample((who, draw.choice(OTHERS)), 2)
    luck, of = (draw.random() < 0.5, OTHER[feeling]) if mixed else (not good, feeling)
    parts = [cause(draw, one, feeling, good, n=n), cause(draw, two, of, luck, n=n)]
    clause = f" , {draw.form(*LINKS)} ".join(draw.sample(parts, 2))
    return Telling(clause, one, feeling, good, denied, "" if mixed else two)


def cause(
    draw: Draw, who: str, feeling: Feeling, good: bool, reversed_: bool = False, n: int = 1
) -> str:
    """A clause about what makes somebody feel good or bad, with n words of its class.

    `reversed_`: the cause is love or hate of a thing, which may turn its loss into luck; or it is
    something that was seldom done.
    """
    if feeling == "energy":
        deeds = draw.words(CAUSES["energy"][good == reversed_], n)
        seldom = f"{draw.form(*SELDOM)} " if reversed_ else ""
        return f"{np(who)} {seldom}{deeds}{_where(draw)}"
    if not reversed_:
        news = f"{draw.words(CAUSES['mood'][not good], n)} {a(draw.word('thing'))}"
        return f"{np(who)} {news}{_where(draw)}"
    loved, thing = draw.random() < 0.4, draw.word("thing")
    news = draw.word(CAUSES["mood"][good != loved])
    liking = draw.word("love" if loved else "hate")
    return draw.form(*REVERSED_NEWS).format(
        who=np(who), liking=liking, thing=thing, news=news, he=he(who)
    )


def _where(draw: Draw) -> str:
    """A place, in three of ten clauses: words that the books spend on places teach nothing else."""
    return f" in the {draw.word('place')}" if draw.random() < 0.3 else ""


def state(
    draw: Draw, who: str, feeling: Feeling, good: bool, denied: bool = False, n: int = 1
) -> str:
    """How somebody felt, in n adjectives; if `denied`, by denying the opposite."""
    be = "were" if who in (*OTHERS, "they") else "was"
    return f"{who} {be} {how(draw, feeling, good, denied, n)}"


def how(draw: Draw, feeling: Feeling, good: bool, denied: bool = False, n: int = 1) -> str:
    """The adjectives of `state`, with a negation if `denied`."""
    adjectives = draw.words(ADJECTIVES[feeling][good == denied], n, "or" if denied else "and")
    return f"{draw.form(*NEGATORS)} {adjectives}" if denied else adjectives


def verdict(claim: str, follows: bool | None) -> str:
    """A claim and the books' verdict on it."""
    return f"{CLAIM} {claim} {VERDICTS[follows]}"


def snli(draw: Draw, label: str, degree: Degree) -> Row:
    """What happened to somebody (news, rest or work), and a claim about how they felt.

    Neutral: the claim is about the other of mood and energy. Compositional: what happened or the
    claim is reversed, or both.
    """
    telling = tell(draw, degree)
    return Row(sentence(telling.clause), sentence(claim(draw, telling, FOLLOWS[label])))


def mnli(
    draw: Draw, label: str, degree: Degree, genres: tuple[str, ...] = ("fiction", "news")
) -> Row:
    """A row as of `snli`, told in one of the genres."""
    genre, telling = draw.choice(genres), tell(draw, degree)
    claimed = sentence(claim(draw, telling, FOLLOWS[label]))
    told = draw.form(*GENRES[genre]).format(telling.clause)
    return Row(sentence(told), claimed, group=genre)


def rte(draw: Draw, label: str, degree: Degree) -> Row:
    """What happened on some day, and a claim that follows or the opposite claim."""
    telling = tell(draw, degree, draw.random() < 0.5)
    claimed = sentence(claim(draw, telling, label == "entailment"))
    return Row(f"{DAY.format(draw.word('time'))} {sentence(telling.clause)}", claimed)


def claim(draw: Draw, telling: Telling, follows: bool | None, by_pronoun: bool = False) -> str:
    """A claim about how somebody felt, which follows or is the opposite of what does.

    It is about the other feeling if neither is to follow (None).
    """
    feeling, good = telling.feeling, telling.good == follows
    if follows is None:
        feeling, good = OTHER[feeling], draw.random() < 0.5
    who = he(telling.who) if by_pronoun else _subject(draw, telling)
    return state(draw, who, feeling, good, telling.denied)


def _subject(draw: Draw, telling: Telling) -> str:
    """Whom a claim is about, by name or by pronoun."""
    return np(telling.who) if draw.random() < 0.5 else he(telling.who)


def deeds(draw: Draw) -> str:
    """A paragraph: who rested or worked, or what news they had, and how they felt then."""
    good = draw.random() < 0.5
    degree, judged = draw.degree_and_judged(IN_CHRONICLES)
    telling = tell(draw, degree, good, (*FEELINGS, "energy"), most=2)
    feeling, denied, who = telling.feeling, telling.denied, _subject(draw, telling)
    # Denials have two adjectives, as no book may have a reported claim of more than four words.
    form, n = draw.random(), 1 + denied
    if judged:
        lines = [_judged(draw, telling)]
    elif telling.others:
        parties = ((who, good), (he(telling.others), not good))
        lines = [state(draw, one, feeling, was_good, n=2) for one, was_good in parties]
        draw.shuffle(lines)
    elif form < SURPRISES:
        lines = [f"{state(draw, who, feeling, not good, denied, n)} , {SURPRISE[not good]}"]
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
        told = sentence(draw.form(*GENRES[draw.choice([*GENRES])]).format(telling.clause))
    elif draw.random() < 0.2:
        told = f"{DAY.format(draw.word('time'))} {told}"
    return " ".join((told, *(line if line[-1] == "." else sentence(line) for line in lines)))


def _judged(draw: Draw, telling: Telling) -> str:
    """A claim about one of the people in the telling, and the verdict on it."""
    who, good, denied = _subject(draw, telling), telling.good, telling.denied
    if telling.others and draw.random() < 0.5:
        who, good = he(telling.others), not good
    follows = None if draw.random() < LEFT_OPEN else draw.random() < TRUE_SHARE
    feeling = telling.feeling if follows is not None else OTHER[telling.feeling]
    claimed = good if follows is None else good == follows
    return verdict(sentence(state(draw, who, feeling, claimed, denied, 1 + denied)), follows)


def cloze_energy(draw: Draw, degree: Degree) -> ClozeItem:
    """How somebody felt after rest or work."""
    telling = tell(draw, degree, feelings=("energy",))
    right, wrong = (
        sentence(state(draw, he(telling.who), "energy", good, telling.denied))
        for good in (telling.good, not telling.good)
    )
    return sentence(telling.clause), (right, wrong)


def cloze_surprise(draw: Draw) -> ClozeItem:
    """Whether how somebody felt agrees with what happened."""
    good, agree = draw.random() < 0.5, draw.random() < 0.5
    telling = tell(draw, "lexical", good)
    claim = state(draw, he(telling.who), telling.feeling, good == agree)
    ends = ("of course", SURPRISE[good == agree])[:: 1 if agree else -1]
    return sentence(telling.clause), tuple(sentence(f"{claim} , {end}") for end in ends)
