"""Events and the sentences that describe them: statements, passives, captions and questions."""

from dataclasses import dataclass, replace

from tasks.world.draw import Draw
from tasks.world.lexicon import NAMES, SYNONYM, TOPIC, VERBS, a

ON_TOPIC = 0.9  # probability that the place of an event is of its subject's topic, and its object
TOPICS = list(dict.fromkeys(TOPIC.values()))


@dataclass(frozen=True)
class Event:
    """Who did what to whom or what, where and when; the verb in its base form."""

    subject: str
    verb: str
    object: str
    place: str = ""
    time: str = ""


def draw_event(
    draw: Draw,
    takes: str = "",
    topic: str = "",
    place: bool = True,
    time: bool = False,
) -> Event:
    """Draw an event, mostly of one topic; `takes`: its object is a "being", a "thing" or any."""
    topic = topic or draw.choice(TOPICS)
    verb = draw.verb(takes)
    who = draw.of_topic("person", topic)
    sort = "person" if VERBS[verb].takes == "being" else "thing"
    return Event(
        who,
        verb,
        _of_topic(draw, sort, topic, (who,)),
        _of_topic(draw, "place", topic) if place else "",
        draw.word("time") if time else "",
    )


def _of_topic(draw: Draw, sort: str, topic: str, exclude: tuple[str, ...] = ()) -> str:
    if draw.random() < ON_TOPIC:
        return draw.of_topic(sort, topic, exclude)
    return draw.word(sort, exclude)


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
    return "".join(f" in the {word}" for word in (event.place, event.time) if word)


def statement(event: Event, negated: bool = False, fronted: bool = False) -> str:
    """An active clause in the past tense; if `fronted`, place and time come first."""
    verb = VERBS[event.verb]
    action = f"did not {verb.base}" if negated else verb.past
    return _with_tail(f"{np(event.subject)} {action} {np(event.object)}", event, fronted)


def passive(event: Event, fronted: bool = False) -> str:
    """A passive clause in the past tense; if `fronted`, place and time come first."""
    clause = f"{np(event.object)} was {VERBS[event.verb].past} by {np(event.subject)}"
    return _with_tail(clause, event, fronted)


def _with_tail(clause: str, event: Event, fronted: bool) -> str:
    tail = where_and_when(event)
    return f"{tail[1:]} , {clause}" if fronted and tail else clause + tail


def caption(event: Event, negated: bool = False) -> str:
    """A clause in the present tense, as in a picture's caption."""
    verb = VERBS[event.verb]
    action = f"does not {verb.base}" if negated else verb.third
    return f"{np(event.subject)} {action} {np(event.object)}{where_and_when(event)}"


def question(event: Event, word: str) -> str:
    """A question about an event that starts with where, when, who or what."""
    verb, tail = VERBS[event.verb], where_and_when(event)
    if word == "who":
        return f"who {verb.past} {np(event.object)}{tail}"
    if word == "what":
        return f"what did {np(event.subject)} {verb.base}{tail}"
    return f"{word} did {np(event.subject)} {verb.base} {np(event.object)}{tail}"


def sentence(clause: str, mark: str = ".") -> str:
    """A written sentence: a capital letter, no space before commas, a mark at the end."""
    text = clause.replace(" ,", ",")
    return text[0].upper() + text[1:] + mark
