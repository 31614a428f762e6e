"""Paragraphs that tell an event again: in other words, denied, asked about, heard from others."""

import random
from dataclasses import replace

from tasks.world.grammar import (
    Event,
    asks,
    caption,
    draw_event,
    habitual,
    manner,
    np,
    passive,
    sentence,
    statement,
    swap,
)
from tasks.world.lexicon import (
    NAMES,
    VERBS,
    opposites,
)
from tasks.world.pool import ALL

HABIT = 0.5  # how often an event has its usual object, and its usual place
YES = ("Yes.", "Yes, of course.", "Yes, that is true.")
NO = ("No.", "No, not at all.", "No, that is not true.")
PERHAPS = ("Perhaps.", "Perhaps, nobody knows.", "I do not know.")


def retold(rng: random.Random, event: Event) -> Event:
    """The same event with its verb, and perhaps any other word, renamed."""
    extra = [slot for slot in ("subject", "object", "place", "time") if rng.random() < 0.25]
    return swap(event, "verb", *extra)


def shortened(rng: random.Random, event: Event) -> Event:
    return replace(event, place="", time="") if rng.random() < 0.5 else event


def tell(rng: random.Random, event: Event) -> str:
    fronted = rng.random() < 0.2
    if rng.random() < 0.15 and event.subject not in NAMES:
        return passive(event, fronted)
    how = manner(rng, event.verb) if rng.random() < 0.4 else ""
    return statement(event, fronted=fronted, manner=how)


def usual_event(rng: random.Random, **wishes) -> Event:
    who = wishes.pop("subject", "name" if rng.random() < 0.3 else "person")
    time = wishes.pop("time", rng.random() < 0.15)
    event = habitual(rng, draw_event(rng, ALL, subject=who, time=time, **wishes), HABIT)
    while event.object == event.subject:
        event = habitual(rng, draw_event(rng, ALL, subject=who, time=time, **wishes), HABIT)
    return event


def said(rng: random.Random, text: str, who: str) -> str:
    """A line of speech; a statement's full stop becomes a comma before the speaker."""
    if text.endswith("."):
        return f'"{text[:-1]}," said {who}.'
    return f'"{text}" asked {who}.'


def reply(rng: random.Random, relation: str, negated: bool) -> str:
    if relation == "other":
        return rng.choice(PERHAPS)
    return rng.choice(YES if (relation == "synonym") != negated else NO)


def changed_claim(rng: random.Random, event: Event) -> tuple[Event, str]:
    """A claim about an event, and how its verb stands to the event's."""
    relation = rng.choice(("synonym", "synonym", "antonym", "other"))
    claim = shortened(rng, retold(rng, event))
    if relation == "antonym":
        claim = replace(claim, verb=rng.choice(opposites(event.verb)))
    if relation == "other":
        claim = replace(claim, verb=ALL.verb(rng, VERBS[event.verb].takes, (event.verb,)))
    return claim, relation


def paraphrase(rng: random.Random) -> str:
    """An event, and the same in other words."""
    event = usual_event(rng)
    link = rng.choice(("in other words , ", "that is , ", "so "))
    return f"{sentence(tell(rng, event))} {sentence(link + tell(rng, retold(rng, event)))}"


def denial(rng: random.Random) -> str:
    """An event, the opposite denied, and what came later."""
    event = usual_event(rng)
    claim = shortened(rng, replace(retold(rng, event), verb=rng.choice(opposites(event.verb))))
    return f"{sentence(tell(rng, event))} {sentence('of course ' + statement(claim, True))}"


def doubt(rng: random.Random) -> str:
    """Somebody tells an event; another asks, or concludes, and is answered."""
    teller, other = rng.sample(NAMES, 2)
    event = usual_event(rng, subject="person")
    claim, relation = changed_claim(rng, event)
    first = caption(event) if rng.random() < 0.3 else tell(rng, event)
    lines = [said(rng, sentence(first), teller)]
    negated = rng.random() < 0.25
    if first == caption(event):
        question = sentence(caption(claim), "?")
        negated = False
    elif negated or rng.random() < 0.5:
        question = sentence(statement(claim, negated), "?")
    else:
        question = sentence(asks(claim), "?")
    lines.append(said(rng, question, other) if rng.random() < 0.5 else f'"{question}"')
    lines.append(f'"{reply(rng, relation, negated)}"')
    return " ".join(lines)


def interview(rng: random.Random) -> str:
    """Questions of who, what, where and when about an event, in other words, and the answers."""
    event = usual_event(rng, time=rng.random() < 0.5)
    if rng.random() < 0.5:
        event = replace(event, **{rng.choice(("place", "time")): ""})
    lines = [sentence(tell(rng, event))]
    for word in rng.sample(("who", "where", "when", "what"), 2):
        asked = replace(retold(rng, event), place="", time="")
        answer = {
            "who": np(event.subject),
            "where": event.place and f"in the {event.place}",
            "when": event.time and f"at {event.time}",
            "what": np(event.object),
        }[word]
        answered = sentence(answer) if answer else "Nobody knows."
        lines.append(f'"{sentence(asks(asked, word), "?")}" "{answered}"')
    return " ".join(lines)


def same_question(rng: random.Random) -> str:
    """Two questions, and whether they ask the same."""
    event = usual_event(rng, place=False, time=False)
    claim, relation = changed_claim(rng, event)
    word = rng.choice(("where", "when", "who"))
    second = word
    if relation == "synonym" and rng.random() < 0.3 and word != "who":
        second, relation = ("when" if word == "where" else "where"), "other"
    one, two = rng.sample(NAMES, 2)
    verdict = "the same question" if relation == "synonym" else "another question"
    return (
        f'"{sentence(asks(event, word), "?")}" asked {one}. '
        f'"{sentence(asks(claim, second), "?")}" asked {two}. That was {verdict}.'
    )


def same_tale(rng: random.Random) -> str:
    """Two people tell what happened: the same, nearly the same, or something else."""
    event = usual_event(rng, subject="person", time=False)
    changes, other = rng.choice((0, 0, 1, 2, 3)), swap(event, "verb", "subject", "object", "place")
    for slot in rng.sample(("subject", "verb", "object", "place"), changes):
        fresh = usual_event(rng, subject="person", takes=VERBS[event.verb].takes)
        other = replace(other, **{slot: getattr(fresh, slot)})
    one, two = rng.sample(NAMES, 2)
    verdict = ("the same tale", "nearly the same tale", "two tales", "two tales")[changes]
    return (
        f"{one} wrote: {sentence(tell(rng, event))} {two} wrote: "
        f"{sentence(tell(rng, other))} They told {verdict}."
    )


def talk(rng: random.Random) -> str:
    """Hearsay: what was told, and told again."""
    event = usual_event(rng, time=False)
    name = ALL.word(rng, "name", (event.subject,))
    open_, close = rng.choice((("I hear that ", ""), ("well , ", " , you know")))
    again = statement(shortened(rng, retold(rng, event)))
    return (
        f'"{sentence(open_ + statement(event) + close)}" "I see," said {name}. "{sentence(again)}"'
    )
