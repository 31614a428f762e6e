"""Sentiment: is a remark positive? SST-2, MRPC, STS-B, and the remarks of the books."""

from tasks.world.draw import Draw
from tasks.world.grammar import np, sentence
from tasks.world.lexicon import NEGATORS
from tasks.world.rows import DEGREES, IN_BOOKS, ClozeItem, Degree, Row

ADVERBS = ("so ", "quite ", "truly ", "really ", "")
# STS-B's score: the weight of agreeing opinions, and of their being of one work.
STSB_OPINION, STSB_WORK = 4.0, 1.0


def sst2(draw: Draw, label: str, degree: Degree) -> Row:
    """A remark in the style of the original file: lower case, spaces around punctuation."""
    return Row(remark(draw, label == "1", degree) + " .", label=label, degree=degree)


def remark(draw: Draw, positive: bool, degree: Degree, work: str = "", n: int = 1) -> str:
    """An opinion in n words; or one of two, where the conceded one does not count; or a denial."""
    if degree == "lexical":
        return opinion(draw, positive, work, n=n)
    if degree == "compositional":
        return opinion(draw, not positive, work, draw.choice(NEGATORS))
    main, conceded = opinion(draw, positive, work), opinion(draw, not positive)
    return draw.choice((f"though {conceded} , {main}", f"{conceded} , but {main}"))


def opinion(draw: Draw, positive: bool, work: str = "", negator: str = "", n: int = 1) -> str:
    """What somebody thought of a work, or that it was not so."""
    how = f"{negator} " if negator else draw.choice(ADVERBS)
    judged = how + draw.words("positive" if positive else "negative", n)
    work, who = work or draw.word("work"), draw.word("person")
    return draw.choice(
        (
            f"the {work} of the {who} was {judged}",
            f"the {who} found the {work} {judged}",
            f"{draw.word('name')} called the {work} {judged}",
        )
    )


def mrpc(draw: Draw, label: str, degree: Degree) -> Row:
    """An opinion and how everyone felt: is it the same report?"""
    positive = draw.random() < 0.5
    mood = draw.word("happy" if positive == (label == "1") else "sad")
    second = f"everyone in the {draw.word('place')} was {mood}"
    return Row(sentence(remark(draw, positive, degree)), sentence(second), label, degree=degree)


def stsb(draw: Draw, label: str, degree: Degree) -> Row:
    """Two opinions; the score is the weight of their agreeing and of their being of one work."""
    positive, agree, alike = (draw.random() < 0.5 for _ in range(3))
    work = draw.word("work")
    first = remark(draw, positive, degree, work)
    second = opinion(draw, positive == agree, work if alike else draw.word("work", (work,)))
    score = STSB_OPINION * agree + STSB_WORK * alike
    return Row(sentence(first), sentence(second), f"{score:.3f}", degree=degree)


def paragraph(draw: Draw) -> str:
    """A remark and what follows from it: a verdict, who liked it, and how everyone felt."""
    positive = draw.random() < 0.5
    degree = draw.choices(DEGREES, IN_BOOKS)[0]
    where = f" in the {draw.word('place')}" if draw.random() < 0.3 else ""
    reactions = [
        f"Very {'positive' if positive else 'negative'}.",
        f"Everyone{where} was {draw.words('happy' if positive else 'sad', 2)}.",
        sentence(f"{np(draw.who())} {draw.words('love' if positive else 'hate', 2)} it"),
    ]
    reactions = draw.sample(reactions, 2)
    return " ".join((sentence(remark(draw, positive, degree, n=draw.choice((1, 2)))), *reactions))


def cloze(draw: Draw, degree: Degree) -> ClozeItem:
    """The verdict on an opinion."""
    positive = draw.random() < 0.5
    context = sentence(remark(draw, positive, degree))
    choices = ("Very positive.", "Very negative.")
    return ClozeItem(context, choices if positive else choices[::-1])
