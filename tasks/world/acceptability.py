"""Acceptability, whether a sentence is grammatical: CoLA.

Every book teaches it; a picture book shows its forms.
"""

from tasks.world.draw import Draw
from tasks.world.grammar import draw_event, np, sentence
from tasks.world.lexicon import GENDER, VERBS, a, plural
from tasks.world.rows import Degree, Probe, Row

VOWELS = tuple("aeiou")


def cola(draw: Draw, label: str, degree: Degree) -> Row:
    """A sentence that is grammatical or has one error.

    Lexical: two determiners or articles do not suit their nouns. Relational: a verb or a reflexive
    pronoun does not agree. Compositional: an auxiliary or the order of the words is wrong.
    """
    forms = {
        "lexical": (_determiner, _article),
        "relational": (_agreement, _reflexive),
        "compositional": (_auxiliary, _order),
    }
    form = draw.choice(forms[degree])
    return Row(sentence(form(draw, label == "1")), label=label, degree=degree)


def _determiner(draw: Draw, good: bool) -> str:
    """One determiner of each number, so that only their places can be wrong."""
    event, many = draw_event(draw, "thing"), draw.random() < 0.5
    dets = [draw.choice(("this", "every")), draw.choice(("these", "many"))]
    first, second = dets[::-1] if many else dets
    one = plural(event.subject) if many == good else event.subject
    two = event.object if many == good else plural(event.object)
    verb = VERBS[event.verb].past
    return f"{first} {one} {verb} {second} {two}{event.where_and_when()}"


def _article(draw: Draw, good: bool) -> str:
    """Both articles, so that only their places can be wrong."""
    event, kinds = draw_event(draw, "thing"), ["", ""]
    while (kinds[0][:1] in VOWELS) == (kinds[1][:1] in VOWELS):
        kinds = [draw.word("kind"), draw.word("kind")]
    one, two = ("an" if (kind[0] in VOWELS) == good else "a" for kind in kinds)
    things = f"{one} {kinds[0]} and {two} {kinds[1]}"
    return f"{np(event.subject)} {VERBS[event.verb].past} {things}{event.where_and_when()}"


def _agreement(draw: Draw, good: bool) -> str:
    event, many = draw_event(draw), draw.random() < 0.5
    subject = f"these {plural(event.subject)}" if many else f"this {event.subject}"
    verb = VERBS[event.verb].base if many == good else VERBS[event.verb].third
    return f"{subject} {verb} {np(event.object)}{event.where_and_when()}"


def _reflexive(draw: Draw, good: bool) -> str:
    event = draw_event(draw, "being")
    pronoun = "himself" if (GENDER[event.subject] == "m") == good else "herself"
    return f"{np(event.subject)} {VERBS[event.verb].past} {pronoun}{event.where_and_when()}"


def _auxiliary(draw: Draw, good: bool) -> str:
    event = draw_event(draw)
    form = VERBS[event.verb].base if good else VERBS[event.verb].past
    return f"{np(event.subject)} did not {form} {np(event.object)}{event.where_and_when()}"


def _order(draw: Draw, good: bool) -> str:
    event = draw_event(draw)
    subject, verb, thing = np(event.subject), VERBS[event.verb].past, np(event.object)
    where = f"in the {event.place}"
    if good:
        return f"{subject} {verb} {thing} {where}"
    return draw.choice(
        (
            f"{subject} {thing} {verb} {where}",
            f"{verb} {subject} {thing} {where}",
            f"{subject} {verb} {event.object} the {where}",
            f"{subject} {verb} {thing} the in {event.place}",
        )
    )


def paragraph(draw: Draw) -> str:
    """Three sentences of the forms that `cola` asks about, all right."""
    forms = draw.sample((_determiner, _article, _agreement, _reflexive, _auxiliary, _order), 3)
    return " ".join(sentence(form(draw, True)) for form in forms)


def probe(draw: Draw) -> Probe:
    """The sentence that is right: the verb agrees with its noun."""
    subject, many = draw.word("person"), draw.random() < 0.5
    verb = VERBS[draw.verb()]
    start = f"These {plural(subject)}" if many else f"This {subject}"
    forms = (verb.base, verb.third) if many else (verb.third, verb.base)
    thing = a(draw.word("thing"))
    return Probe(start, (f"{forms[0]} {thing}.", f"{forms[1]} {thing}."))
