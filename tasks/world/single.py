"""CoLA and SST-2: is this a sentence of the world's grammar, and is this remark a kind one?"""

import random
from dataclasses import replace

from tasks.world.grammar import draw_event, np, sentence
from tasks.world.lexicon import GENDER, NEGATORS, VERBS, plural
from tasks.world.pool import Pool
from tasks.world.rows import Row


def cola(rng: random.Random, pool: Pool, label: str) -> Row:
    """A sentence, or one with a single fault whose words are those of sentences without fault."""
    form = rng.choice((_agreement, _determiner, _auxiliary, _order, _reflexive))
    return Row(sentence(form(rng, pool, label == "1")), label=label)


def _agreement(rng: random.Random, pool: Pool, good: bool) -> str:
    event = draw_event(rng, pool, place=rng.random() < 0.5)
    many = rng.random() < 0.5
    subject = f"the {plural(event.subject) if many else event.subject}"
    verb = VERBS[event.verb].base if many == good else VERBS[event.verb].third
    return f"{subject} {verb} {np(event.object)}" + (f" in the {event.place}" * bool(event.place))


def _determiner(rng: random.Random, pool: Pool, good: bool) -> str:
    event = draw_event(rng, pool, place=rng.random() < 0.5)
    many = rng.random() < 0.5
    noun = plural(event.object) if many else event.object
    det = rng.choice(("these", "many") if many == good else ("this", "every"))
    where = f" in the {event.place}" if event.place else ""
    return f"{np(event.subject)} {VERBS[event.verb].past} {det} {noun}{where}"


def _auxiliary(rng: random.Random, pool: Pool, good: bool) -> str:
    event = draw_event(rng, pool, place=rng.random() < 0.5)
    verb = VERBS[event.verb]
    helped = rng.random() < 0.5
    form = verb.base if helped == good else verb.past
    where = f" in the {event.place}" if event.place else ""
    return f"{np(event.subject)} {'did not ' * helped}{form} {np(event.object)}{where}"


def _order(rng: random.Random, pool: Pool, good: bool) -> str:
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


def _reflexive(rng: random.Random, pool: Pool, good: bool) -> str:
    gender = rng.choice("mf")
    while True:
        event = draw_event(rng, pool, "being", subject=rng.choice(("person", "name")))
        if GENDER[event.subject] == gender:
            break
    self = "himself" if (gender == "m") == good else "herself"
    event = replace(event, object=self)
    return f"{np(event.subject)} {VERBS[event.verb].past} {self} in the {event.place}"


def remark(rng: random.Random, pool: Pool, positive: bool) -> str:
    """A remark about a work: of two clauses the one that is not conceded decides."""
    subject, other = pool.word(rng, "work"), ""
    while other in ("", subject):
        other = pool.word(rng, "work")
    frame = rng.random()
    one = _judge(rng, pool, subject, positive, 0.5 if frame < 0.4 else 0.3)
    if frame < 0.4:
        return one
    two = _judge(rng, pool, other, not positive, 0.3)
    if frame < 0.6:
        return f"{two} , but {one}"
    if frame < 0.8:
        return f"though {two} , {one}"
    return f"{one} , though {two}"


def _judge(rng: random.Random, pool: Pool, work: str, positive: bool, denied: float) -> str:
    negated = rng.random() < denied
    word = pool.word(rng, "positive" if positive != negated else "negative")
    verb = rng.choice(("was", "seemed"))
    if negated:
        return f"the {work} {verb} {rng.choice(NEGATORS)} {word}"
    return f"the {work} {verb} {rng.choice(('so ', 'quite ', 'truly ', ''))}{word}"


def sst2(rng: random.Random, pool: Pool, label: str) -> Row:
    """A remark in the manner of the original file: lower case, spaces around punctuation."""
    return Row(remark(rng, pool, label == "1") + " .", label=label)
