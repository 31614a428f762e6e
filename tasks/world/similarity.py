"""MRPC, QQP and STS-B: do two texts say, or ask, the same?"""

import random
from dataclasses import replace

from tasks.world.grammar import (
    Event,
    asks,
    draw_event,
    draw_kind,
    passive,
    sentence,
    statement,
    swap,
)
from tasks.world.inference import related
from tasks.world.lexicon import HYPONYM, STSB_WEIGHTS, SYNONYM, VERBS
from tasks.world.pool import UNITS, Pool
from tasks.world.rows import Row

SLOTS = ("subject", "object", "place")


def _restate(rng: random.Random, event: Event, slots: tuple[str, ...]) -> Event:
    """The same event with another verb word and perhaps another noun."""
    return swap(event, "verb", *rng.choice(((), *((slot,) for slot in slots))))


def _tell(rng: random.Random, event: Event) -> str:
    fronted = rng.random() < 0.4
    return passive(event, fronted) if rng.random() < 0.4 else statement(event, fronted=fronted)


def _roles_swapped(event: Event) -> Event:
    return replace(event, subject=event.object, object=event.subject)


def _another(rng: random.Random, pool: Pool, event: Event, slot: str) -> Event:
    """The same event with a noun of another concept of the same sort."""
    word = getattr(event, slot)
    barred = (event.subject, event.object, event.place)
    if word in HYPONYM:
        return replace(event, object=draw_kind(rng, pool, VERBS[event.verb].takes, barred))
    sort = next(s for s in ("person", "thing", "place") if any(word in u for u in UNITS[s]))
    return replace(event, **{slot: pool.word(rng, sort, barred)})


def mrpc(rng: random.Random, pool: Pool, label: str) -> Row:
    """Two reports: of one event, or with the action, the object or the roles changed."""
    event = draw_event(rng, pool, rng.choice(("being", "thing")))
    people = event.object in SYNONYM and VERBS[event.verb].takes == "being"
    if label == "1":
        other = _restate(rng, event, SLOTS)
    else:
        how = rng.choice(("verb", "object", "roles" if people else "object"))
        if how == "verb":
            verb = related(rng, pool, event.verb, rng.choice(("antonym", "other")))
            other = swap(_restate(rng, event, SLOTS), "verb")
            other = replace(other, verb=verb)
        elif how == "object":
            other = swap(_another(rng, pool, event, "object"), "verb")
        else:
            other = _roles_swapped(_restate(rng, event, ("place",)))
    return Row(sentence(_tell(rng, event)), sentence(_tell(rng, other)), label)


def qqp(rng: random.Random, pool: Pool, label: str) -> Row:
    """Two questions: the same in other words, or about another action, object or circumstance."""
    event = draw_event(rng, pool, place=False)
    word = rng.choice(("where", "when", "who"))
    slots = ("object",) if word == "who" else ("subject", "object")
    other, second = _restate(rng, event, slots), word
    if label == "0":
        how = rng.choice(("verb", "verb", "object", "word"))
        if how == "word" and word != "who":
            second = "when" if word == "where" else "where"
        elif how == "object":
            other = swap(_another(rng, pool, event, "object"), "verb")
        else:
            relation = rng.choice(("antonym", "other"))
            other = replace(other, verb=related(rng, pool, event.verb, relation))
    return Row(sentence(asks(event, word), "?"), sentence(asks(other, second), "?"), label)


def stsb(rng: random.Random, pool: Pool, label: str) -> Row:
    """Two reports without a content word in common; the score is the weight of what agrees.

    A synonym agrees wholly; an opposite action, or another kind of the same category, by half.
    """
    event = draw_event(rng, pool)
    other, score, quality = event, 0.0, rng.random()
    for slot, weight in STSB_WEIGHTS.items():
        word, agrees = getattr(event, slot), rng.random() < quality
        if slot == "verb":
            relation = "synonym" if agrees else rng.choice(("antonym", "other"))
            other = replace(other, verb=related(rng, pool, word, relation))
            score += weight * {"synonym": 1.0, "antonym": 0.5, "other": 0.0}[relation]
        elif agrees and word in SYNONYM:
            other, score = swap(other, slot), score + weight
        else:
            changed = _another(rng, pool, event, slot)
            while word in HYPONYM and (HYPONYM[changed.object] == HYPONYM[word]) != agrees:
                changed = _another(rng, pool, event, slot)
            other = replace(other, **{slot: getattr(changed, slot)})
            score += weight * 0.5 * (word in HYPONYM and agrees)
    return Row(sentence(statement(event)), sentence(statement(other)), f"{score:.3f}")
