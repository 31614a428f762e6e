"""Events and the sentences that tell them: statements, negations, passives, captions, questions."""

import random
from dataclasses import dataclass, replace

from tasks.world.lexicon import (
    ANIMALS,
    HYPONYM,
    MANNERS,
    NAMES,
    SYNONYM,
    VERBS,
    a,
    favourites,
    home,
)
from tasks.world.pool import Pool


@dataclass(frozen=True)
class Event:
    """Who did what to whom or what, where and when; the verb in its base form."""

    subject: str
    verb: str
    object: str
    place: str = ""
    time: str = ""


def draw_event(
    rng: random.Random,
    pool: Pool,
    takes: str = "",
    subject: str = "person",
    place: bool = True,
    time: bool = False,
    but: tuple[str, ...] = (),
) -> Event:
    """Draw an event whose words come from a pool; `takes` is the kind of its object."""
    verb = pool.verb(rng, takes, tuple(word for word in but if word in VERBS))
    who = pool.word(rng, subject, but)
    return Event(
        who,
        verb,
        draw_object(rng, pool, VERBS[verb].takes, (who, *but)),
        pool.word(rng, "place", but) if place else "",
        rng.choice(("dawn", "sunrise", "noon", "midday", "dusk", "sunset")) if time else "",
    )


def habitual(rng: random.Random, event: Event, share: float) -> Event:
    """The event with its object and its place, each with chance `share`, as they mostly are."""
    if rng.random() < share:
        event = replace(event, object=rng.choice(favourites(event.verb)))
    if event.place and event.subject not in NAMES and rng.random() < share:
        event = replace(event, place=rng.choice(home(event.subject)))
    return event


def draw_object(rng: random.Random, pool: Pool, takes: str, but: tuple[str, ...] = ()) -> str:
    """Draw what an action is done to: a person or an animal, or a thing, a plant or a tool."""
    if rng.random() < 0.6:
        return pool.word(rng, "person" if takes == "being" else "thing", but)
    return draw_kind(rng, pool, takes, but)


def draw_kind(rng: random.Random, pool: Pool, takes: str = "", but: tuple[str, ...] = ()) -> str:
    """Draw a kind of animal (`being`), of plant or tool (`thing`), or of any of them."""
    while True:
        kind = pool.word(rng, "kind", but)
        if not takes or (HYPONYM[kind] in ANIMALS) == (takes == "being"):
            return kind


def swap(event: Event, *slots: str) -> Event:
    """The same event with the synonym of each word in these slots that has one."""
    return replace(event, **{s: SYNONYM.get(getattr(event, s), getattr(event, s)) for s in slots})


def np(noun: str, det: str = "the") -> str:
    """A noun phrase; a name stands alone."""
    if noun in NAMES:
        return noun
    return a(noun) if det == "a" else f"{det} {noun}"


def tail(event: Event) -> str:
    """Where and when."""
    return (f" in the {event.place}" if event.place else "") + (
        f" at {event.time}" if event.time else ""
    )


def statement(
    event: Event,
    negated: bool = False,
    fronted: bool = False,
    det: str = "the",
    manner: str = "",
) -> str:
    """Past tense, active, without a full stop."""
    verb = VERBS[event.verb]
    action = f"did not {verb.base}" if negated else f"{manner} {verb.past}".strip()
    core = f"{np(event.subject, det)} {action} {np(event.object, det)}"
    where = tail(event)
    return f"{where[1:]} , {core}" if fronted and where else core + where


def manner(rng: random.Random, verb: str) -> str:
    """An adverb that fits the action."""
    return rng.choice(MANNERS[VERBS[verb].side])


def passive(event: Event, fronted: bool = False) -> str:
    """Past tense, passive."""
    core = f"{np(event.object)} was {VERBS[event.verb].past} by {np(event.subject)}"
    where = tail(event)
    return f"{where[1:]} , {core}" if fronted and where else core + where


def caption(event: Event, det: str = "a") -> str:
    """Present tense, as one describes a picture."""
    verb = VERBS[event.verb].third
    return f"{np(event.subject, det)} {verb} {np(event.object, det)}{tail(event)}"


def asks(event: Event, word: str = "did") -> str:
    """A question: did, where did, when did, who, whom did or what did; without the mark."""
    verb = VERBS[event.verb]
    if word == "who":
        return f"who {verb.past} {np(event.object)}{tail(event)}"
    if word in ("what", "whom"):
        return f"{word} did {np(event.subject)} {verb.base}{tail(event)}"
    start = "did" if word == "did" else f"{word} did"
    return f"{start} {np(event.subject)} {verb.base} {np(event.object)}{tail(event)}"


def sentence(words: str, mark: str = ".") -> str:
    """A written sentence: capital letter, no space before punctuation, its mark at the end."""
    text = words.replace(" ,", ",")
    return text[0].upper() + text[1:] + mark
