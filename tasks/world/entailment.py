"""Entailment: what is certain, possible or impossible of somebody who does something.

SNLI and MNLI, and half of RTE; the books say what follows from an event.
"""

import random
from dataclasses import replace

from tasks.world.grammar import Event, caption, draw_event, np, sentence, statement, use_synonyms
from tasks.world.lexicon import SYNONYM, opposites
from tasks.world.paraphrase import with_other
from tasks.world.rows import Degree, Probe, Row
from tasks.world.word_pool import ALL_WORDS, WordPool

STATE = {"entailment": "certain", "neutral": "possible", "contradiction": "impossible"}

ANSWER = {"entailment": "Yes.", "neutral": "Perhaps.", "contradiction": "No."}
GENRES = ("fiction", "news", "talk", "letters")
ASKED = 0.3  # share of the paragraphs in which a claim is answered


def snli(rng: random.Random, pool: WordPool, label: str, degree: Degree) -> Row:
    """A caption and a claim about it.

    Lexical: a state that is certain, possible or impossible. Relational: the same action, its
    opposite, or another object. Compositional: the same with the claim denied.
    """
    event = draw_event(rng, pool, place=rng.random() < 0.5)
    if degree == "lexical":
        claim = f"{_subject(rng, event)} is {pool.word(rng, STATE[label])}"
    else:
        claim = caption(*_claim(rng, pool, event, label, degree))
    return Row(sentence(caption(event)), sentence(claim), label, degree=degree)


def mnli(
    rng: random.Random, pool: WordPool, label: str, degree: Degree, genre: str = "fiction"
) -> Row:
    """A past event told in a genre, and a claim, as in `snli`."""
    event = draw_event(rng, pool, place=rng.random() < 0.5)
    if degree == "lexical":
        claim = f"{_subject(rng, event)} was {pool.word(rng, STATE[label])}"
    else:
        claim = statement(*_claim(rng, pool, event, label, degree))
    told = {
        "fiction": statement(event),
        "news": statement(event, fronted=True),
        "talk": f"well , {statement(event)} , you know",
        "letters": f"I hear that {statement(event)}",
    }
    return Row(sentence(told[genre]), sentence(claim), label, group=genre, degree=degree)


def _subject(rng: random.Random, event: Event) -> str:
    return np(SYNONYM[event.subject] if rng.random() < 0.5 else event.subject)


def _claim(
    rng: random.Random, pool: WordPool, event: Event, label: str, degree: Degree
) -> tuple[Event, bool]:
    """A claim about an event, and whether it is a denial."""
    denied = degree == "compositional"
    event = replace(event, place="")
    if label == "neutral":
        claim = with_other(rng, pool, event, "object")
        if rng.random() < 0.5:
            claim = use_synonyms(claim, "verb")
    elif (label == "entailment") != denied:
        claim = use_synonyms(event, "verb")
    else:
        claim = replace(event, verb=rng.choice(opposites(event.verb)))
    return use_synonyms(claim, rng.choice(("subject", "object"))), denied


def state_claim(rng: random.Random, pool: WordPool, event: Event, entailed: bool) -> str:
    """A claim about the state of the subject of a past event."""
    sort = "certain" if entailed else rng.choice(("possible", "impossible"))
    return f"{_subject(rng, event)} was {pool.word(rng, sort)}"


def paragraph(rng: random.Random) -> str:
    """An event and what is certain, possible or impossible then; or a claim and its answer."""
    if rng.random() < ASKED:
        label = rng.choice(list(ANSWER))
        degree: Degree = rng.choices(("relational", "compositional"), (3, 1))[0]
        # Captions are in the present tense, which the books need for SNLI.
        row = snli(rng, ALL_WORDS, label, degree)
        if rng.random() < 0.6:
            row = mnli(rng, ALL_WORDS, label, degree, rng.choice(GENRES))
        return f"{row.first} {row.second.rstrip('.')}? {ANSWER[label]}"
    event = draw_event(rng, ALL_WORDS, place=rng.random() < 0.3)
    certain, possible, impossible = (ALL_WORDS.word(rng, sort) for sort in STATE.values())
    # One sentence for all: what each state is, the order of the words alone tells.
    states = rng.choice(
        (
            f"{certain} and perhaps {possible} , but not {impossible}",
            f"not {impossible} but {certain} , and perhaps {possible}",
            f"perhaps {possible} , but {certain} and not {impossible}",
        )
    )
    follows = f"so {_subject(rng, event)} was {states}"
    return f"{sentence(statement(event))} {sentence(follows)}"


def probe_claim(rng: random.Random) -> Probe:
    """Whether a claim about an action is true."""
    label, other = rng.sample(("entailment", "contradiction"), 2)
    row = mnli(rng, ALL_WORDS, label, "relational")
    context = f"{row.first} {row.second.rstrip('.')}?"
    return Probe(context, (ANSWER[label], ANSWER[other]))


def probe(rng: random.Random) -> Probe:
    """What is certain after an event, or what is impossible then.

    Which class of words is right hangs on the context, so liking one of them gives 50 %.
    """
    event = draw_event(rng, ALL_WORDS, place=False)
    certain, impossible = (ALL_WORDS.word(rng, sort) for sort in ("certain", "impossible"))
    told = f"{sentence(statement(event))} So {np(event.subject)} was"
    if rng.random() < 0.5:
        return Probe(told, (certain, impossible))
    return Probe(f"{told} not", (impossible, certain))
