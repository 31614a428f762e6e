"""Coreference: whom does a pronoun stand for? DPRD, and the characters of the books."""

from tasks.world.draw import Draw
from tasks.world.grammar import np, sentence
from tasks.world.lexicon import he
from tasks.world.rows import Degree, Probe, Row


def _two(draw: Draw) -> tuple[str, str]:
    """Two people of different genders."""
    one = draw.word("person")
    while True:
        two = draw.word("person", (one,))
        if he(one) != he(two):
            return one, two


def dprd(draw: Draw, label: str, degree: Degree) -> Row:
    """A deed and its reason, told with a pronoun; `label` is the place of the one it stands for.

    Every row is lexical, whatever degree is asked for: the gender of the pronoun tells.
    """
    one, two = _two(draw)
    about = (one, two)[int(label)]
    where = f"in the {draw.word('place')}"
    reason = f"because {he(about)} was {draw.word('trait')}"
    text = f"the {one} {draw.verb('being').past} the {two} {where} {reason}"
    return Row(sentence(text), he(about), label, (f"the {one}", f"the {two}"), degree="lexical")


def paragraph(draw: Draw) -> str:
    """A deed and its reason, and whom the reason is about."""
    one, two = _two(draw)
    about, traits = draw.choice((one, two)), draw.words("trait", draw.choice((1, 2)))
    told = f"the {one} {draw.verb('being').past} the {two} because {he(about)} was {traits}"
    asked = f"who was {traits}? {sentence(np(about))}"
    follows = draw.choice((f"{np(about)} was {traits}.", asked))
    return f"{sentence(told)} {sentence(follows, '')}"


def probe(draw: Draw) -> Probe:
    """Whom a reason is about."""
    one, two = _two(draw)
    about, trait = draw.choice((one, two)), draw.word("trait")
    other = two if about == one else one
    told = f"the {one} {draw.verb('being').past} the {two} because {he(about)} was {trait}"
    return Probe(f"{sentence(told)} Who was {trait}?", (sentence(np(about)), sentence(np(other))))
