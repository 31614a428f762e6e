"""CoLA and SST-2: is a sentence grammatical, and is a remark positive?"""

import random

from tasks.world.grammar import Event, draw_event, np, sentence, where_and_when
from tasks.world.lexicon import GENDER, NEGATORS, VERBS, plural
from tasks.world.rows import Row
from tasks.world.word_pool import WordPool


def cola(rng: random.Random, pool: WordPool, label: str) -> Row:
    """A sentence that is grammatical or has one error, made of the same words either way."""
    form = rng.choice((_agreement, _determiner, _auxiliary, _order, _reflexive))
    return Row(sentence(form(rng, pool, label == "1")), label=label)


def _perhaps_placed(rng: random.Random, pool: WordPool) -> Event:
    return draw_event(rng, pool, place=rng.random() < 0.5)


def _agreement(rng: random.Random, pool: WordPool, good: bool) -> str:
    event = _perhaps_placed(rng, pool)
    many = rng.random() < 0.5
    subject = plural(event.subject) if many else event.subject
    verb = VERBS[event.verb].base if many == good else VERBS[event.verb].third
    return f"the {subject} {verb} {np(event.object)}{where_and_when(event)}"


def _determiner(rng: random.Random, pool: WordPool, good: bool) -> str:
    event = _perhaps_placed(rng, pool)
    many = rng.random() < 0.5
    noun = plural(event.object) if many else event.object
    det = rng.choice(("these", "many") if many == good else ("this", "every"))
    return f"{np(event.subject)} {VERBS[event.verb].past} {det} {noun}{where_and_when(event)}"


def _auxiliary(rng: random.Random, pool: WordPool, good: bool) -> str:
    event = _perhaps_placed(rng, pool)
    negated = rng.random() < 0.5
    form = VERBS[event.verb].base if negated == good else VERBS[event.verb].past
    verb = f"did not {form}" if negated else form
    return f"{np(event.subject)} {verb} {np(event.object)}{where_and_when(event)}"


def _order(rng: random.Random, pool: WordPool, good: bool) -> str:
    event = draw_event(rng, pool, subject=rng.choice(("person", "name")))
    subject, verb, thing = np(event.subject), VERBS[event.verb].past, np(event.object)
    where = f"in the {event.place}"
    if good:
        return f"{subject} {verb} {thing} {where}"
    bad = (
        f"{subject} {thing} {verb} {where}",
        f"{verb} {subject} {thing} {where}",
        f"{subject} {verb} {event.object} the {where}",
        f"{subject} {verb} {thing} the in {event.place}",
    )
    return rng.choice(bad)


def _reflexive(rng: random.Random, pool: WordPool, good: bool) -> str:
    gender = rng.choice("mf")
    while True:
        event = draw_event(rng, pool, "being", subject=rng.choice(("person", "name")))
        if GENDER[event.subject] == gender:
            break
    pronoun = "himself" if (gender == "m") == good else "herself"
    return f"{np(event.subject)} {VERBS[event.verb].past} {pronoun} in the {event.place}"


def sst2(rng: random.Random, pool: WordPool, label: str) -> Row:
    """A remark in the style of the original file: lower case, spaces around punctuation."""
    return Row(remark(rng, pool, label == "1") + " .", label=label)


def remark(rng: random.Random, pool: WordPool, positive: bool) -> str:
    """A remark about a work; if it has two clauses, the one that is not conceded decides."""
    subject, other = pool.word(rng, "work"), ""
    while other in ("", subject):
        other = pool.word(rng, "work")
    form = rng.random()
    one = _opinion(rng, pool, subject, positive, 0.5 if form < 0.4 else 0.3)
    if form < 0.4:
        return one
    two = _opinion(rng, pool, other, not positive, 0.3)
    if form < 0.6:
        return f"{two} , but {one}"
    if form < 0.8:
        return f"though {two} , {one}"
    return f"{one} , though {two}"


def _opinion(
    rng: random.Random, pool: WordPool, work: str, positive: bool, negated_share: float
) -> str:
    negated = rng.random() < negated_share
    word = pool.word(rng, "positive" if positive != negated else "negative")
    verb = rng.choice(("was", "seemed"))
    if negated:
        return f"the {work} {verb} {rng.choice(NEGATORS)} {word}"
    return f"the {work} {verb} {rng.choice(('so ', 'quite ', 'truly ', ''))}{word}"
