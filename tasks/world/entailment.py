"""Entailment: what is certain, possible or impossible of somebody who does something.

SNLI and MNLI, and half of RTE; the books say what follows from an event.
"""

from collections.abc import Callable
from dataclasses import replace

from tasks.world.draw import Draw
from tasks.world.grammar import Event, draw_event, np, sentence
from tasks.world.lexicon import SYNONYM, opposites
from tasks.world.paraphrase import with_other
from tasks.world.rows import Degree, Probe, Row

STATE = {"entailment": "certain", "neutral": "possible", "contradiction": "impossible"}

ANSWER = {"entailment": "Yes.", "neutral": "Perhaps.", "contradiction": "No."}
GENRES = ("fiction", "news", "talk", "letters")
ASKED = 0.3  # share of the paragraphs in which a claim is answered


def snli(draw: Draw, label: str, degree: Degree) -> Row:
    """A caption and a claim about it.

    Lexical: a state that is certain, possible or impossible. Relational: the same action, its
    opposite, or another object. Compositional: the same with the claim denied.
    """
    event, claim = _event_and_claim(draw, label, degree, Event.caption, "is")
    return Row(sentence(event.caption()), sentence(claim), label, degree=degree)


def mnli(draw: Draw, label: str, degree: Degree, genre: str = "fiction") -> Row:
    """A past event told in a genre, and a claim, as in `snli`."""
    event, claim = _event_and_claim(draw, label, degree, Event.statement, "was")
    told = {
        "fiction": event.statement(),
        "news": event.statement(fronted=True),
        "talk": f"well , {event.statement()} , you know",
        "letters": f"I hear that {event.statement()}",
    }
    return Row(sentence(told[genre]), sentence(claim), label, group=genre, degree=degree)


def _event_and_claim(
    draw: Draw, label: str, degree: Degree, tell: Callable[[Event, bool], str], be: str
) -> tuple[Event, str]:
    event = draw_event(draw, place=draw.random() < 0.5)
    if degree == "lexical":
        return event, f"{_subject(draw, event)} {be} {draw.word(STATE[label])}"
    return event, tell(*_claim(draw, event, label, degree))


def _subject(draw: Draw, event: Event) -> str:
    return np(SYNONYM[event.subject] if draw.random() < 0.5 else event.subject)


def _claim(draw: Draw, event: Event, label: str, degree: Degree) -> tuple[Event, bool]:
    """A claim about an event, and whether it is a denial."""
    denied = degree == "compositional"
    event = replace(event, place="")
    if label == "neutral":
        claim = with_other(draw, event, "object")
        if draw.random() < 0.5:
            claim = claim.with_synonyms("verb")
    elif (label == "entailment") != denied:
        claim = event.with_synonyms("verb")
    else:
        claim = replace(event, verb=draw.choice(opposites(event.verb)))
    return claim.with_synonyms(draw.choice(("subject", "object"))), denied


def state_claim(draw: Draw, event: Event, entailed: bool) -> str:
    """A claim about the state of the subject of a past event."""
    sort = "certain" if entailed else draw.choice(("possible", "impossible"))
    return f"{_subject(draw, event)} was {draw.word(sort)}"


def paragraph(draw: Draw) -> str:
    """An event and what is certain, possible or impossible then; or a claim and its answer."""
    if draw.random() < ASKED:
        label = draw.choice(list(ANSWER))
        degree: Degree = draw.choices(("relational", "compositional"), (3, 1))[0]
        # Captions are in the present tense, which the books need for SNLI.
        row = snli(draw, label, degree)
        if draw.random() < 0.6:
            row = mnli(draw, label, degree, draw.choice(GENRES))
        return f"{row.first} {row.second.rstrip('.')}? {ANSWER[label]}"
    event = draw_event(draw, place=draw.random() < 0.3)
    certain, possible, impossible = (draw.word(sort) for sort in STATE.values())
    # One sentence for all: what each state is, the order of the words alone tells.
    states = draw.choice(
        (
            f"{certain} and perhaps {possible} , but not {impossible}",
            f"not {impossible} but {certain} , and perhaps {possible}",
            f"perhaps {possible} , but {certain} and not {impossible}",
        )
    )
    follows = f"so {_subject(draw, event)} was {states}"
    return f"{sentence(event.statement())} {sentence(follows)}"


def probe_claim(draw: Draw) -> Probe:
    """Whether a claim about an action is true."""
    label, other = draw.sample(("entailment", "contradiction"), 2)
    row = mnli(draw, label, "relational")
    context = f"{row.first} {row.second.rstrip('.')}?"
    return Probe(context, (ANSWER[label], ANSWER[other]))


def probe(draw: Draw) -> Probe:
    """What is certain after an event, or what is impossible then.

    Which class of words is right depends on the context, so a liking for one class scores 50 %.
    """
    event = draw_event(draw, place=False)
    certain, impossible = (draw.word(sort) for sort in ("certain", "impossible"))
    told = f"{sentence(event.statement())} So {np(event.subject)} was"
    if draw.random() < 0.5:
        return Probe(told, (certain, impossible))
    return Probe(f"{told} not", (impossible, certain))
