"""Paragraphs that restate an event: paraphrased, denied, asked about, told by others."""

import random
from dataclasses import replace

from tasks.world.grammar import (
    Event,
    caption,
    draw_event,
    draw_manner,
    np,
    passive,
    question,
    sentence,
    statement,
    use_synonyms,
    with_usual_words,
)
from tasks.world.lexicon import NAMES, VERBS, opposites
from tasks.world.word_pool import ALL_WORDS

USUAL_SHARE = 0.5  # probability that an event has its usual object, and its usual place
YES = ("Yes.", "Yes, of course.", "Yes, that is true.")
NO = ("No.", "No, not at all.", "No, that is not true.")
PERHAPS = ("Perhaps.", "Perhaps, nobody knows.", "I do not know.")


def restated(rng: random.Random, event: Event) -> Event:
    """The same event with synonyms for its verb and perhaps for any of its other words."""
    extra = [slot for slot in ("subject", "object", "place", "time") if rng.random() < 0.25]
    return use_synonyms(event, "verb", *extra)


def shortened(rng: random.Random, event: Event) -> Event:
    """The event, perhaps without its place and time."""
    return replace(event, place="", time="") if rng.random() < 0.5 else event


def tell(rng: random.Random, event: Event) -> str:
    """A statement of an event: active or passive, perhaps fronted, perhaps with its manner."""
    fronted = rng.random() < 0.2
    if rng.random() < 0.15 and event.subject not in NAMES:
        return passive(event, fronted)
    how = draw_manner(rng, event.verb) if rng.random() < 0.4 else ""
    return statement(event, fronted=fronted, manner=how)


def usual_event(
    rng: random.Random,
    subject: str = "",
    place: bool = True,
    time: bool | None = None,
    takes: str = "",
) -> Event:
    """Draw an event, often of its usual object and place, with `subject` and `time` if given."""
    # Drawn even where it is given: leaving it out would change every book.
    chance = "name" if rng.random() < 0.3 else "person", rng.random() < 0.15
    subject, time = subject or chance[0], chance[1] if time is None else time
    while True:
        event = draw_event(rng, ALL_WORDS, takes, subject, place, time)
        event = with_usual_words(rng, event, USUAL_SHARE)
        if event.object != event.subject:
            return event


def said(text: str, who: str) -> str:
    """Direct speech; the full stop of a statement becomes a comma before the speaker."""
    if text.endswith("."):
        return f'"{text[:-1]}," said {who}.'
    return f'"{text}" asked {who}.'


def reply(rng: random.Random, relation: str, negated: bool) -> str:
    """The answer to a claim whose verb stands in this relation to what happened."""
    if relation == "other":
        return rng.choice(PERHAPS)
    return rng.choice(YES if (relation == "synonym") != negated else NO)


def changed_claim(rng: random.Random, event: Event) -> tuple[Event, str]:
    """A claim about an event, and the relation of its verb to the event's."""
    relation = rng.choice(("synonym", "synonym", "antonym", "other"))
    claim = shortened(rng, restated(rng, event))
    if relation == "antonym":
        claim = replace(claim, verb=rng.choice(opposites(event.verb)))
    if relation == "other":
        claim = replace(claim, verb=ALL_WORDS.verb(rng, VERBS[event.verb].takes, (event.verb,)))
    return claim, relation


def paraphrase(rng: random.Random) -> str:
    """An event, then the same in other words."""
    event = usual_event(rng)
    link = rng.choice(("in other words , ", "that is , ", "so "))
    return f"{sentence(tell(rng, event))} {sentence(link + tell(rng, restated(rng, event)))}"


def denial(rng: random.Random) -> str:
    """An event, then a denial of its opposite."""
    event = usual_event(rng)
    claim = shortened(rng, replace(restated(rng, event), verb=rng.choice(opposites(event.verb))))
    return f"{sentence(tell(rng, event))} {sentence('of course ' + statement(claim, True))}"


def doubt(rng: random.Random) -> str:
    """One person tells an event; another asks or concludes something and is answered."""
    teller, other = rng.sample(NAMES, 2)
    event = usual_event(rng, subject="person")
    claim, relation = changed_claim(rng, event)
    first = caption(event) if rng.random() < 0.3 else tell(rng, event)
    negated = rng.random() < 0.25
    if first == caption(event):
        asked = caption(claim)
        negated = False
    elif negated or rng.random() < 0.5:
        asked = statement(claim, negated)
    else:
        asked = question(claim)
    asked = sentence(asked, "?")
    lines = [
        said(sentence(first), teller),
        said(asked, other) if rng.random() < 0.5 else f'"{asked}"',
        f'"{reply(rng, relation, negated)}"',
    ]
    return " ".join(lines)


def interview(rng: random.Random) -> str:
    """An event, then two questions about it in other words (who, what, where, when), answered."""
    event = usual_event(rng, time=rng.random() < 0.5)
    if rng.random() < 0.5:
        event = replace(event, **{rng.choice(("place", "time")): ""})
    lines = [sentence(tell(rng, event))]
    for word in rng.sample(("who", "where", "when", "what"), 2):
        asked = replace(restated(rng, event), place="", time="")
        answer = {
            "who": np(event.subject),
            "where": event.place and f"in the {event.place}",
            "when": event.time and f"at {event.time}",
            "what": np(event.object),
        }[word]
        answered = sentence(answer) if answer else "Nobody knows."
        lines.append(f'"{sentence(question(asked, word), "?")}" "{answered}"')
    return " ".join(lines)


def same_question(rng: random.Random) -> str:
    """Two questions, then whether they ask the same."""
    event = usual_event(rng, place=False, time=False)
    claim, relation = changed_claim(rng, event)
    word = rng.choice(("where", "when", "who"))
    second = word
    if relation == "synonym" and rng.random() < 0.3 and word != "who":
        second, relation = ("when" if word == "where" else "where"), "other"
    one, two = rng.sample(NAMES, 2)
    verdict = "the same question" if relation == "synonym" else "another question"
    return (
        f'"{sentence(question(event, word), "?")}" asked {one}. '
        f'"{sentence(question(claim, second), "?")}" asked {two}. That was {verdict}.'
    )


def same_tale(rng: random.Random) -> str:
    """Two people write what happened, then how alike their tales are."""
    event = usual_event(rng, subject="person", time=False)
    changes, other = (
        rng.choice((0, 0, 1, 2, 3)),
        use_synonyms(event, "verb", "subject", "object", "place"),
    )
    for slot in rng.sample(("subject", "verb", "object", "place"), changes):
        fresh = usual_event(rng, subject="person", takes=VERBS[event.verb].takes)
        other = replace(other, **{slot: getattr(fresh, slot)})
    one, two = rng.sample(NAMES, 2)
    verdict = ("the same tale", "nearly the same tale", "two tales", "two tales")[changes]
    return (
        f"{one} wrote: {sentence(tell(rng, event))} {two} wrote: "
        f"{sentence(tell(rng, other))} They told {verdict}."
    )


def hearsay(rng: random.Random) -> str:
    """Hearsay: an event as heard, then repeated in other words."""
    event = usual_event(rng, time=False)
    name = ALL_WORDS.word(rng, "name", (event.subject,))
    open_, close = rng.choice((("I hear that ", ""), ("well , ", " , you know")))
    again = statement(shortened(rng, restated(rng, event)))
    return (
        f'"{sentence(open_ + statement(event) + close)}" "I see," said {name}. "{sentence(again)}"'
    )
