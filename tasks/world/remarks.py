"""Remarks on works, natural history, characters and grammar: what one word or its form settles.

SST-2, MRPC and STS-B; SciTail; DPRD; CoLA. Every book teaches grammar; picture books show the forms
that CoLA asks about.
"""

from tasks.world.draw import (
    CATEGORIES,
    DENIED,
    GENDER,
    HYPONYM,
    NEGATORS,
    TRUE_SHARE,
    ClozeItem,
    Draw,
    Row,
    a,
    alive,
    he,
    np,
    plural,
    sentence,
    state,
    verdict,
)
from tasks.world.settings import Degree

OPINIONS = (
    "the {work} of the {who} was {judged}",
    "the {who} found the {work} {judged}",
    "{name} called the {work} {judged}",
    "the {work} by the {who} seemed {judged}",
    "to {name} the {work} was {judged}",
    "the {who} thought the {work} {judged}",
)
CONCESSIONS = (
    "though {conceded} , {main}",
    "{conceded} , but {main}",
    "{main} , though {conceded}",
    "{conceded} , yet {main}",
)
ADVERBS = ("so ", "quite ", "truly ", "really ", "")
FOUND = (
    "{who} looked for {other} , but {he} found {kind}",
    "though {who} looked for {other} , {he} found {kind}",
    "{who} found {kind} , though {he} looked for {other}",
    "{who} wanted {other} , yet {he} found {kind}",
)
VOWELS = tuple("aeiou")
HIMSELF = {"m": "himself", "f": "herself"}
DETERMINERS = {False: ("this", "every"), True: ("these", "many")}  # singular and plural


def sst2(draw: Draw, label: str, degree: Degree) -> Row:
    """A remark in the style of the original file: lower case, spaces around punctuation."""
    return Row(remark(draw, label == "1", degree) + " .")


def remark(draw: Draw, positive: bool, degree: Degree, work: str = "", n: int = 1) -> str:
    """An opinion in n words; or two, of which the conceded one does not count; or a denial.

    In training rows a denial stands alone; books and reported rows also have two, one conceded.
    """
    denied = degree == "compositional"
    if degree == "relational" or (denied and draw.combined()):
        main = opinion(draw, positive != denied, work, denied)
        conceded = opinion(draw, positive if denied else not positive, negated=denied)
        return draw.form(*CONCESSIONS).format(main=main, conceded=conceded)
    return opinion(draw, positive != denied, work, denied, n)


def opinion(draw: Draw, positive: bool, work: str = "", negated: bool = False, n: int = 1) -> str:
    """What somebody thought of a work, in n positive or negative words, which may be negated."""
    how = f"{draw.form(*NEGATORS)} " if negated else draw.choice(ADVERBS)
    link = "or" if negated else "and"
    judged = how + draw.words("positive" if positive else "negative", n, link)
    return draw.form(*OPINIONS).format(
        work=work or draw.word("work"),
        who=draw.word("person"),
        name=draw.word("name"),
        judged=judged,
    )


def mrpc(draw: Draw, label: str, degree: Degree) -> Row:
    """An opinion and how everyone felt: is it the same report?

    Compositional: one of them is a denial; in reported rows both may be.
    """
    positive = draw.random() < 0.5
    first, denied = _first(draw, positive, degree)
    everyone = f"everyone in the {draw.word('place')}"
    second = state(draw, everyone, "mood", positive == (label == "1"), denied)
    return Row(sentence(first), sentence(second))


def _first(draw: Draw, positive: bool, degree: Degree, work: str = "") -> tuple[str, bool]:
    """The first of two texts, and whether the second one is a denial."""
    if degree == "relational":
        return remark(draw, positive, degree, work), False
    _, first, second = draw.reversals(degree, "opinion")
    return opinion(draw, positive != first, work, first), second


def stsb(draw: Draw, label: str, degree: Degree) -> Row:
    """Two opinions; the score is 4 if they agree and 1 more if they are on the same work."""
    positive, agree, alike = (draw.random() < 0.5 for _ in range(3))
    work = draw.word("work")
    first, denied = _first(draw, positive, degree, work)
    other = work if alike else draw.word("work", (work,))
    second = opinion(draw, (positive == agree) != denied, other, denied)
    return Row(sentence(first), sentence(second), f"{4 * agree + alike:.3f}")


def remarks(draw: Draw) -> str:
    """A paragraph: a remark and what follows: a verdict, who liked it, and how everyone felt."""
    positive = draw.random() < 0.5
    degree, judged = draw.degree_and_judged()
    everyone = "everyone" + (f" in the {draw.word('place')}" if draw.random() < 0.3 else "")
    denied = draw.random() < 0.3
    reactions = [
        f"Very {'positive' if positive else 'negative'}.",
        sentence(state(draw, everyone, "mood", positive, denied, 2)),
        sentence(f"{np(draw.who())} {draw.words('love' if positive else 'hate', 2)} it"),
    ]
    if judged:
        agrees = draw.random() < TRUE_SHARE
        reactions = [verdict(_judged(draw, positive == agrees), agrees)]
    else:
        reactions = draw.sample(reactions, 2)
    return " ".join((sentence(remark(draw, positive, degree, n=draw.choice((1, 2)))), *reactions))


def _judged(draw: Draw, positive: bool) -> str:
    """How everyone felt, or another opinion, in two words and perhaps as a denial."""
    denied = draw.random() < DENIED
    if draw.random() < 0.5:
        everyone = f"everyone in the {draw.word('place')}"
        return sentence(state(draw, everyone, "mood", positive, denied, 2))
    return sentence(opinion(draw, positive != denied, negated=denied, n=2))


def cloze_opinion(draw: Draw, degree: Degree) -> ClozeItem:
    """The verdict on an opinion."""
    positive = draw.random() < 0.5
    choices = ("Very positive.", "Very negative.")
    return sentence(remark(draw, positive, degree)), choices if positive else choices[::-1]


def scitail(draw: Draw, label: str, degree: Degree) -> Row:
    """What somebody found, and a claim about what it can do: the living breathe, and things rust.

    Relational: they had looked for something else. Compositional: the claim is a denial; in
    reported rows they may also have looked for something else.
    """
    living, denied = draw.random() < 0.5, degree == "compositional"
    told = "lexical" if denied and not draw.combined() else degree
    fact = found(draw, draw.word("living" if living else "lifeless"), told)
    claim = can(draw, living == (label == "entails"), denied)
    return Row(sentence(fact), sentence(claim))


def can(draw: Draw, living: bool, denied: bool) -> str:
    """What something living or lifeless can do; if `denied`, what it cannot do."""
    return f"it can{'not' * denied} {draw.word('ability' if living != denied else 'mishap')}"


def found(draw: Draw, kind: str, degree: Degree) -> str:
    """A clause that somebody found a kind, and perhaps had looked for another."""
    who = draw.who()
    if degree == "lexical":
        return f"{np(who)} found {a(kind)} in the {draw.word('place')}"
    other = draw.word("lifeless" if alive(kind) else "living")
    return draw.form(*FOUND).format(who=np(who), other=a(other), he=he(who), kind=a(kind))


def kinds(draw: Draw) -> str:
    """A paragraph: what somebody found, what it is, and what it can and cannot do."""
    kind = draw.word("kind")
    degree, judged = draw.degree_and_judged()
    told = found(draw, kind, degree)
    if degree != "lexical":  # so that no 13 consecutive words are a labelled row's
        told += f" in the {draw.word('place')}"
    was = f"It was {a(HYPONYM[kind])}."
    able, unable = ("ability", "mishap") if alive(kind) else ("mishap", "ability")
    does = draw.choice(
        (
            f"It can {draw.words(able, 2)}.",
            f"It can {draw.word(able)} but not {draw.word(unable)}.",
            f"It cannot {draw.words(unable, 2, 'or')}.",
        )
    )
    if judged:
        follows, denied = draw.random() < TRUE_SHARE, draw.random() < DENIED
        does = verdict(sentence(can(draw, alive(kind) == follows, denied)), follows)
    return f"{sentence(told)} {draw.choice((was, does, f'{was} {does}'))}"


def cloze_category(draw: Draw) -> ClozeItem:
    """The category of what was found."""
    kind = draw.word("kind")
    other = draw.choice([category for category in CATEGORIES if category != HYPONYM[kind]])
    context = sentence(found(draw, kind, "lexical")) + " It was"
    return context, (a(HYPONYM[kind]) + ".", a(other) + ".")


def cloze_ability(draw: Draw, degree: Degree) -> ClozeItem:
    """What the kind that was found can do, or cannot."""
    living, denied = draw.random() < 0.5, draw.random() < 0.5
    told = sentence(found(draw, draw.word("living" if living else "lifeless"), degree))
    right, wrong = ("ability", "mishap") if living != denied else ("mishap", "ability")
    return f"{told} It can{'not' * denied}", (draw.word(right), draw.word(wrong))


def _deed(draw: Draw, first: bool) -> tuple[str, str, str, str]:
    """What one person did to several, or the reverse, and whom the reason for it is about.

    Returns the deed, whom the reason is about, how the reason begins with a pronoun ("he was"), and
    the other party. `first`: the reason is about whoever did the deed.
    """
    one = draw.word("person")
    many = draw.word("person", (one,))
    phrases = {f"the {one}": f"{he(one)} was", f"the {plural(many)}": "they were"}
    first_phrase, second = draw.sample(list(phrases), 2)
    about, other = (first_phrase, second) if first else (second, first_phrase)
    deed = f"{first_phrase} {draw.verb('being').past} {second}"
    return deed, about, phrases[about], other


def dprd(draw: Draw, label: str, degree: Degree) -> Row:
    """A deed and its reason, told with a pronoun; `label` is the index of its referent.

    Every row is lexical, whatever degree is asked for: the number of the pronoun settles it.
    """
    deed, about, was, other = _deed(draw, label == "0")
    text = f"{deed} in the {draw.word('place')} because {was} {draw.word('trait')}"
    choices = (about, other) if label == "0" else (other, about)
    return Row(sentence(text), was.split()[0], choices=choices, degree="lexical")


def reasons(draw: Draw) -> str:
    """A paragraph: a deed and its reason, and whom the reason is about."""
    deed, about, was, _ = _deed(draw, draw.random() < 0.5)
    verb, traits = was.split()[1], draw.words("trait", draw.choice((1, 2)))
    named = f"{about} {verb} {traits}"
    told = f"{deed} because {draw.choice((f'{was} {traits}', named))}"
    asked = f"who {verb} {traits}? {sentence(about)}"
    return f"{sentence(told)} {sentence(draw.choice((f'{named}.', asked)), '')}"


def cloze_pronoun(draw: Draw) -> ClozeItem:
    """Whom a reason is about."""
    deed, about, was, other = _deed(draw, draw.random() < 0.5)
    trait = draw.word("trait")
    asked = f"Who {was.split()[1]} {trait}?"
    told = sentence(f"{deed} because {was} {trait}")
    return f"{told} {asked}", (sentence(about), sentence(other))


def cola(draw: Draw, label: str, degree: Degree) -> Row:
    """A sentence that is grammatical or has one error.

    Lexical: determiners or articles do not suit the nouns after them. Relational: a verb or a
    reflexive pronoun does not agree with its subject, with another noun in between. Compositional:
    the second of two verbs does not agree; in reported rows the subject may also have one of the
    lexical rows' determiners.
    """
    makers = {
        "lexical": (_determiner, _article),
        "relational": (_agreement, _reflexive),
        "compositional": (_second_verb,),
    }
    form = draw.choice(makers[degree])
    articles = {kind[0] in VOWELS for group in draw.seen["kind"] for kind in group}
    if form is _article and len(articles) == 1:  # one seed in twenty: the others are held out
        form = _determiner
    return Row(sentence(form(draw, label == "1")))


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
    pair = ["", ""]
    while (pair[0][:1] in VOWELS) == (pair[1][:1] in VOWELS):
        pair = [draw.word("kind"), draw.word("kind")]
    one, two = ("an" if (kind[0] in VOWELS) == good else "a" for kind in pair)
    things = f"{one} {pair[0]} and {two} {pair[1]}"
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


def forms(draw: Draw) -> str:
    """A paragraph: three grammatical sentences of the forms that `cola` asks about."""
    chosen = draw.sample((_determiner, _article, _agreement, _reflexive, _second_verb), 3)
    return " ".join(sentence(form(draw, True)) for form in chosen)


def cloze_agreement(draw: Draw) -> ClozeItem:
    """The number of a verb, which agrees with its subject, with another noun in between."""
    many, verb, thing = draw.random() < 0.5, draw.verb("thing"), a(draw.word("thing"))
    right, wrong = (verb.base, verb.third) if many else (verb.third, verb.base)
    start = sentence(_subject(draw, many), "")
    return start, (f"{right} {thing}.", f"{wrong} {thing}.")


def cloze_reflexive(draw: Draw) -> ClozeItem:
    """The number of a reflexive, which agrees with its subject, with another noun in between."""
    many, who = draw.random() < 0.5, draw.word("person")
    choices = ("themselves.", HIMSELF[GENDER[who]] + ".")
    start = f"{_subject(draw, many, who)} {draw.verb('being').past}"
    return sentence(start, ""), choices if many else choices[::-1]
