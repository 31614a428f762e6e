"""Paragraphs of songs, facts, remarks, pictures, stories and readers."""

import random
from dataclasses import replace

from tasks.world import stories
from tasks.world.grammar import (
    caption,
    draw_event,
    draw_kind,
    np,
    sentence,
    statement,
)
from tasks.world.lexicon import (
    ANIMALS,
    CATEGORIES,
    COLOURS,
    GENDER,
    HYPONYM,
    NAMES,
    SIZES,
    SYNONYM,
    VERBS,
    a,
    he,
    opposites,
    plural,
)
from tasks.world.pool import ALL
from tasks.world.retelling import NO, YES, retold, usual_event
from tasks.world.single import remark


def song(rng: random.Random) -> str:
    """A verse with a refrain: words, half lines and whole lines come again."""
    event = usual_event(rng, time=False)
    verb, who, what = VERBS[event.verb], np(event.subject), np(event.object)
    colour = rng.choice(COLOURS)
    lines = (
        f"{who} , {who} , oh {who}",
        f"{what} , {what} , {colour} was {what}",
        f"{who} {verb.past} , {verb.past} , {verb.past} {what}",
        f"in the {event.place} , in the {event.place} , {who} {verb.past} {what}",
        f"{who} {verb.past} {what} , {who} {verb.past} {what}",
        statement(event),
    )
    chosen = rng.sample(lines, 2)
    last = statement(retold(rng, event)) if rng.random() < 0.5 else chosen[0]
    return " ".join(sentence(line, "!") for line in (*chosen, last))


def chain(rng: random.Random) -> str:
    """A tale that goes on where it was: each one does something to the next."""
    nouns = [draw_being(rng)]
    while len(nouns) < 4:
        noun = draw_being(rng)
        if noun not in nouns:
            nouns.append(noun)
    lines = []
    for one, two in zip(nouns, nouns[1:], strict=False):
        verb = VERBS[ALL.verb(rng, "being")]
        lines.append(f"the {one} {verb.past} the {two}")
    return " ".join(sentence(line) for line in (*lines, lines[0]))


def draw_being(rng: random.Random) -> str:
    """A person or an animal."""
    return ALL.word(rng, "person") if rng.random() < 0.5 else draw_kind(rng, ALL, "being")


def dictionary(rng: random.Random) -> str:
    """What words mean."""
    lines = []
    for _ in range(4):
        kind = rng.choice(("person", "thing", "place", "verb", "verb", "kind"))
        if kind == "verb":
            verb = ALL.verb(rng)
            lines.append(
                f"to {verb} is to {SYNONYM[verb]} and not to {rng.choice(opposites(verb))}"
            )
        elif kind == "kind":
            word = draw_kind(rng, ALL)
            lines.append(f"{a(word)} is {a(HYPONYM[word])}")
        else:
            word = ALL.word(rng, kind)
            lines.append(f"{a(word)} is {a(SYNONYM[word])}")
    return " ".join(sentence(line) for line in lines)


def review(rng: random.Random) -> str:
    """A remark and how everyone took it."""
    good = rng.random() < 0.5
    word = "positive" if good else "negative"
    reaction = rng.choice(
        (
            f"Very {word}!",
            f"Very {word}, I thought.",
            f"Very {word} words followed.",
            f"Everyone was very {word}.",
            "Everyone smiled." if good else "Everyone sighed.",
            "We were glad." if good else "We were sad.",
        )
    )
    return f"{sentence(remark(rng, ALL, good))} {reaction}"


def tale(rng: random.Random) -> str:
    """A little story with its ending."""
    told = stories.story(rng, ALL)
    return " ".join((*told.body, told.right))


def because(rng: random.Random) -> str:
    """A deed and its reason, with the people named."""
    deed, doer, other, about, adjective = stories.reason(rng, ALL)
    first = sentence(f"{deed} because the {about} was {adjective}")
    if rng.random() < 0.5:
        return first
    return f"{first} Who was {adjective}? The {about}."


def reading(rng: random.Random) -> str:
    """A passage of a reader, and questions with their answers."""
    told = stories.passage(rng, ALL)
    lines = [told.text]
    for at in rng.sample(range(4), 2):
        group = rng.choice(("middle", "high"))
        text, options = stories.question(rng, told, group, at, 0)
        lines.append(f"{text} {options[0]}")
    return " ".join(lines)


def nature(rng: random.Random) -> str:
    """What a kind is and is not, and what it does."""
    kind = draw_kind(rng, ALL)
    category = HYPONYM[kind]
    wrong = rng.choice([c for c in CATEGORIES if c != category])
    beast = draw_kind(rng, ALL, "being")
    verb = ALL.verb(rng)
    thing = draw_kind(rng, ALL, VERBS[verb].takes, (beast,))
    place = ALL.word(rng, "place")
    lines = [
        f"{a(kind)} is {a(category)}",
        f"{plural(kind)} are {plural(category)}",
        f"{a(kind)} is not {a(wrong)}",
        f"{a(category)} is an animal" if category in ANIMALS else f"{a(category)} is a thing",
    ]
    fact = f"{plural(beast)} {verb} {plural(thing)} in the {place}"
    general = f"{plural(HYPONYM[beast])} {SYNONYM[verb]} {plural(HYPONYM[thing])}"
    return " ".join(
        sentence(line)
        for line in (
            *rng.sample(lines, 2),
            fact,
            rng.choice(("so ", "that is , ", "in short , ")) + general,
        )
    )


def kinds(rng: random.Random) -> str:
    """Two people and two kinds; a question by category."""
    event = usual_event(rng, subject="name", time=False, takes=rng.choice(("being", "thing")))
    sort = VERBS[event.verb].takes
    one, two = draw_kind(rng, ALL, sort), draw_kind(rng, ALL, sort)
    if HYPONYM[one] == HYPONYM[two]:
        return nature(rng)
    other = ALL.word(rng, "name", (event.subject,))
    verb = VERBS[event.verb]
    told = [
        statement(replace(event, object=one), det="a"),
        f"{other} {verb.past} {a(two)}",
    ]
    rng.shuffle(told)
    who, kind, not_kind = rng.choice(((event.subject, one, two), (other, two, one)))
    asked = rng.choice(
        (
            (f"what did {who} {verb.base}?", f"{a(HYPONYM[kind])}."),
            (f"did {who} {verb.base} {a(HYPONYM[kind])}?", rng.choice(YES)),
            (f"did {who} {verb.base} {a(HYPONYM[not_kind])}?", rng.choice(NO)),
            (f"who {verb.past} {a(HYPONYM[kind])}?", f"{who}."),
            (f"so {who} {VERBS[SYNONYM[verb.base]].past} {a(HYPONYM[kind])}.", ""),
        )
    )
    lines = [text[0].upper() + text[1:] for text in asked if text]
    return " ".join((sentence(" and ".join(told)), *lines))


def pictures(rng: random.Random) -> str:
    """Pictures described in the present: one and many, this and these, himself and herself."""
    lines = []
    for _ in range(3):
        event = usual_event(rng, subject="person", time=False)
        verb, many = VERBS[event.verb], rng.random() < 0.5
        noun = plural(event.object) if many and event.object not in NAMES else event.object
        det = rng.choice(("these", "many")) if many else rng.choice(("this", "every"))
        self = "herself" if GENDER[event.subject] == "f" else "himself"
        where = f"in the {event.place}"
        doers = rng.choice(("the", "these", "two")) + " " + plural(event.subject)
        lines.append(
            rng.choice(
                (
                    caption(event),
                    caption(event, "the"),
                    f"{doers} {verb.base} {np(event.object)} {where}",
                    f"the {event.subject} {verb.past} {det} {noun} {where}",
                    f"the {event.subject} did not {verb.base} {det} {noun}",
                    f"the {event.subject} {verb.past} {self} {where}"
                    if verb.takes == "being"
                    else f"{doers} {verb.past} {np(event.object)} {where}",
                )
            )
        )
    return " ".join(sentence(line) for line in lines)


def scene(rng: random.Random) -> str:
    """What one saw somewhere, one and many, with colours and sizes, and what one did with it."""
    who = ALL.word(rng, "name")
    place, thing, other = ALL.word(rng, "place"), ALL.word(rng, "thing"), draw_noun(rng)
    many = rng.choice(("many", "two", "these"))
    look = rng.choice(
        (
            f"there was {a(rng.choice(SIZES + COLOURS))} {thing} in the {place}",
            f"there were {many} {rng.choice(SIZES + COLOURS)} {plural(thing)} in the {place}",
            f"{he(who)} saw {many} {plural(other)} and {a(thing)} there",
            f"these {plural(thing)} were {rng.choice(SIZES + COLOURS)}",
        )
    )
    event = draw_event(rng, ALL, "thing", subject="name")
    verb = VERBS[event.verb]
    told = f"{he(who)} {verb.past} the {thing} and {verb.past} {np(event.object)}"
    return " ".join(sentence(x) for x in (f"{who} went to the {place}", look, told))


def draw_noun(rng: random.Random) -> str:
    """Any person, thing or kind."""
    return ALL.word(rng, rng.choice(("person", "thing", "kind")))
