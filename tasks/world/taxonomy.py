"""Taxonomy, kinds and their categories: RTE and SciTail, and the natural history of the books."""

import random

from tasks.world.entailment import state_claim
from tasks.world.grammar import draw_event, sentence, statement
from tasks.world.lexicon import ANIMALS, CATEGORIES, CLASSES, HYPONYM, SYNONYM, VERBS, a, plural
from tasks.world.rows import Degree, Probe, Row
from tasks.world.word_pool import ALL_WORDS, WordPool


def rte(rng: random.Random, pool: WordPool, label: str, degree: Degree) -> Row:
    """What happened, and a claim.

    Lexical: about the state of whoever did it. Relational: about the category of the kind to which
    it was done. Compositional: the same, where another person did it to another kind.
    """
    right = label == "entailment"
    if degree == "lexical":
        event = draw_event(rng, pool)
        claim = state_claim(rng, pool, event, right)
        return Row(sentence(statement(event)), sentence(claim), label, degree=degree)
    who, verb = pool.word(rng, "name"), VERBS[pool.verb(rng, "thing")]
    kind = pool.word(rng, "kind")
    named = HYPONYM[kind] if right else other_category(rng, kind)
    parts = [f"{who} {verb.past} {a(kind)}"]
    if degree == "compositional":
        other = pool.word(rng, "name", (who,))
        second = pool.word(rng, "kind", (kind,))
        while HYPONYM[second] == HYPONYM[kind] or (not right and HYPONYM[second] != named):
            second = pool.word(rng, "kind", (kind,))
        parts.append(f"{other} {verb.past} {a(second)}")
        rng.shuffle(parts)
    else:
        parts[0] += f" in the {pool.word(rng, 'place')}"
    claim = f"{who} {VERBS[rng.choice((verb.base, SYNONYM[verb.base]))].past} {a(named)}"
    return Row(sentence(" and ".join(parts)), sentence(claim), label, degree=degree)


def other_category(rng: random.Random, kind: str) -> str:
    """A category that the kind does not belong to."""
    return rng.choice([category for category in CATEGORIES if category != HYPONYM[kind]])


def scitail(rng: random.Random, pool: WordPool, label: str, degree: Degree) -> Row:
    """A fact about two kinds of animals, and a claim.

    Lexical: animals can do what living things can. Relational: one kind is of a category.
    Compositional: a claim about the categories of both.
    """
    right = label == "entails"
    one, two = _animal(rng, pool), _animal(rng, pool)
    while HYPONYM[one] == HYPONYM[two]:
        two = _animal(rng, pool)
    verb = pool.verb(rng, "being")
    fact = f"{plural(one)} {verb} {plural(two)} in the {pool.word(rng, 'place')}"
    kind = rng.choice((one, two))
    if degree == "lexical":
        claim = f"{plural(kind)} can {pool.word(rng, 'ability' if right else 'mishap')}"
    elif degree == "relational":
        category = HYPONYM[kind] if right else other_category(rng, kind)
        claim = f"{plural(kind)} are {plural(category)}"
    else:
        first, second = HYPONYM[one], HYPONYM[two]
        if not right and rng.random() < 0.5:
            first = other_category(rng, one)
        elif not right:
            second = other_category(rng, two)
        claim = f"{plural(first)} {SYNONYM[verb]} {plural(second)}"
    return Row(sentence(fact), sentence(claim), label, degree=degree)


def _animal(rng: random.Random, pool: WordPool) -> str:
    while True:
        kind = pool.word(rng, "kind")
        if HYPONYM[kind] in ANIMALS:
            return kind


def paragraph(rng: random.Random) -> str:
    """What a kind is, what it can do, and what follows for its category."""
    kind = ALL_WORDS.word(rng, "kind")
    category = HYPONYM[kind]
    who, verb = ALL_WORDS.word(rng, "name"), VERBS[ALL_WORDS.verb(rng, "thing")]
    animal, prey = _animal(rng, ALL_WORDS), _animal(rng, ALL_WORDS)
    other = ALL_WORDS.word(rng, "name", (who,))
    hunts = ALL_WORDS.verb(rng, "being")
    lines = [
        f"{a(kind)} is {a(category)}",
        f"{plural(kind)} are {plural(category)}",
        _can(rng, animal),
        f"{who} {verb.past} {a(kind)} . so {who} {verb.past} {a(category)}",
        f"{who} {verb.past} {a(kind)} and {other} {verb.past} {a(prey)} . "
        f"so {who} {verb.past} {a(category)}",
        f"{plural(animal)} {hunts} {plural(prey)} . so "
        f"{plural(HYPONYM[animal])} {hunts} {plural(HYPONYM[prey])}",
    ]
    chosen = [part for line in rng.sample(lines, 2) for part in line.split(" . ")]
    return " ".join(map(sentence, chosen))


def _can(rng: random.Random, animal: str) -> str:
    """What an animal can do and what does not befall it.

    Both stand in one sentence, three of a class and one of the other: the order of the words tells
    them apart, their company does not.
    """
    abilities = rng.sample(CLASSES["ability"], 3)
    mishaps = rng.sample(CLASSES["mishap"], 3)
    if rng.random() < 0.5:
        can, cannot = f"{abilities[0]} , {abilities[1]} or {abilities[2]}", mishaps[0]
    else:
        can, cannot = abilities[0], f"{mishaps[0]} , {mishaps[1]} or {mishaps[2]}"
    return f"{plural(animal)} can {can} but not {cannot}"


def probe_category(rng: random.Random) -> Probe:
    """The category of a kind in an event."""
    kind = ALL_WORDS.word(rng, "kind")
    who, verb = ALL_WORDS.word(rng, "name"), VERBS[ALL_WORDS.verb(rng, "thing")]
    context = f"{who} {verb.past} {a(kind)}. So {who} {verb.past}"
    return Probe(context, (a(HYPONYM[kind]) + ".", a(other_category(rng, kind)) + "."))


def probe_ability(rng: random.Random) -> Probe:
    """What a kind of animal can do, or what does not befall it.

    Which class of words is right hangs on the context, so liking one of them gives 50 %. Without
    full stops: in the books a sentence ends after either class, but not after a single word.
    """
    kind = _animal(rng, ALL_WORDS)
    ability, mishap = ALL_WORDS.word(rng, "ability"), ALL_WORDS.word(rng, "mishap")
    if rng.random() < 0.5:
        return Probe(f"{plural(kind)} can".capitalize(), (ability, mishap))
    other = ALL_WORDS.word(rng, "ability", exclude=(ability,))
    return Probe(f"{plural(kind)} can {other} but not".capitalize(), (mishap, ability))
