"""Coreference: to whom does a pronoun refer? DPRD, and the characters of the books."""

from tasks.world.draw import Degree, Draw
from tasks.world.grammar import sentence
from tasks.world.lexicon import he, plural
from tasks.world.rows import ClozeItem, Row


def _deed(draw: Draw, first: bool) -> tuple[str, str, str, str]:
    """What one person did to several, or the reverse, and whom the reason for it is about.

    Returns the deed, whom the reason is about, how the reason begins with a pronoun ("he was"), and
    the other party. `first`: the reason is about whoever did the deed.
    """
    one = draw.word("person")
    many = draw.word("person", (one,))
    phrases = {f"the {one}": f"{he(one)} was", f"the {plural(many)}": "they were"}
    first_phrase, second = draw.sample(list(phrases), 2)
    about, other = (first_phrase, second) if first else (second, first_phrase)
    deed = f"{first_phrase} {draw.verb('being').past} {second}"
    return deed, about, phrases[about], other


def dprd(draw: Draw, label: str, degree: Degree) -> Row:
    """A deed and its reason, told with a pronoun; `label` is the index of its referent.

    Every row is lexical, whatever degree is asked for: the number of the pronoun settles it.
    """
    deed, about, was, other = _deed(draw, label == "0")
    text = f"{deed} in the {draw.word('place')} because {was} {draw.word('trait')}"
    choices = (about, other) if label == "0" else (other, about)
    return Row(sentence(text), was.split()[0], label, choices, degree="lexical")


def paragraph(draw: Draw) -> str:
    """A deed and its reason, and whom the reason is about."""
    deed, about, was, _ = _deed(draw, draw.random() < 0.5)
    verb, traits = was.split()[1], draw.words("trait", draw.choice((1, 2)))
    named = f"{about} {verb} {traits}"
    told = f"{deed} because {draw.choice((f'{was} {traits}', named))}"
    asked = f"who {verb} {traits}? {sentence(about)}"
    return f"{sentence(told)} {sentence(draw.choice((f'{named}.', asked)), '')}"


def cloze(draw: Draw) -> ClozeItem:
    """Whom a reason is about."""
    deed, about, was, other = _deed(draw, draw.random() < 0.5)
    trait = draw.word("trait")
    asked = f"Who {was.split()[1]} {trait}?"
    return ClozeItem(
        f"{sentence(f'{deed} because {was} {trait}')} {asked}", (sentence(about), sentence(other))
    )
