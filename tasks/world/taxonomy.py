"""Taxonomy, kinds and what they can do: SciTail, and the natural history of the books."""

from tasks.world.draw import Draw
from tasks.world.grammar import np, sentence
from tasks.world.lexicon import CATEGORIES, CLASSES, HYPONYM, a, alive
from tasks.world.rows import DEGREES, Degree, Probe, Row


def scitail(draw: Draw, label: str, degree: Degree) -> Row:
    """Of what somebody found, and what it can do: the living breathe, and things rust.

    Relational: something else was looked for. Compositional: the claim is a denial as well.
    """
    living = draw.random() < 0.5
    denied = degree == "compositional"
    fact = found(draw, draw.word("living" if living else "lifeless"), degree)
    does = draw.word("ability" if living == ((label == "entails") != denied) else "mishap")
    return Row(sentence(fact), sentence(f"it can{'not' * denied} {does}"), label, degree=degree)


def found(draw: Draw, kind: str, degree: Degree) -> str:
    """That somebody found a kind, and perhaps did not find another."""
    who = np(draw.who())
    if degree == "lexical":
        return f"{who} found {a(kind)} in the {draw.word('place')}"
    other = draw.word("lifeless" if alive(kind) else "living")
    return draw.choice(
        (
            f"{who} looked for {a(other)} but found {a(kind)}",
            f"though {who} looked for {a(other)} , there was {a(kind)}",
        )
    )


def paragraph(draw: Draw) -> str:
    """What somebody found, what it is, and what it can and cannot do."""
    kind = draw.word("kind")
    degree = draw.choices(DEGREES, (5, 2, 2))[0]
    told = sentence(found(draw, kind, degree))
    form = draw.random()
    if form < 0.25:
        return f"{told} It was {a(HYPONYM[kind])}."
    if form < 0.4:
        return f"{sentence(f'{a(kind)} is {a(HYPONYM[kind])}')} {_can(draw, 'It', alive(kind))}"
    return f"{told} {_can(draw, 'It', alive(kind))}"


def _can(draw: Draw, who: str, living: bool) -> str:
    can, cannot = ("ability", "mishap") if living else ("mishap", "ability")
    does, does_not = (draw.sample(CLASSES[sort], 2) for sort in (can, cannot))
    return draw.choice(
        (
            f"{who} can {does[0]} and {does[1]}.",
            f"{who} can {does[0]} but not {does_not[0]}.",
            f"{who} cannot {does_not[0]} or {does_not[1]}.",
        )
    )


def probe_category(draw: Draw) -> Probe:
    """The category of what was found."""
    kind = draw.word("kind")
    other = draw.choice([category for category in CATEGORIES if category != HYPONYM[kind]])
    context = sentence(found(draw, kind, "lexical")) + " It was"
    return Probe(context, (a(HYPONYM[kind]) + ".", a(other) + "."))


def probe_ability(draw: Draw, degree: Degree) -> Probe:
    """What the kind that was found can do, or cannot."""
    living, denied = draw.random() < 0.5, draw.random() < 0.5
    told = sentence(found(draw, draw.word("living" if living else "lifeless"), degree))
    right, wrong = ("ability", "mishap") if living != denied else ("mishap", "ability")
    return Probe(f"{told} It can{'not' * denied}", (draw.word(right), draw.word(wrong)))
