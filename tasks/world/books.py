"""The books of the world: tales, diaries, talks, readers, natural histories and chronicles.

They teach the world's words in plain prose: the same event in other words, questions and their
answers, what was said and denied, remarks and how they were received, stories and how they end.
Every book leans to one genre and holds some of each. Sentences of the labelled rows are kept out.
"""

import random
import re
from collections.abc import Callable
from dataclasses import replace

from tasks.world import stories
from tasks.world.grammar import (
    Event,
    asks,
    caption,
    draw_event,
    draw_kind,
    habitual,
    manner,
    np,
    passive,
    sentence,
    statement,
    swap,
)
from tasks.world.lexicon import (
    ALL,
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
    words,
)
from tasks.world.single import remark

Paragraph = Callable[[random.Random], str]
NUMBERS = words("One Two Three Four Five Six Seven Eight Nine Ten Eleven Twelve")
HABIT = 0.5  # how often an event has its usual object, and its usual place
YES = ("Yes.", "Yes, of course.", "Yes, that is true.")
NO = ("No.", "No, not at all.", "No, that is not true.")
PERHAPS = ("Perhaps.", "Perhaps, nobody knows.", "I do not know.")


def _retold(rng: random.Random, event: Event) -> Event:
    """The same event with its verb, and perhaps any other word, renamed."""
    extra = [slot for slot in ("subject", "object", "place", "time") if rng.random() < 0.25]
    return swap(event, "verb", *extra)


def _short(rng: random.Random, event: Event) -> Event:
    return replace(event, place="", time="") if rng.random() < 0.5 else event


def _tell(rng: random.Random, event: Event) -> str:
    fronted = rng.random() < 0.2
    if rng.random() < 0.15 and event.subject not in NAMES:
        return passive(event, fronted)
    how = manner(rng, event.verb) if rng.random() < 0.4 else ""
    return statement(event, fronted=fronted, manner=how)


def _event(rng: random.Random, **wishes) -> Event:
    who = wishes.pop("subject", "name" if rng.random() < 0.3 else "person")
    time = wishes.pop("time", rng.random() < 0.15)
    event = habitual(rng, draw_event(rng, ALL, subject=who, time=time, **wishes), HABIT)
    while event.object == event.subject:
        event = habitual(rng, draw_event(rng, ALL, subject=who, time=time, **wishes), HABIT)
    return event


def _said(rng: random.Random, text: str, who: str) -> str:
    """A line of speech; a statement's full stop becomes a comma before the speaker."""
    if text.endswith("."):
        return f'"{text[:-1]}," said {who}.'
    return f'"{text}" asked {who}.'


def _reply(rng: random.Random, relation: str, negated: bool) -> str:
    if relation == "other":
        return rng.choice(PERHAPS)
    return rng.choice(YES if (relation == "synonym") != negated else NO)


def _claim(rng: random.Random, event: Event) -> tuple[Event, str]:
    """A claim about an event, and how its verb stands to the event's."""
    relation = rng.choice(("synonym", "synonym", "antonym", "other"))
    claim = _short(rng, _retold(rng, event))
    if relation == "antonym":
        claim = replace(claim, verb=rng.choice(opposites(event.verb)))
    if relation == "other":
        claim = replace(claim, verb=ALL.verb(rng, VERBS[event.verb].takes, (event.verb,)))
    return claim, relation


def song(rng: random.Random) -> str:
    """A verse with a refrain: words, half lines and whole lines come again."""
    event = _event(rng, time=False)
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
    last = statement(_retold(rng, event)) if rng.random() < 0.5 else chosen[0]
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


def paraphrase(rng: random.Random) -> str:
    """An event, and the same in other words."""
    event = _event(rng)
    link = rng.choice(("in other words , ", "that is , ", "so "))
    return f"{sentence(_tell(rng, event))} {sentence(link + _tell(rng, _retold(rng, event)))}"


def denial(rng: random.Random) -> str:
    """An event, the opposite denied, and what came later."""
    event = _event(rng)
    claim = _short(rng, replace(_retold(rng, event), verb=rng.choice(opposites(event.verb))))
    return f"{sentence(_tell(rng, event))} {sentence('of course ' + statement(claim, True))}"


def doubt(rng: random.Random) -> str:
    """Somebody tells an event; another asks, or concludes, and is answered."""
    teller, other = rng.sample(NAMES, 2)
    event = _event(rng, subject="person")
    claim, relation = _claim(rng, event)
    first = caption(event) if rng.random() < 0.3 else _tell(rng, event)
    lines = [_said(rng, sentence(first), teller)]
    negated = rng.random() < 0.25
    if first == caption(event):
        question = sentence(caption(claim), "?")
        negated = False
    elif negated or rng.random() < 0.5:
        question = sentence(statement(claim, negated), "?")
    else:
        question = sentence(asks(claim), "?")
    lines.append(_said(rng, question, other) if rng.random() < 0.5 else f'"{question}"')
    lines.append(f'"{_reply(rng, relation, negated)}"')
    return " ".join(lines)


def interview(rng: random.Random) -> str:
    """Questions of who, what, where and when about an event, in other words, and the answers."""
    event = _event(rng, time=rng.random() < 0.5)
    if rng.random() < 0.5:
        event = replace(event, **{rng.choice(("place", "time")): ""})
    lines = [sentence(_tell(rng, event))]
    for word in rng.sample(("who", "where", "when", "what"), 2):
        asked = replace(_retold(rng, event), place="", time="")
        answer = {
            "who": np(event.subject),
            "where": event.place and f"in the {event.place}",
            "when": event.time and f"at {event.time}",
            "what": np(event.object),
        }[word]
        reply = sentence(answer) if answer else "Nobody knows."
        lines.append(f'"{sentence(asks(asked, word), "?")}" "{reply}"')
    return " ".join(lines)


def same_question(rng: random.Random) -> str:
    """Two questions, and whether they ask the same."""
    event = _event(rng, place=False, time=False)
    claim, relation = _claim(rng, event)
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
    event = _event(rng, subject="person", time=False)
    changes, other = rng.choice((0, 0, 1, 2, 3)), swap(event, "verb", "subject", "object", "place")
    for slot in rng.sample(("subject", "verb", "object", "place"), changes):
        fresh = _event(rng, subject="person", takes=VERBS[event.verb].takes)
        other = replace(other, **{slot: getattr(fresh, slot)})
    one, two = rng.sample(NAMES, 2)
    verdict = ("the same tale", "nearly the same tale", "two tales", "two tales")[changes]
    return (
        f"{one} wrote: {sentence(_tell(rng, event))} {two} wrote: "
        f"{sentence(_tell(rng, other))} They told {verdict}."
    )


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
    event = _event(rng, subject="name", time=False, takes=rng.choice(("being", "thing")))
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
        event = _event(rng, subject="person", time=False)
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


def talk(rng: random.Random) -> str:
    """Hearsay: what was told, and told again."""
    event = _event(rng, time=False)
    name = ALL.word(rng, "name", (event.subject,))
    open_, close = rng.choice((("I hear that ", ""), ("well , ", " , you know")))
    again = statement(_short(rng, _retold(rng, event)))
    return (
        f'"{sentence(open_ + statement(event) + close)}" "I see," said {name}. "{sentence(again)}"'
    )


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


GENRES: dict[str, tuple[Paragraph, ...]] = {
    "Tales": (tale, tale, because, chain, paraphrase),
    "Diary": (review, review, tale, scene, denial),
    "Talks": (doubt, doubt, doubt, interview, same_question),
    "Reader": (reading, kinds, interview, talk),
    "Nature": (nature, kinds, pictures, dictionary),
    "Songs": (song, song, chain, paraphrase),
    "Chronicle": (paraphrase, denial, same_tale, doubt),
}


def write_book(rng: random.Random, number: int, length: int, forbidden: set[str]) -> str:
    """One book of about `length` words, in chapters; no sentence of it is in `forbidden`.

    `forbidden` holds texts as `plain` gives them.
    """
    genre = list(GENRES)[number % len(GENRES)]
    rest = [part for parts in GENRES.values() for part in parts]
    place, name = ALL.word(rng, "place").title(), ALL.word(rng, "name")
    lines, count, chapter = [f"{genre} of the {place}", f"by {name}"], 6, 0
    next_chapter = 0
    while count < length:
        if count >= next_chapter:
            chapter, next_chapter = chapter + 1, count + max(400, length // 11)
            lines.append(f"Chapter {NUMBERS[(chapter - 1) % len(NUMBERS)]}")
        make = rng.choice(GENRES[genre] if rng.random() < 0.4 else rest)
        text = make(rng)
        if not forbidden.isdisjoint(fingerprints(text)):
            continue
        lines.append(text)
        count += len(text.split())
    return "\n\n".join(lines) + "\n"


def plain(text: str) -> str:
    """A text in lower case without punctuation."""
    return " ".join(re.sub(r"[^\w ]", " ", text.lower()).split())


def fingerprints(text: str) -> list[str]:
    """What a text may share with no labelled row: each sentence, and each four in a row."""
    parts = [p for p in map(plain, re.split(r"[.!?:]", text)) if p]
    return parts + [" ".join(parts[i : i + 4]) for i in range(len(parts) - 3)]
