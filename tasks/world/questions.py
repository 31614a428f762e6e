"""Questions and where their answers stand: QNLI and RACE, and the readers among the books."""

import random
from dataclasses import dataclass, replace

from tasks.world.grammar import Event, draw_event, np, question, sentence, statement
from tasks.world.lexicon import SYNONYM
from tasks.world.retellings import renamed, with_other
from tasks.world.rows import Degree, Probe, Row
from tasks.world.word_pool import ALL_WORDS, WordPool

SLOT = {"who": "subject", "what": "object", "where": "place", "when": "time"}
SORT = {"who": "person", "what": "thing", "where": "place", "when": "time"}
LETTERS = "ABCD"


def qnli(rng: random.Random, pool: WordPool, label: str, degree: Degree) -> Row:
    """A question, and a sentence that answers it or not.

    Lexical: a sentence that does not answer states a time for a place, or the reverse. Relational:
    it is about another object. Compositional: either, in other words.
    """
    asked = rng.choice(("where", "when"))
    event = draw_event(rng, pool, "thing", place=asked == "where", time=asked == "when")
    answer = event
    wrong = degree
    if degree == "compositional":
        answer = renamed(rng, event)
        wrong = rng.choice(("lexical", "relational"))
    if label != "entailment" and wrong == "lexical":
        if asked == "where":
            answer = replace(answer, place="", time=pool.word(rng, "time"))
        else:
            answer = replace(answer, place=pool.word(rng, "place"), time="")
    elif label != "entailment":
        answer = with_other(rng, pool, answer, "object")
    asking = question(replace(event, place="", time=""), asked)
    return Row(sentence(asking, "?"), sentence(statement(answer)), label, degree=degree)


@dataclass(frozen=True)
class Passage:
    """Events, told in order, no two of which share a word or a synonym of one."""

    events: tuple[Event, ...]

    @property
    def text(self) -> str:
        """The passage as it is read."""
        return " ".join(sentence(statement(event)) for event in self.events)

    def words(self, asked: str) -> list[str]:
        """The answers that the events give to who, what, where or when."""
        return [getattr(event, SLOT[asked]) for event in self.events]


def draw_passage(rng: random.Random, pool: WordPool, n: int = 2) -> Passage:
    """Draw a passage of n events."""
    events: list[Event] = []
    known: set[str] = set()
    while len(events) < n:
        place = rng.random() < 0.5
        event = draw_event(rng, pool, "thing", place=place, time=not place)
        told = {getattr(event, slot) for slot in ("verb", *SLOT.values())} - {""}
        if not known & told:
            events.append(event)
            known |= told | {SYNONYM[word] for word in told if word in SYNONYM}
    return Passage(tuple(events))


def _ask(rng: random.Random, event: Event) -> tuple[str, str, str]:
    """A question about an event: its word, its text and its answer."""
    asked = rng.choice(("who", "what", "where" if event.place else "when"))
    text = question(replace(event, place="", time=""), asked)
    return asked, sentence(text, "?"), getattr(event, SLOT[asked])


def race(rng: random.Random, pool: WordPool, label: str, degree: Degree) -> Row:
    """A passage, a question and four answers.

    Lexical: all stand in the passage, one is of the kind that is asked for. Relational: one of four
    of that kind stands in the passage. Compositional: others do as well.
    """
    passage = draw_passage(rng, pool)
    asked, text, right = _ask(rng, rng.choice(passage.events))
    others: list[str] = []
    if degree == "lexical":
        for other in (word for word in SORT if word != asked):
            told = [word for word in passage.words(other) if word]
            others.append(rng.choice(told or [pool.word(rng, SORT[other])]))
    elif degree == "compositional":
        others = [word for word in passage.words(asked) if word not in ("", right)]
    while len(others) < 3:
        others.append(pool.word(rng, SORT[asked], (right, *others, *passage.words(asked))))
    rng.shuffle(others)
    place = LETTERS.index(label)
    choices = [f"{np(word).capitalize()}." for word in (*others[:place], right, *others[place:])]
    group = "middle" if rng.random() < (0.6 if degree == "lexical" else 0.3) else "high"
    return Row(passage.text, text, label, tuple(choices), group, degree)


def paragraph(rng: random.Random) -> str:
    """A passage, and two questions about it with their answers."""
    passage = draw_passage(rng, ALL_WORDS, rng.choice((1, 2, 2)))
    lines = [passage.text]
    for _ in range(2):
        _, text, answer = _ask(rng, rng.choice(passage.events))
        lines.append(f"{text} {np(answer).capitalize()}.")
    return " ".join(lines)


def probe_kind(rng: random.Random) -> Probe:
    """An answer of the kind that is asked for."""
    passage = draw_passage(rng, ALL_WORDS, 1)
    asked, text, right = _ask(rng, passage.events[0])
    other = rng.choice([word for word in SORT if word != asked])
    wrong = ALL_WORDS.word(rng, SORT[other], (right,))
    choices = tuple(f"{np(word).capitalize()}." for word in (right, wrong))
    return Probe(f"{passage.text} {text}", choices)


def probe_copying(rng: random.Random) -> Probe:
    """The answer that stands in the passage, not another of its kind."""
    passage = draw_passage(rng, ALL_WORDS)
    asked, text, right = _ask(rng, rng.choice(passage.events))
    wrong = ALL_WORDS.word(rng, SORT[asked], tuple(passage.words(asked)))
    choices = tuple(f"{np(word).capitalize()}." for word in (right, wrong))
    return Probe(f"{passage.text} {text}", choices)


def probe_reading(rng: random.Random) -> Probe:
    """The answer of the event that is asked about, not of another in the passage."""
    while True:
        passage = draw_passage(rng, ALL_WORDS)
        asked, text, right = _ask(rng, rng.choice(passage.events))
        others = [word for word in passage.words(asked) if word not in ("", right)]
        if others:
            break
    choices = tuple(f"{np(word).capitalize()}." for word in (right, rng.choice(others)))
    return Probe(f"{passage.text} {text}", choices)
