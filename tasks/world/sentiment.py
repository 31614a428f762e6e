"""Sentiment: is a remark positive? SST-2, and what the books say of it."""

import random

from tasks.world.grammar import sentence
from tasks.world.lexicon import NEGATORS
from tasks.world.rows import Degree, Probe, Row
from tasks.world.word_pool import ALL_WORDS, WordPool

ADVERBS = ("so ", "quite ", "truly ", "really ", "")


def sst2(rng: random.Random, pool: WordPool, label: str, degree: Degree) -> Row:
    """A remark in the style of the original file: lower case, spaces around punctuation."""
    return Row(remark(rng, pool, label == "1", degree) + " .", label=label, degree=degree)


def remark(rng: random.Random, pool: WordPool, positive: bool, degree: Degree) -> str:
    """An opinion; one of two, of which the one that is not conceded counts; or a denied one."""
    if degree == "lexical":
        return opinion(rng, pool, positive)
    if degree == "compositional":
        return opinion(rng, pool, not positive, negator=rng.choice(NEGATORS))
    main, conceded = opinion(rng, pool, positive), opinion(rng, pool, not positive)
    return rng.choice((f"though {conceded} , {main}", f"{conceded} , but {main}"))


def opinion(
    rng: random.Random, pool: WordPool, positive: bool, work: str = "", negator: str = ""
) -> str:
    """What somebody thought of a work, or that it was not so."""
    how = f"{negator} " if negator else rng.choice(ADVERBS)
    judged = how + pool.word(rng, "positive" if positive else "negative")
    work, who = work or pool.word(rng, "work"), pool.word(rng, "person")
    return rng.choice(
        (
            f"the {work} of the {who} was {judged}",
            f"the {who} found the {work} {judged}",
            f"{pool.word(rng, 'name')} called the {work} {judged}",
        )
    )


def paragraph(rng: random.Random) -> str:
    """A remark and what follows from it: a verdict, and how everyone felt."""
    positive = rng.random() < 0.5
    degree: Degree = rng.choices(("lexical", "relational", "compositional"), (8, 1, 1))[0]
    where = f" in the {ALL_WORDS.word(rng, 'place')}" if rng.random() < 0.3 else ""
    reactions = [
        f"Very {'positive' if positive else 'negative'}.",
        f"Everyone{where} was {ALL_WORDS.word(rng, 'happy' if positive else 'sad')}.",
    ]
    rng.shuffle(reactions)
    return " ".join((sentence(remark(rng, ALL_WORDS, positive, degree)), *reactions))


def probe(rng: random.Random) -> Probe:
    """The verdict on an opinion."""
    positive = rng.random() < 0.5
    context = sentence(remark(rng, ALL_WORDS, positive, "lexical"))
    choices = ("Very positive.", "Very negative.")
    return Probe(context, choices if positive else choices[::-1])
