"""Sentiment: is a remark positive? SST-2, and what the books say of it."""

from tasks.world.draw import Draw
from tasks.world.grammar import sentence
from tasks.world.lexicon import NEGATORS
from tasks.world.rows import Degree, Probe, Row

ADVERBS = ("so ", "quite ", "truly ", "really ", "")


def sst2(draw: Draw, label: str, degree: Degree) -> Row:
    """A remark in the style of the original file: lower case, spaces around punctuation."""
    return Row(remark(draw, label == "1", degree) + " .", label=label, degree=degree)


def remark(draw: Draw, positive: bool, degree: Degree) -> str:
    """An opinion; one of two, of which the one that is not conceded counts; or a denied one."""
    if degree == "lexical":
        return opinion(draw, positive)
    if degree == "compositional":
        return opinion(draw, not positive, negator=draw.choice(NEGATORS))
    main, conceded = opinion(draw, positive), opinion(draw, not positive)
    return draw.choice((f"though {conceded} , {main}", f"{conceded} , but {main}"))


def opinion(draw: Draw, positive: bool, work: str = "", negator: str = "") -> str:
    """What somebody thought of a work, or that it was not so."""
    how = f"{negator} " if negator else draw.choice(ADVERBS)
    judged = how + draw.word("positive" if positive else "negative")
    work, who = work or draw.word("work"), draw.word("person")
    return draw.choice(
        (
            f"the {work} of the {who} was {judged}",
            f"the {who} found the {work} {judged}",
            f"{draw.word('name')} called the {work} {judged}",
        )
    )


def paragraph(draw: Draw) -> str:
    """A remark and what follows from it: a verdict, and how everyone felt."""
    positive = draw.random() < 0.5
    degree: Degree = draw.choices(("lexical", "relational", "compositional"), (8, 1, 1))[0]
    where = f" in the {draw.word('place')}" if draw.random() < 0.3 else ""
    reactions = [
        f"Very {'positive' if positive else 'negative'}.",
        f"Everyone{where} was {draw.word('happy' if positive else 'sad')}.",
    ]
    draw.shuffle(reactions)
    return " ".join((sentence(remark(draw, positive, degree)), *reactions))


def probe(draw: Draw) -> Probe:
    """The verdict on an opinion."""
    positive = draw.random() < 0.5
    context = sentence(remark(draw, positive, "lexical"))
    choices = ("Very positive.", "Very negative.")
    return Probe(context, choices if positive else choices[::-1])
