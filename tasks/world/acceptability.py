"""Acceptability, whether a sentence is grammatical: CoLA.

Every book teaches it; a picture book shows its forms.
"""

import random

from tasks.world.grammar import draw_event, np, sentence, where_and_when
from tasks.world.lexicon import GENDER, VERBS, a, plural
from tasks.world.rows import Degree, Probe, Row
from tasks.world.word_pool import ALL_WORDS, WordPool

VOWELS = tuple("aeiou")


def cola(rng: random.Random, pool: WordPool, label: str, degree: Degree) -> Row:
    """A sentence that is grammatical or has one error.

    Lexical: two determiners or articles do not suit their nouns. Relational: a verb or a reflexive
    pronoun does not agree. Compositional: an auxiliary or the order of the words is wrong.
    """
    forms = {
        "lexical": (_determiner, _article),
        "relational": (_agreement, _reflexive),
        "compositional": (_auxiliary, _order),
    }
    form = rng.choice(forms[degree])
    return Row(sentence(form(rng, pool, label == "1")), label=label, degree=degree)


def _determiner(rng: random.Random, pool: WordPool, good: bool) -> str:
    """One determiner of each number, so that only their places can be wrong."""
    event, many = draw_event(rng, pool, "thing"), rng.random() < 0.5
    dets = [rng.choice(("this", "every")), rng.choice(("these", "many"))]
    first, second = dets[::-1] if many else dets
    one = plural(event.subject) if many == good else event.subject
    two = event.object if many == good else plural(event.object)
    verb = VERBS[event.verb].past
    return f"{first} {one} {verb} {second} {two}{where_and_when(event)}"


def _article(rng: random.Random, pool: WordPool, good: bool) -> str:
    """Both articles, so that only their places can be wrong."""
    event, kinds = draw_event(rng, pool, "thing"), ["", ""]
    while (kinds[0][:1] in VOWELS) == (kinds[1][:1] in VOWELS):
        kinds = [pool.word(rng, "kind"), pool.word(rng, "kind")]
    one, two = ("an" if (kind[0] in VOWELS) == good else "a" for kind in kinds)
    things = f"{one} {kinds[0]} and {two} {kinds[1]}"
    return f"{np(event.subject)} {VERBS[event.verb].past} {things}{where_and_when(event)}"


def _agreement(rng: random.Random, pool: WordPool, good: bool) -> str:
    event, many = draw_event(rng, pool), rng.random() < 0.5
    subject = f"these {plural(event.subject)}" if many else f"this {event.subject}"
    verb = VERBS[event.verb].base if many == good else VERBS[event.verb].third
    return f"{subject} {verb} {np(event.object)}{where_and_when(event)}"


def _reflexive(rng: random.Random, pool: WordPool, good: bool) -> str:
    event = draw_event(rng, pool, "being")
    pronoun = "himself" if (GENDER[event.subject] == "m") == good else "herself"
    return f"{np(event.subject)} {VERBS[event.verb].past} {pronoun}{where_and_when(event)}"


def _auxiliary(rng: random.Random, pool: WordPool, good: bool) -> str:
    event = draw_event(rng, pool)
    form = VERBS[event.verb].base if good else VERBS[event.verb].past
    return f"{np(event.subject)} did not {form} {np(event.object)}{where_and_when(event)}"


def _order(rng: random.Random, pool: WordPool, good: bool) -> str:
    event = draw_event(rng, pool)
    subject, verb, thing = np(event.subject), VERBS[event.verb].past, np(event.object)
    where = f"in the {event.place}"
    if good:
        return f"{subject} {verb} {thing} {where}"
    return rng.choice(
        (
            f"{subject} {thing} {verb} {where}",
            f"{verb} {subject} {thing} {where}",
            f"{subject} {verb} {event.object} the {where}",
            f"{subject} {verb} {thing} the in {event.place}",
        )
    )


def paragraph(rng: random.Random) -> str:
    """Three sentences of the forms that `cola` asks about, all right."""
    forms = rng.sample((_determiner, _article, _agreement, _reflexive, _auxiliary, _order), 3)
    return " ".join(sentence(form(rng, ALL_WORDS, True)) for form in forms)


def probe(rng: random.Random) -> Probe:
    """The sentence that is right: the verb agrees with its noun."""
    subject, many = ALL_WORDS.word(rng, "person"), rng.random() < 0.5
    verb = VERBS[ALL_WORDS.verb(rng)]
    start = f"These {plural(subject)}" if many else f"This {subject}"
    forms = (verb.base, verb.third) if many else (verb.third, verb.base)
    thing = a(ALL_WORDS.word(rng, "thing"))
    return Probe(start, (f"{forms[0]} {thing}.", f"{forms[1]} {thing}."))
