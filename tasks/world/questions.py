"""Questions and where their answers stand: QNLI and RACE, and the readers among the books."""

from dataclasses import dataclass, replace

from tasks.world.draw import Draw
from tasks.world.grammar import Event, draw_event, np, sentence
from tasks.world.lexicon import SYNONYM, a
from tasks.world.paraphrase import renamed, with_other
from tasks.world.rows import Degree, Probe, Row

SLOT = {"who": "subject", "what": "object", "where": "place", "when": "time"}
SORT = {"who": "person", "what": "thing", "where": "place", "when": "time"}
LETTERS = "ABCD"
HAPPY_SHARE = 0.8  # of the questions why somebody felt so: news alone tells something
ANSWERED = 0.3  # share of the paragraphs in which a sentence answers a question


def qnli(draw: Draw, label: str, degree: Degree) -> Row:
    """A question, and a sentence that answers it or not.

    Lexical: good news answers why somebody was happy. Relational: a sentence that does not answer
    is about another object. Compositional: in other words, and it may also tell the time where the
    place is asked for, or the reverse.
    """
    right = label == "entailment"
    if degree == "lexical":
        return _why(draw, right)
    asked = draw.choice(("where", "when"))
    event = draw_event(draw, "thing", place=asked == "where", time=asked == "when")
    answer = renamed(draw, event) if degree == "compositional" else event
    if not right and degree == "compositional" and draw.random() < 0.5:
        answer = replace(answer, place="", time="")
        if asked == "where":
            answer = replace(answer, time=draw.word("time"))
        else:
            answer = replace(answer, place=draw.word("place"))
    elif not right:
        answer = with_other(draw, answer, "object")
    asking = replace(event, place="", time="").question(asked)
    return Row(sentence(asking, "?"), sentence(answer.statement()), label, degree=degree)


def _why(draw: Draw, right: bool) -> Row:
    """Why somebody was happy or sad, and news that is a reason for it or not."""
    happy, who = draw.random() < HAPPY_SHARE, draw.word("name")
    first = f"why {draw.choice(('was', 'did'))} {who}"
    first += f"{' feel' if ' did ' in first else ''} {draw.word('happy' if happy else 'sad')}"
    news = draw.word("gain" if happy == right else "loss")
    second = f"{who} {news} {a(draw.word('thing'))} in the {draw.word('place')}"
    label = "entailment" if right else "not_entailment"
    return Row(sentence(first, "?"), sentence(second), label, degree="lexical")


@dataclass(frozen=True)
class Passage:
    """Events, told in order, no two of which share a word or a synonym of one.

    Every other one has a place, and the rest a time.
    """

    events: tuple[Event, ...]

    @property
    def text(self) -> str:
        """The passage as it is read."""
        return " ".join(sentence(event.statement()) for event in self.events)

    def answers(self, asked: str) -> list[str]:
        """What the events answer to who, what, where or when."""
        told = (getattr(event, SLOT[asked]) for event in self.events)
        return [word for word in told if word]


def draw_passage(draw: Draw, n: int = 2) -> Passage:
    """Draw a passage of n events."""
    events: list[Event] = []
    known: set[str] = set()
    first = draw.randrange(2)
    while len(events) < n:
        place = len(events) % 2 == first
        event = draw_event(draw, "thing", place=place, time=not place)
        told = {getattr(event, slot) for slot in ("verb", *SLOT.values())} - {""}
        if not known & told:
            events.append(event)
            known |= told | {SYNONYM[word] for word in told if word in SYNONYM}
    return Passage(tuple(events))


def answer(asked: str, word: str) -> str:
    """The short answer to who, what, where or when."""
    phrase = f"in the {word}" if asked in ("where", "when") else np(word)
    return sentence(phrase)


def _ask(draw: Draw, event: Event) -> tuple[str, str, str]:
    """A question about an event: its word, its text and its answer."""
    asked = draw.choice(("who", "what", "where" if event.place else "when"))
    text = replace(event, place="", time="").question(asked)
    return asked, sentence(text, "?"), getattr(event, SLOT[asked])


def race(draw: Draw, label: str, degree: Degree) -> Row:
    """A passage, a question and four answers.

    Lexical: all stand in the passage, one is of the kind that is asked for. Relational: one of four
    of that kind stands in the passage. Compositional: others do as well.
    """
    passage = draw_passage(draw)
    asked, text, right = _ask(draw, draw.choice(passage.events))
    told = passage.answers(asked)
    while degree == "compositional" and len(told) < 2:
        asked, text, right = _ask(draw, draw.choice(passage.events))
        told = passage.answers(asked)
    others: list[str] = []
    if degree == "lexical":
        kinds = [word for word in SLOT if word != asked]
        others = [answer(kind, draw.choice(passage.answers(kind))) for kind in kinds]
    elif degree == "compositional":
        others = [answer(asked, word) for word in told if word != right]
    while len(others) < 3:
        word = draw.word(SORT[asked], (right, *told))
        others += {answer(asked, word)} - {*others}
    draw.shuffle(others)
    place = LETTERS.index(label)
    choices = [*others[:place], answer(asked, right), *others[place:]]
    group = "middle" if draw.random() < (0.6 if degree == "lexical" else 0.3) else "high"
    return Row(passage.text, text, label, tuple(choices), group, degree)


def paragraph(draw: Draw) -> str:
    """A passage and two questions about it with their answers; or a question and its answer."""
    if draw.random() < ANSWERED:
        degree: Degree = draw.choice(("lexical", "lexical", "relational", "compositional"))
        row = qnli(draw, "entailment", degree)
        return f"{row.first} {row.second}"
    passage = draw_passage(draw, draw.choice((1, 2, 2)))
    lines = [passage.text]
    for _ in range(2):
        asked, text, right = _ask(draw, draw.choice(passage.events))
        lines.append(f"{text} {answer(asked, right)}")
    return " ".join(lines)


def probe_kind(draw: Draw) -> Probe:
    """An answer of the kind that is asked for."""
    passage = draw_passage(draw, 1)
    asked, text, right = _ask(draw, passage.events[0])
    other = draw.choice([word for word in SORT if word != asked])
    wrong = draw.word(SORT[other], (right,))
    return Probe(f"{passage.text} {text}", (answer(asked, right), answer(other, wrong)))


def probe_copying(draw: Draw) -> Probe:
    """The answer that stands in the passage, not another of its kind."""
    passage = draw_passage(draw)
    asked, text, right = _ask(draw, draw.choice(passage.events))
    wrong = draw.word(SORT[asked], tuple(passage.answers(asked)))
    return Probe(f"{passage.text} {text}", (answer(asked, right), answer(asked, wrong)))


def probe_reading(draw: Draw) -> Probe:
    """The answer of the event that is asked about, not of another in the passage."""
    while True:
        passage = draw_passage(draw)
        asked, text, right = _ask(draw, draw.choice(passage.events))
        others = [word for word in passage.answers(asked) if word != right]
        if others:
            break
    wrong = draw.choice(others)
    return Probe(f"{passage.text} {text}", (answer(asked, right), answer(asked, wrong)))
