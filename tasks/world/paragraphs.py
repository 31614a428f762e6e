"""Paragraphs of songs, facts, reviews, captions, stories and readers."""

import random
from dataclasses import replace

from tasks.world.classification import remark
from tasks.world.grammar import caption, draw_event, draw_kind, np, sentence, statement
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
from tasks.world.multiple_choice import ask, draw_passage, draw_reason, draw_story
from tasks.world.paraphrases import NO, YES, restated, usual_event
from tasks.world.word_pool import ALL_WORDS


def song(rng: random.Random) -> str:
    """A verse with a refrain, which repeats words, half lines and whole lines."""
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
    last = statement(restated(rng, event)) if rng.random() < 0.5 else chosen[0]
    return " ".join(sentence(line, "!") for line in (*chosen, last))


def chain(rng: random.Random) -> str:
    """A cumulative tale: each character does something to the next."""
    nouns = [_draw_being(rng)]
    while len(nouns) < 4:
        noun = _draw_being(rng)
        if noun not in nouns:
            nouns.append(noun)
    lines = []
    for one, two in zip(nouns, nouns[1:], strict=False):
        verb = VERBS[ALL_WORDS.verb(rng, "being")]
        lines.append(f"the {one} {verb.past} the {two}")
    return " ".join(sentence(line) for line in (*lines, lines[0]))


def _draw_being(rng: random.Random) -> str:
    """A person or an animal."""
    return (
        ALL_WORDS.word(rng, "person") if rng.random() < 0.5 else draw_kind(rng, ALL_WORDS, "being")
    )


def dictionary(rng: random.Random) -> str:
    """Four words and what they mean."""
    lines = []
    for _ in range(4):
        kind = rng.choice(("person", "thing", "place", "verb", "verb", "kind"))
        if kind == "verb":
            verb = ALL_WORDS.verb(rng)
            lines.append(
                f"to {verb} is to {SYNONYM[verb]} and not to {rng.choice(opposites(verb))}"
            )
        elif kind == "kind":
            word = draw_kind(rng, ALL_WORDS)
            lines.append(f"{a(word)} is {a(HYPONYM[word])}")
        else:
            word = ALL_WORDS.word(rng, kind)
            lines.append(f"{a(word)} is {a(SYNONYM[word])}")
    return " ".join(sentence(line) for line in lines)


def review(rng: random.Random) -> str:
    """A remark and how everyone reacted."""
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
    return f"{sentence(remark(rng, ALL_WORDS, good))} {reaction}"


def tale(rng: random.Random) -> str:
    """A short story with its right ending."""
    story = draw_story(rng, ALL_WORDS)
    return " ".join((*story.body, story.right))


def because(rng: random.Random) -> str:
    """A deed and its reason, with both people named."""
    reason = draw_reason(rng, ALL_WORDS)
    first = sentence(f"{reason.deed} because the {reason.about} was {reason.adjective}")
    if rng.random() < 0.5:
        return first
    return f"{first} Who was {reason.adjective}? The {reason.about}."


def reading(rng: random.Random) -> str:
    """A reader's passage, then two questions with their answers."""
    passage = draw_passage(rng, ALL_WORDS)
    lines = [passage.text]
    for index in rng.sample(range(4), 2):
        group = rng.choice(("middle", "high"))
        text, options = ask(rng, passage, group, index, 0)
        lines.append(f"{text} {options[0]}")
    return " ".join(lines)


def nature(rng: random.Random) -> str:
    """Which category a kind belongs to, which it does not, and what another kind does."""
    kind = draw_kind(rng, ALL_WORDS)
    category = HYPONYM[kind]
    wrong = rng.choice([c for c in CATEGORIES if c != category])
    beast = draw_kind(rng, ALL_WORDS, "being")
    verb = ALL_WORDS.verb(rng)
    thing = draw_kind(rng, ALL_WORDS, VERBS[verb].takes, (beast,))
    place = ALL_WORDS.word(rng, "place")
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
    """Two people and two kinds, then a question that names a category."""
    event = usual_event(rng, subject="name", time=False, takes=rng.choice(("being", "thing")))
    verb = VERBS[event.verb]
    one, two = (draw_kind(rng, ALL_WORDS, verb.takes) for _ in range(2))
    if HYPONYM[one] == HYPONYM[two]:
        return nature(rng)
    other = ALL_WORDS.word(rng, "name", (event.subject,))
    facts = [
        statement(replace(event, object=one), det="a"),
        f"{other} {verb.past} {a(two)}",
    ]
    rng.shuffle(facts)
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
    return " ".join((sentence(" and ".join(facts)), *lines))


def pictures(rng: random.Random) -> str:
    """Captions that practise singular and plural, determiners and reflexive pronouns."""
    lines = []
    for _ in range(3):
        event = usual_event(rng, subject="person", time=False)
        verb, many = VERBS[event.verb], rng.random() < 0.5
        noun = plural(event.object) if many and event.object not in NAMES else event.object
        det = rng.choice(("these", "many")) if many else rng.choice(("this", "every"))
        pronoun = "herself" if GENDER[event.subject] == "f" else "himself"
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
                    f"the {event.subject} {verb.past} {pronoun} {where}"
                    if verb.takes == "being"
                    else f"{doers} {verb.past} {np(event.object)} {where}",
                )
            )
        )
    return " ".join(sentence(line) for line in lines)


def scene(rng: random.Random) -> str:
    """What somebody saw in a place, with its number, colour or size, and did with it."""
    who = ALL_WORDS.word(rng, "name")
    place, thing = ALL_WORDS.word(rng, "place"), ALL_WORDS.word(rng, "thing")
    other = ALL_WORDS.word(rng, rng.choice(("person", "thing", "kind")))
    many = rng.choice(("many", "two", "these"))
    look = rng.choice(
        (
            f"there was {a(rng.choice(SIZES + COLOURS))} {thing} in the {place}",
            f"there were {many} {rng.choice(SIZES + COLOURS)} {plural(thing)} in the {place}",
            f"{he(who)} saw {many} {plural(other)} and {a(thing)} there",
            f"these {plural(thing)} were {rng.choice(SIZES + COLOURS)}",
        )
    )
    event = draw_event(rng, ALL_WORDS, "thing", subject="name")
    verb = VERBS[event.verb]
    deed = f"{he(who)} {verb.past} the {thing} and {verb.past} {np(event.object)}"
    return " ".join(sentence(x) for x in (f"{who} went to the {place}", look, deed))
