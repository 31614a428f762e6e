"""What makes people glad or sad, fresh or weary: the clauses that most tasks are made of.

There are three degrees of difficulty, the same in every task but CoLA. Lexical: the class of one
word settles the label. Relational: two clauses contrast, and one of them counts. Compositional: a
word reverses what another says ("hated", "hardly", "not"), in one of two texts or in both.
"""

from dataclasses import dataclass
from typing import Literal

from tasks.prompt import FALSE, TRUE, UNKNOWN
from tasks.world.draw import Degree, Draw
from tasks.world.grammar import np
from tasks.world.lexicon import NEGATORS, OTHERS, SELDOM, a, he

Feeling = Literal["mood", "energy"]
REVERSED_NEWS = (
    "{who} {liking} the {thing} and {news} it",
    "{who} {news} the {thing} that {he} {liking}",
    "{who} {news} the {thing} , for {he} {liking} it",
)
# The books' verdicts on a claim that follows, that does not, or that what is told leaves open.
VERDICTS = {True: TRUE, False: FALSE, None: UNKNOWN}
JUDGED = 0.3  # the share of the books' paragraphs that end in a verdict
# Most claims are true, like most of what a book says: where claims cannot be predicted at all,
# models do not learn whether they are true (bench/LOG.md).
TRUE_SHARE = 0.75
DENIED = 0.2  # the share of denials among the claims about kinds and remarks
LINKS = ("but", "while", "whereas", "yet")
FEELINGS: tuple[Feeling, ...] = ("mood", "energy")
# For each feeling, the classes of its adjectives and of its causes, the good ones first.
ADJECTIVES: dict[Feeling, tuple[str, str]] = {
    "mood": ("happy", "sad"),
    "energy": ("fresh", "weary"),
}
CAUSES: dict[Feeling, tuple[str, str]] = {"mood": ("gain", "loss"), "energy": ("rest", "work_hard")}


@dataclass(frozen=True)
class Telling:
    """A clause and what follows from it: how `who` feels; `others`, if any, feel the opposite."""

    clause: str
    who: str
    feeling: Feeling
    good: bool
    others: str = ""


def tell(
    draw: Draw,
    feeling: Feeling,
    good: bool,
    degree: Degree,
    other: Feeling | None = None,
    n: int = 1,
    reversed_: bool = False,
) -> Telling:
    """Tell what makes somebody feel good or bad, in n words of its class.

    Relational: others have the opposite luck, or either luck in the `other` feeling if one is
    given; the telling may be about either party. `reversed_` is as in `cause`.
    """
    who = draw.who()
    if degree != "relational":
        clause = cause(draw, who, feeling, good, reversed_, n)
        return Telling(clause, who, feeling, good)
    one, two = draw.sample((who, draw.choice(OTHERS)), 2)
    luck = draw.random() < 0.5 if other else not good
    parts = [cause(draw, one, feeling, good, n=n), cause(draw, two, other or feeling, luck, n=n)]
    clause = f" , {draw.form(*LINKS)} ".join(draw.sample(parts, 2))
    return Telling(clause, one, feeling, good, "" if other else two)


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


def surprise(good: bool) -> str:
    """The word after a state that nobody expected.

    Without it nothing in the books would compare how somebody felt with what had happened.
    """
    return "luckily" if good else "alas"


def is_so(draw: Draw) -> bool:
    """Whether a claim that the books judge follows from what is told."""
    return draw.random() < TRUE_SHARE


def another(feeling: Feeling) -> Feeling:
    """The feeling that is not this one."""
    return "energy" if feeling == "mood" else "mood"
