"""Taxonomy: what can a kind do? SciTail, and the natural history of the books."""

from tasks.prompt import CLAIM
from tasks.world.draw import IN_VERDICTS, Degree, Draw
from tasks.world.feelings import DENIED, JUDGED, VERDICTS, is_so
from tasks.world.grammar import np, sentence
from tasks.world.lexicon import CATEGORIES, HYPONYM, a, alive, he
from tasks.world.rows import ClozeItem, Row

FOUND = (
    "{who} looked for {other} , but {he} found {kind}",
    "though {who} looked for {other} , {he} found {kind}",
    "{who} found {kind} , though {he} looked for {other}",
    "{who} wanted {other} , yet {he} found {kind}",
)


def scitail(draw: Draw, label: str, degree: Degree) -> Row:
    """What somebody found, and a claim about what it can do: the living breathe, and things rust.

    Relational: they had looked for something else. Compositional: the claim is a denial; in
    reported rows they may also have looked for something else.
    """
    living, denied = draw.random() < 0.5, degree == "compositional"
    told = "lexical" if denied and not draw.combined() else degree
    fact = found(draw, draw.word("living" if living else "lifeless"), told)
    claim = can(draw, living == (label == "entails"), denied)
    return Row(sentence(fact), sentence(claim), label, degree=degree)


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


def paragraph(draw: Draw) -> str:
    """What somebody found, what it is, and what it can and cannot do."""
    kind, judged = draw.word("kind"), draw.random() < JUDGED
    degree = draw.degree(IN_VERDICTS) if judged else draw.degree()
    told = found(draw, kind, degree)
    if degree != "lexical":  # so that no 13 consecutive words are a labelled row's
        told += f" in the {draw.word('place')}"
    was = f"It was {a(HYPONYM[kind])}."
    does = _can(draw, alive(kind))
    if judged:
        follows, denied = is_so(draw), draw.random() < DENIED
        does = f"{CLAIM} {sentence(can(draw, alive(kind) == follows, denied))} {VERDICTS[follows]}"
    return f"{sentence(told)} {draw.choice((was, does, f'{was} {does}'))}"


def _can(draw: Draw, living: bool) -> str:
    can, cannot = ("ability", "mishap") if living else ("mishap", "ability")
    return draw.choice(
        (
            f"It can {draw.words(can, 2)}.",
            f"It can {draw.word(can)} but not {draw.word(cannot)}.",
            f"It cannot {draw.words(cannot, 2, 'or')}.",
        )
    )


def cloze_category(draw: Draw) -> ClozeItem:
    """The category of what was found."""
    kind = draw.word("kind")
    other = draw.choice([category for category in CATEGORIES if category != HYPONYM[kind]])
    context = sentence(found(draw, kind, "lexical")) + " It was"
    return ClozeItem(context, (a(HYPONYM[kind]) + ".", a(other) + "."))


def cloze_ability(draw: Draw, degree: Degree) -> ClozeItem:
    """What the kind that was found can do, or cannot."""
    living, denied = draw.random() < 0.5, draw.random() < 0.5
    told = sentence(found(draw, draw.word("living" if living else "lifeless"), degree))
    right, wrong = ("ability", "mishap") if living != denied else ("mishap", "ability")
    return ClozeItem(f"{told} It can{'not' * denied}", (draw.word(right), draw.word(wrong)))
