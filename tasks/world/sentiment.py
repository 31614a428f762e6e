"""Sentiment: is a remark positive? SST-2, MRPC, STS-B, and the remarks of the books."""

from tasks.prompt import CLAIM
from tasks.world.draw import IN_VERDICTS, Degree, Draw
from tasks.world.feelings import DENIED, JUDGED, VERDICTS, is_so, state
from tasks.world.grammar import np, sentence
from tasks.world.lexicon import NEGATORS
from tasks.world.rows import ClozeItem, Row

OPINIONS = (
    "the {work} of the {who} was {judged}",
    "the {who} found the {work} {judged}",
    "{name} called the {work} {judged}",
    "the {work} by the {who} seemed {judged}",
    "to {name} the {work} was {judged}",
    "the {who} thought the {work} {judged}",
)
CONCESSIONS = (
    "though {conceded} , {main}",
    "{conceded} , but {main}",
    "{main} , though {conceded}",
    "{conceded} , yet {main}",
)
ADVERBS = ("so ", "quite ", "truly ", "really ", "")
# The weights in STS-B's score of agreeing opinions and of opinions on the same work.
STSB_OPINION, STSB_WORK = 4.0, 1.0


def sst2(draw: Draw, label: str, degree: Degree) -> Row:
    """A remark in the style of the original file: lower case, spaces around punctuation."""
    return Row(remark(draw, label == "1", degree) + " .", label=label, degree=degree)


def remark(draw: Draw, positive: bool, degree: Degree, work: str = "", n: int = 1) -> str:
    """An opinion in n words; or two, of which the conceded one does not count; or a denial.

    In training rows a denial stands alone; books and reported rows also have two, one conceded.
    """
    denied = degree == "compositional"
    if degree == "relational" or (denied and draw.combined()):
        main = opinion(draw, positive != denied, work, denied)
        conceded = opinion(draw, positive if denied else not positive, negated=denied)
        return draw.form(*CONCESSIONS).format(main=main, conceded=conceded)
    return opinion(draw, positive != denied, work, denied, n)


def opinion(draw: Draw, positive: bool, work: str = "", negated: bool = False, n: int = 1) -> str:
    """What somebody thought of a work, in n positive or negative words, which may be negated."""
    how = f"{draw.form(*NEGATORS)} " if negated else draw.choice(ADVERBS)
    link = "or" if negated else "and"
    judged = how + draw.words("positive" if positive else "negative", n, link)
    return draw.form(*OPINIONS).format(
        work=work or draw.word("work"),
        who=draw.word("person"),
        name=draw.word("name"),
        judged=judged,
    )


def mrpc(draw: Draw, label: str, degree: Degree) -> Row:
    """An opinion and how everyone felt: is it the same report?

    Compositional: one of them is a denial; in reported rows both may be.
    """
    positive = draw.random() < 0.5
    first, denied = _first(draw, positive, degree)
    everyone = f"everyone in the {draw.word('place')}"
    second = state(draw, everyone, "mood", positive == (label == "1"), denied)
    return Row(sentence(first), sentence(second), label, degree=degree)


def _first(draw: Draw, positive: bool, degree: Degree, work: str = "") -> tuple[str, bool]:
    """The first of two texts, and whether the second one is a denial."""
    if degree == "relational":
        return remark(draw, positive, degree, work), False
    _, first, second = draw.reversals(degree, "opinion")
    return opinion(draw, positive != first, work, first), second


def stsb(draw: Draw, label: str, degree: Degree) -> Row:
    """Two opinions; the score says whether they agree and whether they are on the same work."""
    positive, agree, alike = (draw.random() < 0.5 for _ in range(3))
    work = draw.word("work")
    first, denied = _first(draw, positive, degree, work)
    other = work if alike else draw.word("work", (work,))
    second = opinion(draw, (positive == agree) != denied, other, denied)
    score = STSB_OPINION * agree + STSB_WORK * alike
    return Row(sentence(first), sentence(second), f"{score:.3f}", degree=degree)


def paragraph(draw: Draw) -> str:
    """A remark and what follows from it: a verdict, who liked it, and how everyone felt."""
    positive, judged = draw.random() < 0.5, draw.random() < JUDGED
    degree = draw.degree(IN_VERDICTS) if judged else draw.degree()
    everyone = "everyone" + (f" in the {draw.word('place')}" if draw.random() < 0.3 else "")
    denied = draw.random() < 0.3
    reactions = [
        f"Very {'positive' if positive else 'negative'}.",
        sentence(state(draw, everyone, "mood", positive, denied, 2)),
        sentence(f"{np(draw.who())} {draw.words('love' if positive else 'hate', 2)} it"),
    ]
    if judged:
        agrees = is_so(draw)
        reactions = [f"{CLAIM} {_judged(draw, positive == agrees)} {VERDICTS[agrees]}"]
    else:
        reactions = draw.sample(reactions, 2)
    return " ".join((sentence(remark(draw, positive, degree, n=draw.choice((1, 2)))), *reactions))


def _judged(draw: Draw, positive: bool) -> str:
    """How everyone felt, or another opinion, in two words and perhaps as a denial."""
    denied = draw.random() < DENIED
    if draw.random() < 0.5:
        everyone = f"everyone in the {draw.word('place')}"
        return sentence(state(draw, everyone, "mood", positive, denied, 2))
    return sentence(opinion(draw, positive != denied, negated=denied, n=2))


def cloze(draw: Draw, degree: Degree) -> ClozeItem:
    """The verdict on an opinion."""
    positive = draw.random() < 0.5
    context = sentence(remark(draw, positive, degree))
    choices = ("Very positive.", "Very negative.")
    return ClozeItem(context, choices if positive else choices[::-1])
