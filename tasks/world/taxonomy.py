"""Taxonomy, kinds and their categories: RTE and SciTail, and the natural history of the books."""

from tasks.world.draw import Draw
from tasks.world.entailment import state_claim
from tasks.world.grammar import draw_event, sentence
from tasks.world.lexicon import ANIMALS, CATEGORIES, CLASSES, HYPONYM, SYNONYM, VERBS, a, plural
from tasks.world.rows import Degree, Probe, Row


def rte(draw: Draw, label: str, degree: Degree) -> Row:
    """What happened, and a claim.

    Lexical: about the state of whoever did it. Relational: about the category of the kind to which
    it was done. Compositional: the same, where another person did it to another kind.
    """
    right = label == "entailment"
    if degree == "lexical":
        event = draw_event(draw)
        claim = state_claim(draw, event, right)
        return Row(sentence(event.statement()), sentence(claim), label, degree=degree)
    who, verb = draw.word("name"), VERBS[draw.verb("thing")]
    kind = draw.word("kind")
    named = HYPONYM[kind] if right else other_category(draw, kind)
    parts = [f"{who} {verb.past} {a(kind)}"]
    if degree == "compositional":
        other = draw.word("name", (who,))
        second = draw.word("kind", (kind,))
        while HYPONYM[second] == HYPONYM[kind] or (not right and HYPONYM[second] != named):
            second = draw.word("kind", (kind,))
        parts.append(f"{other} {verb.past} {a(second)}")
        draw.shuffle(parts)
    else:
        parts[0] += f" in the {draw.word('place')}"
    claim = f"{who} {VERBS[draw.choice((verb.base, SYNONYM[verb.base]))].past} {a(named)}"
    return Row(sentence(" and ".join(parts)), sentence(claim), label, degree=degree)


def other_category(draw: Draw, kind: str) -> str:
    """A category that the kind does not belong to."""
    return draw.choice([category for category in CATEGORIES if category != HYPONYM[kind]])


def scitail(draw: Draw, label: str, degree: Degree) -> Row:
    """A fact about two kinds of animals, and a claim.

    Lexical: animals can do what living things can. Relational: one kind is of a category.
    Compositional: a claim about the categories of both.
    """
    right = label == "entails"
    one, two = _animal(draw), _animal(draw)
    while HYPONYM[one] == HYPONYM[two]:
        two = _animal(draw)
    verb = draw.verb("being")
    fact = f"{plural(one)} {verb} {plural(two)} in the {draw.word('place')}"
    kind = draw.choice((one, two))
    if degree == "lexical":
        claim = f"{plural(kind)} can {draw.word('ability' if right else 'mishap')}"
    elif degree == "relational":
        category = HYPONYM[kind] if right else other_category(draw, kind)
        claim = f"{plural(kind)} are {plural(category)}"
    else:
        first, second = HYPONYM[one], HYPONYM[two]
        if not right and draw.random() < 0.5:
            first = other_category(draw, one)
        elif not right:
            second = other_category(draw, two)
        claim = f"{plural(first)} {SYNONYM[verb]} {plural(second)}"
    return Row(sentence(fact), sentence(claim), label, degree=degree)


def _animal(draw: Draw) -> str:
    while True:
        kind = draw.word("kind")
        if HYPONYM[kind] in ANIMALS:
            return kind


def paragraph(draw: Draw) -> str:
    """What a kind is, what it can do, and what follows for its category."""
    kind = draw.word("kind")
    category = HYPONYM[kind]
    who, verb = draw.word("name"), VERBS[draw.verb("thing")]
    animal, prey = _animal(draw), _animal(draw)
    other = draw.word("name", (who,))
    hunts = draw.verb("being")
    lines = [
        f"{a(kind)} is {a(category)}",
        f"{plural(kind)} are {plural(category)}",
        _can(draw, animal),
        f"{who} {verb.past} {a(kind)} . so {who} {verb.past} {a(category)}",
        f"{who} {verb.past} {a(kind)} and {other} {verb.past} {a(prey)} . "
        f"so {who} {verb.past} {a(category)}",
        f"{plural(animal)} {hunts} {plural(prey)} . so "
        f"{plural(HYPONYM[animal])} {hunts} {plural(HYPONYM[prey])}",
    ]
    chosen = [part for line in draw.sample(lines, 2) for part in line.split(" . ")]
    return " ".join(map(sentence, chosen))


def _can(draw: Draw, animal: str) -> str:
    """What an animal can do and what does not befall it.

    Both stand in one sentence, three of a class and one of the other: the order of the words tells
    them apart, their company does not.
    """
    abilities = draw.sample(CLASSES["ability"], 3)
    mishaps = draw.sample(CLASSES["mishap"], 3)
    if draw.random() < 0.5:
        can, cannot = f"{abilities[0]} , {abilities[1]} or {abilities[2]}", mishaps[0]
    else:
        can, cannot = abilities[0], f"{mishaps[0]} , {mishaps[1]} or {mishaps[2]}"
    return f"{plural(animal)} can {can} but not {cannot}"


def probe_category(draw: Draw) -> Probe:
    """The category of a kind in an event."""
    kind = draw.word("kind")
    who, verb = draw.word("name"), VERBS[draw.verb("thing")]
    context = f"{who} {verb.past} {a(kind)}. So {who} {verb.past}"
    return Probe(context, (a(HYPONYM[kind]) + ".", a(other_category(draw, kind)) + "."))


def probe_ability(draw: Draw) -> Probe:
    """What a kind of animal can do, or what does not befall it.

    Which class of words is right depends on the context, so a liking for one class scores 50 %.
    There are no full stops: in the books a sentence ends after either class, but not after a single
    word.
    """
    kind = _animal(draw)
    ability, mishap = draw.word("ability"), draw.word("mishap")
    if draw.random() < 0.5:
        return Probe(f"{plural(kind)} can".capitalize(), (ability, mishap))
    other = draw.word("ability", exclude=(ability,))
    return Probe(f"{plural(kind)} can {other} but not".capitalize(), (mishap, ability))
