"""Events and the sentences that describe them: statements, passives, captions and questions."""

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
    usual_objects,
    usual_places,
)
from tasks.world.word_pool import WordPool


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
    pool: WordPool,
    takes: str = "",
    subject: str = "person",
    place: bool = True,
    time: bool = False,
    exclude: tuple[str, ...] = (),
) -> Event:
    """Draw an event from a pool; `takes` says what its object is: "being", "thing" or any ("")."""
    verb = pool.verb(rng, takes, tuple(word for word in exclude if word in VERBS))
    who = pool.word(rng, subject, exclude)
    return Event(
        who,
        verb,
        _draw_object(rng, pool, VERBS[verb].takes, (who, *exclude)),
        pool.word(rng, "place", exclude) if place else "",
        rng.choice(("dawn", "sunrise", "noon", "midday", "dusk", "sunset")) if time else "",
    )


def with_usual_words(rng: random.Random, event: Event, share: float) -> Event:
    """Replace the object, and the place, by a usual one, each with probability `share`."""
    if rng.random() < share:
        event = replace(event, object=rng.choice(usual_objects(event.verb)))
    if event.place and event.subject not in NAMES and rng.random() < share:
        event = replace(event, place=rng.choice(usual_places(event.subject)))
    return event


def _draw_object(rng: random.Random, pool: WordPool, takes: str, exclude: tuple[str, ...]) -> str:
    """Draw the object of an action: a person or an animal; or a thing, a plant or a tool."""
    if rng.random() < 0.6:
        return pool.word(rng, "person" if takes == "being" else "thing", exclude)
    return draw_kind(rng, pool, takes, exclude)


def draw_kind(
    rng: random.Random, pool: WordPool, takes: str = "", exclude: tuple[str, ...] = ()
) -> str:
    """Draw a kind of animal ("being"), of plant or tool ("thing"), or any kind ("")."""
    while True:
        kind = pool.word(rng, "kind", exclude)
        if not takes or (HYPONYM[kind] in ANIMALS) == (takes == "being"):
            return kind


def use_synonyms(event: Event, *slots: str) -> Event:
    """The same event with the words in these slots replaced by their synonyms, if they have one."""
    return replace(event, **{s: SYNONYM.get(getattr(event, s), getattr(event, s)) for s in slots})


def np(noun: str, det: str = "the") -> str:
    """A noun phrase; a name takes no determiner."""
    if noun in NAMES:
        return noun
    return a(noun) if det == "a" else f"{det} {noun}"


def where_and_when(event: Event) -> str:
    """The phrases of place and time, each with a leading space."""
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
    """An active clause in the past tense; if `fronted`, place and time come first."""
    verb = VERBS[event.verb]
    action = f"did not {verb.base}" if negated else f"{manner} {verb.past}".strip()
    return _with_tail(f"{np(event.subject, det)} {action} {np(event.object, det)}", event, fronted)


def passive(event: Event, fronted: bool = False) -> str:
    """A passive clause in the past tense; if `fronted`, place and time come first."""
    clause = f"{np(event.object)} was {VERBS[event.verb].past} by {np(event.subject)}"
    return _with_tail(clause, event, fronted)


def _with_tail(clause: str, event: Event, fronted: bool) -> str:
    tail = where_and_when(event)
    return f"{tail[1:]} , {clause}" if fronted and tail else clause + tail


def draw_manner(rng: random.Random, verb: str) -> str:
    """Draw an adverb that suits the action."""
    return rng.choice(MANNERS[VERBS[verb].side])


def caption(event: Event, det: str = "a") -> str:
    """A clause in the present tense, as in a picture's caption."""
    verb = VERBS[event.verb].third
    return f"{np(event.subject, det)} {verb} {np(event.object, det)}{where_and_when(event)}"


def question(event: Event, word: str = "did") -> str:
    """A question about an event that starts with did, where, when, who, whom or what."""
    verb, tail = VERBS[event.verb], where_and_when(event)
    if word == "who":
        return f"who {verb.past} {np(event.object)}{tail}"
    if word in ("what", "whom"):
        return f"{word} did {np(event.subject)} {verb.base}{tail}"
    start = "did" if word == "did" else f"{word} did"
    return f"{start} {np(event.subject)} {verb.base} {np(event.object)}{tail}"


def sentence(clause: str, mark: str = ".") -> str:
    """A written sentence: a capital letter, no space before commas, a mark at the end."""
    text = clause.replace(" ,", ",")
    return text[0].upper() + text[1:] + mark
