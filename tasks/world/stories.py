"""Story Cloze, RACE and DPRD: small stories, passages with questions, and reasons why."""

import random
from dataclasses import dataclass, replace

from tasks.world.grammar import Event, asks, draw_event, draw_kind, np, sentence, statement, swap
from tasks.world.lexicon import HYPONYM, REASONS, SYNONYM, VERBS, he, him
from tasks.world.pool import Pool
from tasks.world.rows import Row


@dataclass(frozen=True)
class Story:
    """Four sentences, the ending that follows from them and its counterpart that does not."""

    body: tuple[str, str, str, str]
    right: str
    wrong: str


def mood_ending(rng: random.Random, pool: Pool, who: str, good: bool) -> tuple[str, str]:
    """Two endings alike but for the mood; the first has the mood asked for."""
    frame, kind = rng.choice(
        (
            (f"{who} was {{}}.", "mood"),
            (f"{who} felt {{}} that day.", "mood"),
            (f"{who} {{}} all day.", "outburst"),
            (f"In the end, {who} {{}}.", "outburst"),
        )
    )
    first, second = (frame.format(word) for word in pool.unit(rng, kind))
    return (first, second) if good else (second, first)


def _pet(rng: random.Random, pool: Pool) -> Story:
    """Who finds what they love is happy; who is rid of what they hate is happy as well."""
    who, kind = pool.word(rng, "name"), draw_kind(rng, pool, "being")
    loves, gains = rng.random() < 0.5, rng.random() < 0.5
    feeling = rng.choice(("love", "adore") if loves else ("hate", "detest"))
    event = rng.choice(("found", "discovered") if gains else ("lost", "misplaced"))
    place = pool.word(rng, "place")
    body = (
        f"{who} {VERBS[feeling].past} {np(kind, 'a')}.",
        f"One day {who} went to the {place}.",
        f"{he(who).capitalize()} {event} the {kind} there.",
        f"Then {he(who)} came home.",
    )
    return Story(body, *mood_ending(rng, pool, who, loves == gains))


def _weather(rng: random.Random, pool: Pool) -> Story:
    """A wish for rain or sun, and the day that came."""
    who, place = pool.word(rng, "name"), pool.word(rng, "place")
    rain, wet = rng.random() < 0.5, rng.random() < 0.5
    wish = rng.choice(("rain", "clouds") if rain else ("sun", "warmth"))
    day = rng.choice(("wet", "grey") if wet else ("dry", "bright"))
    body = (
        f"{who} hoped for {wish}.",
        f"{he(who).capitalize()} waited in the {place}.",
        f"The day was {day}.",
        f"{who} looked at the sky.",
    )
    return Story(body, *mood_ending(rng, pool, who, rain == wet))


def _race(rng: random.Random, pool: Pool) -> Story:
    """Two run for a prize: the quicker wins, the one who falls loses."""
    one = pool.word(rng, "name")
    two = pool.word(rng, "name", (one,))
    thing = pool.word(rng, "thing")
    about, other = rng.sample((one, two), 2)
    wins = rng.random() < 0.5
    deed = rng.choice(("was quick", "was fast") if wins else ("was slow", "fell down"))
    body = (
        f"{one} and {two} ran to the {pool.word(rng, 'place')}.",
        f"The prize was {np(thing, 'a')}.",
        f"{about} {deed}.",
        "Soon the race was over.",
    )
    winner, loser = (about, other) if wins else (other, about)
    frame = rng.choice(("{} won the prize.", "The prize went to {}."))
    return Story(body, frame.format(winner), frame.format(loser))


def _plan(rng: random.Random, pool: Pool) -> Story:
    """A plan that another helped or stopped."""
    event = draw_event(rng, pool, "thing", subject="name")
    helper = pool.word(rng, "person")
    helped = rng.random() < 0.5
    deed = rng.choice(("helped", "aided") if helped else ("stopped", "hindered"))
    verb, thing = VERBS[event.verb], np(event.object)
    body = (
        f"{event.subject} was in the {event.place}.",
        f"{he(event.subject).capitalize()} wanted to {verb.base} {thing}.",
        f"The {helper} came and {deed} {him(event.subject)}.",
        rng.choice(("It was late.", "An hour went by.")),
    )
    done = f"So {event.subject} soon {verb.past} {thing}."
    undone = f"So {event.subject} never {verb.past} {thing}."
    return Story(body, *((done, undone) if helped else (undone, done)))


def story(rng: random.Random, pool: Pool) -> Story:
    """A story of one of the four sorts."""
    return rng.choice((_pet, _weather, _race, _plan))(rng, pool)


def story_cloze(rng: random.Random, pool: Pool, label: str) -> Row:
    """A story and two endings; the label is the number of the right one, 1 or 2."""
    tale = story(rng, pool)
    pair = (tale.right, tale.wrong) if label == "1" else (tale.wrong, tale.right)
    return Row("\n".join(tale.body), label=label, choices=pair, group="story")


@dataclass(frozen=True)
class Passage:
    """A passage and the four events that it tells."""

    text: str
    events: tuple[Event, ...]


def passage(rng: random.Random, pool: Pool) -> Passage:
    """Four people, each of whom did one thing somewhere."""
    events: list[Event] = []
    while len(events) < 4:
        said = tuple(w for e in events for w in (e.subject, e.verb, e.object, e.place))
        events.append(draw_event(rng, pool, "thing", subject="name", but=said))
    text = " ".join(sentence(statement(event)) for event in events)
    return Passage(text, tuple(events))


def question(
    rng: random.Random, told: Passage, group: str, at: int, place: int
) -> tuple[str, tuple[str, ...]]:
    """A question about event `at` of a passage, and its answers, the right one at `place`.

    A high-school question speaks in other words, or of the category instead of the kind.
    """
    word = rng.choice(("who", "where", "what"))
    event = replace(told.events[at], place="")
    if group == "high":
        event = swap(event, "verb", "object")
        if event.object in HYPONYM:
            clash = [e for e in told.events if HYPONYM.get(e.object) == HYPONYM[event.object]]
            if len(clash) == 1:
                event = replace(event, object=HYPONYM[event.object])
    answer = {
        "who": lambda e: f"{e.subject}.",
        "where": lambda e: f"In the {e.place}.",
        "what": lambda e: f"The {e.object}.",
    }[word]
    options = [answer(e) for e in told.events]
    right = options.pop(at)
    rng.shuffle(options)
    options.insert(place, right)
    return sentence(asks(event, word), "?"), tuple(options)


def reason(rng: random.Random, pool: Pool) -> tuple[str, str, str, str, str]:
    """Why one did something to another: the deed, both people, and who was so, and how.

    Returns (deed, doer, other, the one the reason is about, adjective).
    """
    while True:
        base = pool.verb(rng, "being")
        concept = base if base in REASONS else SYNONYM[base]
        if concept in REASONS:
            break
    doer = pool.word(rng, "person")
    other = pool.word(rng, "person", (doer,))
    which = rng.random() < 0.5
    adjective = rng.choice(REASONS[concept][0 if which else 1].split())
    deed = statement(Event(doer, base, other))
    return deed, doer, other, doer if which else other, adjective


def dprd(rng: random.Random, pool: Pool, label: str) -> Row:
    """A deed and its reason with a pronoun for the one whom the reason is about."""
    while True:
        deed, doer, other, about, adjective = reason(rng, pool)
        if he(doer) == he(other) and (about == doer) == (label == "0"):
            break
    text = sentence(f"{deed} because {he(about)} was {adjective}")
    return Row(text, he(about), label, (f"The {doer}", f"the {other}"))


def race(rng: random.Random, pool: Pool, group: str, places: list[int]) -> list[Row]:
    """A passage with a question for each of `places`, where the right answer stands."""
    told = passage(rng, pool)
    rows = []
    for at, place in zip(rng.sample(range(4), len(places)), places, strict=True):
        text, options = question(rng, told, group, at, place)
        rows.append(Row(told.text, text, "ABCD"[place], options, group))
    return rows
