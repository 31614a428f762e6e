"""Story Cloze, RACE and DPRD: short stories, passages with questions, and reasons."""

import random
from dataclasses import dataclass, replace

from tasks.world import grammar
from tasks.world.grammar import (
    Event,
    draw_event,
    draw_kind,
    np,
    sentence,
    statement,
    use_synonyms,
)
from tasks.world.lexicon import HYPONYM, REASONS, SYNONYM, VERBS, he, him
from tasks.world.rows import Row
from tasks.world.word_pool import WordPool


@dataclass(frozen=True)
class Story:
    """Four sentences, the ending that follows from them and its counterpart that does not."""

    body: tuple[str, str, str, str]
    right: str
    wrong: str


def _mood_story(
    rng: random.Random, pool: WordPool, who: str, good: bool, body: tuple[str, str, str, str]
) -> Story:
    """A story whose two endings differ in the mood alone; it ends well if `good`."""
    form, sort = rng.choice(
        (
            (f"{who} was {{}}.", "mood"),
            (f"{who} felt {{}} that day.", "mood"),
            (f"{who} {{}} all day.", "outburst"),
            (f"In the end, {who} {{}}.", "outburst"),
        )
    )
    happy, sad = (form.format(word) for word in pool.unit(rng, sort))
    return Story(body, happy, sad) if good else Story(body, sad, happy)


def _pet(rng: random.Random, pool: WordPool) -> Story:
    """Finding what one loves makes happy, and so does losing what one hates."""
    who, kind = pool.word(rng, "name"), draw_kind(rng, pool, "being")
    loves, gains = rng.random() < 0.5, rng.random() < 0.5
    feeling = rng.choice(("love", "adore") if loves else ("hate", "detest"))
    event = rng.choice(("found", "discovered") if gains else ("lost", "misplaced"))
    body = (
        f"{who} {VERBS[feeling].past} {np(kind, 'a')}.",
        f"One day {who} went to the {pool.word(rng, 'place')}.",
        f"{he(who).capitalize()} {event} the {kind} there.",
        f"Then {he(who)} came home.",
    )
    return _mood_story(rng, pool, who, loves == gains, body)


def _weather(rng: random.Random, pool: WordPool) -> Story:
    """A wish for rain or sun, and the weather of the day."""
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
    return _mood_story(rng, pool, who, rain == wet, body)


def _contest(rng: random.Random, pool: WordPool) -> Story:
    """Two people run for a prize: who is quicker wins, who falls loses."""
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
    form = rng.choice(("{} won the prize.", "The prize went to {}."))
    return Story(body, form.format(winner), form.format(loser))


def _plan(rng: random.Random, pool: WordPool) -> Story:
    """A plan that somebody helped with or prevented."""
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


def draw_story(rng: random.Random, pool: WordPool) -> Story:
    """Draw a story of one of the four plots."""
    return rng.choice((_pet, _weather, _contest, _plan))(rng, pool)


def story_cloze(rng: random.Random, pool: WordPool, label: str) -> Row:
    """A story and two endings; the label is the number of the right one, 1 or 2."""
    story = draw_story(rng, pool)
    endings = (story.right, story.wrong) if label == "1" else (story.wrong, story.right)
    return Row("\n".join(story.body), label=label, choices=endings, group="story")


@dataclass(frozen=True)
class Passage:
    """A passage and the four events that it tells, in its order."""

    text: str
    events: tuple[Event, ...]


def draw_passage(rng: random.Random, pool: WordPool) -> Passage:
    """Draw a passage of four people, each of whom did one thing somewhere."""
    events: list[Event] = []
    while len(events) < 4:
        taken = tuple(w for e in events for w in (e.subject, e.verb, e.object, e.place))
        events.append(draw_event(rng, pool, "thing", subject="name", exclude=taken))
    text = " ".join(sentence(statement(event)) for event in events)
    return Passage(text, tuple(events))


def ask(
    rng: random.Random, passage: Passage, group: str, index: int, position: int
) -> tuple[str, tuple[str, ...]]:
    """A question about event `index` of a passage, and its options, the right one at `position`.

    A question of the group "high" uses synonyms, or the category instead of the kind.
    """
    word = rng.choice(("who", "where", "what"))
    event = replace(passage.events[index], place="")
    if group == "high":
        event = use_synonyms(event, "verb", "object")
        if event.object in HYPONYM:
            category = HYPONYM[event.object]
            if [HYPONYM.get(e.object) for e in passage.events].count(category) == 1:
                event = replace(event, object=category)
    form = {"who": "{.subject}.", "where": "In the {.place}.", "what": "The {.object}."}[word]
    options = [form.format(e) for e in passage.events]
    right = options.pop(index)
    rng.shuffle(options)
    options.insert(position, right)
    return sentence(grammar.question(event, word), "?"), tuple(options)


def race(rng: random.Random, pool: WordPool, group: str, positions: list[int]) -> list[Row]:
    """A passage and one question for each of the positions at which the right option stands."""
    passage = draw_passage(rng, pool)
    rows = []
    for index, position in zip(rng.sample(range(4), len(positions)), positions, strict=True):
        text, options = ask(rng, passage, group, index, position)
        rows.append(Row(passage.text, text, "ABCD"[position], options, group))
    return rows


@dataclass(frozen=True)
class Reason:
    """What one person did to another, and the adjective that explains it, true of `about`."""

    doer: str
    other: str
    about: str
    adjective: str
    deed: str


def draw_reason(rng: random.Random, pool: WordPool) -> Reason:
    """Draw a deed and its reason."""
    while True:
        verb = pool.verb(rng, "being")
        concept = verb if verb in REASONS else SYNONYM[verb]
        if concept in REASONS:
            break
    doer = pool.word(rng, "person")
    other = pool.word(rng, "person", (doer,))
    which = 0 if rng.random() < 0.5 else 1
    adjective = rng.choice(REASONS[concept][which])
    return Reason(doer, other, (doer, other)[which], adjective, statement(Event(doer, verb, other)))


def dprd(rng: random.Random, pool: WordPool, label: str) -> Row:
    """A deed and its reason, with a pronoun for the person whom the reason is about."""
    while True:
        r = draw_reason(rng, pool)
        if he(r.doer) == he(r.other) and (r.about == r.doer) == (label == "0"):
            break
    text = sentence(f"{r.deed} because {he(r.about)} was {r.adjective}")
    return Row(text, he(r.about), label, (f"The {r.doer}", f"the {r.other}"))
