"""What makes people glad or sad, fresh or weary: the clauses that most tasks are made of.

Three degrees of difficulty, the same in every task but CoLA. Lexical: the class of one word tells.
Relational: two clauses stand against each other, and one of them counts. Compositional: a word
reverses what another says ("hated", "hardly", "not"), in one of two texts or in both.
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
# What the books say behind a claim that follows, that does not, or of which nothing is told.
VERDICTS = {True: TRUE, False: FALSE, None: UNKNOWN}
JUDGED = 0.3  # the share of the books' paragraphs that end in a verdict
# Most claims are true, as most of what a book says: where a claim cannot be foreseen at all, it is
# not learnt whether it was so (bench/LOG.md).
TRUE_SHARE = 0.75
DENIED = 0.2  # the share of the claims of kinds and remarks that are denials there
LINKS = ("but", "while", "whereas", "yet")
FEELINGS: tuple[Feeling, ...] = ("mood", "energy")
# Of each feeling the classes of adjectives and of what brings it about, the good ones first.
ADJECTIVES: dict[Feeling, tuple[str, str]] = {
    "mood": ("happy", "sad"),
    "energy": ("fresh", "weary"),
}
CAUSES: dict[Feeling, tuple[str, str]] = {"mood": ("gain", "loss"), "energy": ("rest", "work_hard")}


@dataclass(frozen=True)
class Telling:
    """A clause and what follows from it: how somebody feels, and perhaps `others` the opposite."""

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
    """Tell what makes somebody feel so, in n words of its class; `reversed_` as in `cause`.

    Relational: others have the opposite luck, or any luck of the `other` feeling if one is given;
    either of them may be asked about.
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
    """A clause about what makes somebody feel so, with n words of its class.

    `reversed_`: by a feeling for a thing, which may turn a loss into luck; or by what was hardly
    done.
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
    """A place, in three clauses of ten: what a place takes of the books teaches nothing else."""
    return f" in the {draw.word('place')}" if draw.random() < 0.3 else ""


def state(
    draw: Draw, who: str, feeling: Feeling, good: bool, denied: bool = False, n: int = 1
) -> str:
    """How somebody was, in n adjectives; if `denied`, by saying that the opposite was not so."""
    be = "were" if who in (*OTHERS, "they") else "was"
    return f"{who} {be} {how(draw, feeling, good, denied, n)}"


def how(draw: Draw, feeling: Feeling, good: bool, denied: bool = False, n: int = 1) -> str:
    """The adjectives of `state`, with a negation if `denied`."""
    adjectives = draw.words(ADJECTIVES[feeling][good == denied], n, "or" if denied else "and")
    return f"{draw.form(*NEGATORS)} {adjectives}" if denied else adjectives


def surprise(good: bool) -> str:
    """The word behind a state that nobody expected: without it nothing in the books compares how
    somebody was with what had happened."""
    return "luckily" if good else "alas"


def is_so(draw: Draw) -> bool:
    """Whether a claim that the books judge follows from what is told."""
    return draw.random() < TRUE_SHARE


def another(feeling: Feeling) -> Feeling:
    """The feeling that is not this one."""
    return "energy" if feeling == "mood" else "mood"
