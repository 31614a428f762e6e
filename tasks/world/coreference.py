"""Coreference: whom is a reason about? DPRD, and the reasons that the books give.

Some adjectives say why somebody did something, others why it was done to somebody.
"""

from tasks.world.draw import Draw
from tasks.world.grammar import sentence
from tasks.world.lexicon import GENDER, VERBS, he
from tasks.world.rows import Degree, Probe, Row


def _deed(draw: Draw) -> tuple[str, str, str]:
    """Two people of one gender and a past action of the first towards the second."""
    while True:
        one = draw.word("person")
        two = draw.word("person", (one,))
        if GENDER[one] == GENDER[two]:
            return one, VERBS[draw.verb("being")].past, two


def dprd(draw: Draw, label: str, degree: Degree) -> Row:
    """A deed and its reason, told with a pronoun; `label` is the place of the one it is about.

    Every row is lexical, whatever degree is asked for: the reason itself tells.
    """
    one, verb, two = _deed(draw)
    about = (one, two)[int(label)]
    reason = draw.word("doer" if about == one else "done_to")
    where = f"in the {draw.word('place')}"
    pronoun = he(about)
    text = f"the {one} {verb} the {two} {where} because {pronoun} was {reason}"
    candidates = (f"the {one}", f"the {two}")
    return Row(sentence(text), pronoun, label, candidates, degree="lexical")


def paragraph(draw: Draw) -> str:
    """A deed and its reason, with both people named."""
    one, verb, two = _deed(draw)
    about = draw.choice((one, two))
    reason = draw.word("doer" if about == one else "done_to")
    return sentence(f"the {one} {verb} the {two} because the {about} was {reason}")


def probe(draw: Draw) -> Probe:
    """Whom a reason is about."""
    one, verb, two = _deed(draw)
    about = draw.choice((one, two))
    right, wrong = ("doer", "done_to") if about == one else ("done_to", "doer")
    choices = (draw.word(right) + ".", draw.word(wrong) + ".")
    return Probe(f"The {one} {verb} the {two} because the {about} was", choices)
