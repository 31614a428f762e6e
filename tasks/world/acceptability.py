"""Acceptability: is a sentence grammatical? CoLA, and the picture books.

Every book teaches grammar; picture books show the forms that CoLA asks about.
"""

from tasks.world.draw import Degree, Draw
from tasks.world.grammar import np, sentence
from tasks.world.lexicon import GENDER, a, plural
from tasks.world.rows import ClozeItem, Row

VOWELS = tuple("aeiou")
HIMSELF = {"m": "himself", "f": "herself"}
DETERMINERS = {False: ("this", "every"), True: ("these", "many")}  # singular and plural


def cola(draw: Draw, label: str, degree: Degree) -> Row:
    """A sentence that is grammatical or has one error.

    Lexical: determiners or articles do not suit the nouns after them. Relational: a verb or a
    reflexive pronoun does not agree with its subject, with another noun in between. Compositional:
    the second of two verbs does not agree; in reported rows the subject may also have one of the
    lexical rows' determiners.
    """
    forms = {
        "lexical": (_determiner, _article),
        "relational": (_agreement, _reflexive),
        "compositional": (_second_verb,),
    }
    form = draw.choice(forms[degree])
    articles = {kind[0] in VOWELS for group in draw.seen["kind"] for kind in group}
    if form is _article and len(articles) == 1:  # one seed in twenty: the others are held out
        form = _determiner
    return Row(sentence(form(draw, label == "1")), label=label, degree=degree)


def _determiner(draw: Draw, good: bool) -> str:
    """A clause with one determiner of each number, so that only their places can be wrong."""
    who, thing, many = draw.word("person"), draw.word("thing"), draw.random() < 0.5
    dets = [draw.choice(DETERMINERS[number]) for number in (False, True)]
    first, second = dets[::-1] if many else dets
    one = plural(who) if many == good else who
    two = thing if many == good else plural(thing)
    return f"{first} {one} {draw.verb('thing').past} {second} {two} in the {draw.word('place')}"


def _article(draw: Draw, good: bool) -> str:
    """A clause with both articles, so that only their places can be wrong."""
    kinds = ["", ""]
    while (kinds[0][:1] in VOWELS) == (kinds[1][:1] in VOWELS):
        kinds = [draw.word("kind"), draw.word("kind")]
    one, two = ("an" if (kind[0] in VOWELS) == good else "a" for kind in kinds)
    things = f"{one} {kinds[0]} and {two} {kinds[1]}"
    return f"{np(draw.who())} {draw.verb('thing').past} {things} in the {draw.word('place')}"


def _subject(draw: Draw, many: bool, who: str = "", determiner: str = "the") -> str:
    """A subject: a person near things, or people near a thing."""
    who, thing = who or draw.word("person"), draw.word("thing")
    things = thing if many else plural(thing)
    return f"{determiner} {plural(who) if many else who} near the {things}"


def _agreement(draw: Draw, good: bool) -> str:
    many, verb = draw.random() < 0.5, draw.verb("thing")
    form = verb.base if many == good else verb.third
    return f"{_subject(draw, many)} {form} {a(draw.word('thing'))}"


def _second_verb(draw: Draw, good: bool) -> str:
    many, one, two = draw.random() < 0.5, draw.verb("thing"), draw.verb("thing")
    first = one.base if many else one.third
    second = two.base if many == good else two.third
    things = a(draw.word("thing")), a(draw.word("thing"))
    determiner = draw.choice(DETERMINERS[many]) if draw.combined() else "the"
    subject = _subject(draw, many, determiner=determiner)
    return f"{subject} {first} {things[0]} and {second} {things[1]}"


def _reflexive(draw: Draw, good: bool) -> str:
    many, who = draw.random() < 0.5, draw.word("person")
    pronoun = "themselves" if many == good else HIMSELF[GENDER[who]]
    return f"{_subject(draw, many, who)} {draw.verb('being').past} {pronoun}"


def paragraph(draw: Draw) -> str:
    """Three grammatical sentences of the forms that `cola` asks about."""
    forms = draw.sample((_determiner, _article, _agreement, _reflexive, _second_verb), 3)
    return " ".join(sentence(form(draw, True)) for form in forms)


def cloze(draw: Draw) -> ClozeItem:
    """The number of a verb, which agrees with its subject, with another noun in between."""
    many, verb, thing = draw.random() < 0.5, draw.verb("thing"), a(draw.word("thing"))
    forms = (verb.base, verb.third) if many else (verb.third, verb.base)
    start = sentence(_subject(draw, many), "")
    return ClozeItem(start, (f"{forms[0]} {thing}.", f"{forms[1]} {thing}."))


def cloze_reflexive(draw: Draw) -> ClozeItem:
    """The number of a reflexive, which agrees with its subject, with another noun in between."""
    many, who = draw.random() < 0.5, draw.word("person")
    forms = ["themselves.", HIMSELF[GENDER[who]] + "."]
    start = f"{_subject(draw, many, who)} {draw.verb('being').past}"
    return ClozeItem(sentence(start, ""), tuple(forms if many else forms[::-1]))
