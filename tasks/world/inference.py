"""SNLI, MNLI, QNLI, RTE and SciTail: does the second text follow from the first?

In every task one thing about the second text decides, and the words that decide are drawn so that
neither the words of one side nor the number of shared words tells the label.
"""

import random
from dataclasses import replace

from tasks.world.grammar import (
    Event,
    asks,
    caption,
    draw_event,
    draw_kind,
    np,
    sentence,
    statement,
    swap,
)
from tasks.world.lexicon import ANIMALS, CATEGORIES, HYPONYM, SYNONYM, VERBS, a, opposites, plural
from tasks.world.pool import Pool
from tasks.world.rows import Row

RELATION = {"entailment": "synonym", "contradiction": "antonym", "neutral": "other"}
NEGATED = {"entailment": "antonym", "contradiction": "synonym", "neutral": "other"}


def related(rng: random.Random, pool: Pool, verb: str, relation: str) -> str:
    """A verb that is a synonym, an antonym, or of another pair than the given one."""
    if relation == "synonym":
        return SYNONYM[verb]
    if relation == "antonym":
        return rng.choice(opposites(verb))
    return pool.verb(rng, VERBS[verb].takes, but=(verb,))


def _claim(rng: random.Random, pool: Pool, event: Event, relation: str) -> Event:
    """An event to set beside another: its verb stands in this relation, a noun may be renamed."""
    claim = replace(event, verb=related(rng, pool, event.verb, relation))
    claim = swap(claim, *rng.choice(((), ("subject",), ("object",))))
    return replace(claim, place="") if rng.random() < 0.5 else claim


def snli(rng: random.Random, pool: Pool, label: str) -> Row:
    """A caption and a claim about it: the same action, its opposite, or another action."""
    event = draw_event(rng, pool)
    claim = _claim(rng, pool, event, RELATION[label])
    return Row(sentence(caption(event)), sentence(caption(claim)), label)


def mnli(rng: random.Random, pool: Pool, label: str, genre: str = "fiction") -> Row:
    """A past event of a genre and a claim, which may deny: not the opposite follows as well."""
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


def qnli(rng: random.Random, pool: Pool, label: str) -> Row:
    """Where or when? The sentence answers if it tells of that action and gives the answer."""
    event = draw_event(rng, pool, time=True)
    asked = rng.choice(("place", "time"))
    told, relation = asked, "synonym"
    if label != "entailment":
        if rng.random() < 0.7:
            told = "time" if asked == "place" else "place"
        else:
            relation = "other"
    answer = replace(event, verb=related(rng, pool, event.verb, relation))
    answer = swap(answer, *rng.choice(((), ("subject",), ("object",))))
    answer = replace(answer, **{"time" if told == "place" else "place": ""})
    question = asks(replace(event, place="", time=""), "where" if asked == "place" else "when")
    return Row(sentence(question, "?"), sentence(statement(answer)), label)


def _category(rng: random.Random, kind: str, right: bool) -> str:
    """The category of a kind, or another one of the same sort."""
    category = HYPONYM[kind]
    if right:
        return category
    sort = [c for c in CATEGORIES if (c in ANIMALS) == (category in ANIMALS) and c != category]
    return rng.choice(sort)


def rte(rng: random.Random, pool: Pool, label: str) -> Row:
    """Someone did something to a kind of animal or thing; was it a thing of this category?

    In half of the rows another person did the same to another kind: who did it decides.
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


def scitail(rng: random.Random, pool: Pool, label: str) -> Row:
    """What kinds do holds of their categories too: one wrong category or action and it does not."""
    verb = pool.verb(rng)
    subject = draw_kind(rng, pool, "being")
    thing = draw_kind(rng, pool, VERBS[verb].takes, (subject,))
    wrong = "" if label == "entails" else rng.choice(("subject", "verb", "object"))
    place = pool.word(rng, "place")
    claimed = related(rng, pool, verb, "other" if wrong == "verb" else "synonym")
    one = _category(rng, subject, wrong != "subject")
    two = _category(rng, thing, wrong != "object")
    first = f"{plural(subject)} {verb} {plural(thing)} {'in ' + np(place)}"
    return Row(sentence(first), sentence(f"{plural(one)} {claimed} {plural(two)}"), label)
