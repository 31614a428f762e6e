"""SNLI, MNLI, QNLI, RTE and SciTail: does the second text follow from the first?

In each task one property of the second text decides. Its words are drawn so that neither the words
of one text alone nor the number of shared words predicts the label.
"""

import random
from dataclasses import replace

from tasks.world import grammar
from tasks.world.grammar import Event, draw_event, draw_kind, sentence, statement, use_synonyms
from tasks.world.lexicon import ANIMALS, CATEGORIES, HYPONYM, SYNONYM, VERBS, a, opposites, plural
from tasks.world.rows import Row
from tasks.world.word_pool import WordPool

RELATION = {"entailment": "synonym", "contradiction": "antonym", "neutral": "other"}
NEGATED = {"entailment": "antonym", "contradiction": "synonym", "neutral": "other"}


def draw_related(rng: random.Random, pool: WordPool, verb: str, relation: str) -> str:
    """Draw a verb that is a "synonym", an "antonym" or (any "other") unrelated to the given one."""
    if relation == "synonym":
        return SYNONYM[verb]
    if relation == "antonym":
        return rng.choice(opposites(verb))
    return pool.verb(rng, VERBS[verb].takes, exclude=(verb,))


def _rename_one(rng: random.Random, event: Event) -> Event:
    """The event with its subject, its object or neither replaced by a synonym."""
    return use_synonyms(event, *rng.choice(((), ("subject",), ("object",))))


def _claim(rng: random.Random, pool: WordPool, event: Event, relation: str) -> Event:
    """A claim about an event: a verb of this relation, perhaps a synonym, perhaps no place."""
    claim = replace(event, verb=draw_related(rng, pool, event.verb, relation))
    claim = _rename_one(rng, claim)
    return replace(claim, place="") if rng.random() < 0.5 else claim


def snli(rng: random.Random, pool: WordPool, label: str) -> Row:
    """A caption and a claim about it: the same action, its opposite, or another action."""
    event = draw_event(rng, pool)
    claim = _claim(rng, pool, event, RELATION[label])
    return Row(sentence(grammar.caption(event)), sentence(grammar.caption(claim)), label)


def mnli(rng: random.Random, pool: WordPool, label: str, genre: str = "fiction") -> Row:
    """A past event told in a genre, and a claim, perhaps negated: denying the opposite follows."""
    event = draw_event(rng, pool)
    negated = rng.random() < 1 / 3
    claim = _claim(rng, pool, event, (NEGATED if negated else RELATION)[label])
    if genre == "talk":
        first = f"well , {statement(event)} , you know"
    elif genre == "letters":
        first = f"I hear that {statement(event)}"
    else:
        first = statement(event, fronted=genre == "news")
    return Row(sentence(first), sentence(statement(claim, negated)), label, group=genre)


def qnli(rng: random.Random, pool: WordPool, label: str) -> Row:
    """Where or when? A sentence answers if it is about that action and states the place or time."""
    event = draw_event(rng, pool, time=True)
    asked = rng.choice(("place", "time"))
    stated, relation = asked, "synonym"
    if label != "entailment":
        if rng.random() < 0.7:
            stated = "time" if asked == "place" else "place"
        else:
            relation = "other"
    answer = replace(event, verb=draw_related(rng, pool, event.verb, relation))
    answer = _rename_one(rng, answer)
    answer = replace(answer, **{"time" if stated == "place" else "place": ""})
    word = "where" if asked == "place" else "when"
    question = grammar.question(replace(event, place="", time=""), word)
    return Row(sentence(question, "?"), sentence(statement(answer)), label)


def _category(rng: random.Random, kind: str, right: bool) -> str:
    """The category of a kind, or a wrong one (of animals for an animal)."""
    category = HYPONYM[kind]
    if right:
        return category
    others = [c for c in CATEGORIES if (c in ANIMALS) == (category in ANIMALS) and c != category]
    return rng.choice(others)


def rte(rng: random.Random, pool: WordPool, label: str) -> Row:
    """Someone did something to a kind of animal or thing; was that one of this category?

    In half of the rows another person did the same to another kind, so that who did it decides.
    """
    right = label == "entailment"
    event = draw_event(rng, pool, subject="name")
    kind = draw_kind(rng, pool, VERBS[event.verb].takes)
    event = replace(event, object=kind)
    category = _category(rng, kind, right)
    parts = [statement(event, det="a")]
    if rng.random() < 0.5:
        who = pool.word(rng, "name", (event.subject,))
        other = draw_kind(rng, pool, VERBS[event.verb].takes)
        while HYPONYM[other] == HYPONYM[kind] or (not right and HYPONYM[other] != category):
            other = draw_kind(rng, pool, VERBS[event.verb].takes)
        parts.append(f"{who} {VERBS[event.verb].past} {a(other)}")
        rng.shuffle(parts)
    verb = VERBS[rng.choice((event.verb, SYNONYM[event.verb]))]
    claim = f"{event.subject} {verb.past} {a(category)}"
    return Row(sentence(" and ".join(parts)), sentence(claim), label)


def scitail(rng: random.Random, pool: WordPool, label: str) -> Row:
    """What is true of kinds is true of their categories, unless a category or the verb is wrong."""
    verb = pool.verb(rng)
    subject = draw_kind(rng, pool, "being")
    thing = draw_kind(rng, pool, VERBS[verb].takes, (subject,))
    wrong = "" if label == "entails" else rng.choice(("subject", "verb", "object"))
    place = pool.word(rng, "place")
    claimed = draw_related(rng, pool, verb, "other" if wrong == "verb" else "synonym")
    one = _category(rng, subject, wrong != "subject")
    two = _category(rng, thing, wrong != "object")
    first = f"{plural(subject)} {verb} {plural(thing)} in the {place}"
    return Row(sentence(first), sentence(f"{plural(one)} {claimed} {plural(two)}"), label)
