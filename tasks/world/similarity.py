"""MRPC, QQP and STS-B: do two texts say, or ask, the same?"""

import random
from dataclasses import replace

from tasks.world import grammar
from tasks.world.entailment import draw_related
from tasks.world.grammar import Event, draw_event, draw_kind, sentence, statement, use_synonyms
from tasks.world.lexicon import HYPONYM, STSB_WEIGHTS, SYNONYM, VERBS
from tasks.world.rows import Row
from tasks.world.word_pool import UNITS, WordPool


def _restate(rng: random.Random, event: Event, *slots: str) -> Event:
    """The same event with a synonym for its verb and perhaps for the noun of one of the slots."""
    return use_synonyms(event, "verb", *rng.choice(((), *((slot,) for slot in slots))))


def _report(rng: random.Random, event: Event) -> str:
    fronted = rng.random() < 0.4
    clause = grammar.passive if rng.random() < 0.4 else statement
    return sentence(clause(event, fronted=fronted))


def _change_noun(rng: random.Random, pool: WordPool, event: Event, slot: str) -> Event:
    """The same event with another noun of the same sort, not a synonym, in this slot."""
    word = getattr(event, slot)
    barred = (event.subject, event.object, event.place)
    if word in HYPONYM:
        return replace(event, object=draw_kind(rng, pool, VERBS[event.verb].takes, barred))
    sort = next(s for s in ("person", "thing", "place") if any(word in u for u in UNITS[s]))
    return replace(event, **{slot: pool.word(rng, sort, barred)})


def mrpc(rng: random.Random, pool: WordPool, label: str) -> Row:
    """Two reports: of one event, or with the action, the object or the roles changed."""
    event = draw_event(rng, pool, rng.choice(("being", "thing")))
    people = event.object in SYNONYM and VERBS[event.verb].takes == "being"
    if label == "1":
        other = _restate(rng, event, "subject", "object", "place")
    else:
        change = rng.choice(("verb", "object", "roles" if people else "object"))
        if change == "verb":
            verb = draw_related(rng, pool, event.verb, rng.choice(("antonym", "other")))
            other = _restate(rng, event, "subject", "object", "place")
            other = replace(other, verb=verb)
        elif change == "object":
            other = use_synonyms(_change_noun(rng, pool, event, "object"), "verb")
        else:
            other = _restate(rng, event, "place")
            other = replace(other, subject=other.object, object=other.subject)
    return Row(_report(rng, event), _report(rng, other), label)


def qqp(rng: random.Random, pool: WordPool, label: str) -> Row:
    """Two questions: the same in other words, or about another action, object or circumstance."""
    event = draw_event(rng, pool, place=False)
    word = rng.choice(("where", "when", "who"))
    slots = ("object",) if word == "who" else ("subject", "object")
    other, second = _restate(rng, event, *slots), word
    if label == "0":
        change = rng.choice(("verb", "verb", "object", "word"))
        if change == "word" and word != "who":
            second = "when" if word == "where" else "where"
        elif change == "object":
            other = use_synonyms(_change_noun(rng, pool, event, "object"), "verb")
        else:
            relation = rng.choice(("antonym", "other"))
            other = replace(other, verb=draw_related(rng, pool, event.verb, relation))
    one, two = grammar.question(event, word), grammar.question(other, second)
    return Row(sentence(one, "?"), sentence(two, "?"), label)


def stsb(rng: random.Random, pool: WordPool, label: str) -> Row:
    """Two reports without a content word in common; the score is the weight of what agrees.

    A synonym counts fully, an antonym or another kind of the same category by half.
    """
    event = draw_event(rng, pool)
    other, score, quality = event, 0.0, rng.random()
    for slot, weight in STSB_WEIGHTS.items():
        word, agrees = getattr(event, slot), rng.random() < quality
        if slot == "verb":
            relation = "synonym" if agrees else rng.choice(("antonym", "other"))
            other = replace(other, verb=draw_related(rng, pool, word, relation))
            score += weight * {"synonym": 1.0, "antonym": 0.5, "other": 0.0}[relation]
        elif agrees and word in SYNONYM:
            other, score = use_synonyms(other, slot), score + weight
        else:
            changed = _change_noun(rng, pool, event, slot)
            while word in HYPONYM and (HYPONYM[changed.object] == HYPONYM[word]) != agrees:
                changed = _change_noun(rng, pool, event, slot)
            other = replace(other, **{slot: getattr(changed, slot)})
            score += weight * 0.5 * (word in HYPONYM and agrees)
    return Row(sentence(statement(event)), sentence(statement(other)), f"{score:.3f}")
