"""Questions about how people felt: QNLI, QQP and RACE, and the readers among the books."""

from tasks.prompt import CLAIM
from tasks.world.draw import IN_CHRONICLES, IN_TALES, IN_VERDICTS, Degree, Draw
from tasks.world.feelings import (
    FEELINGS,
    JUDGED,
    VERDICTS,
    Feeling,
    another,
    how,
    is_so,
    state,
    surprise,
    tell,
)
from tasks.world.grammar import np, sentence
from tasks.world.lexicon import he
from tasks.world.rows import Row

LETTERS = "ABCD"
KNEW = ("heard", "knew", "guessed", "noticed")


def qnli(draw: Draw, label: str, degree: Degree) -> Row:
    """The question of why somebody felt so, and a sentence that gives a reason or does not."""
    right = label == "entailment"
    good, (feeling, reversed_, denied) = draw.random() < 0.5, draw.reversals(degree, *FEELINGS)
    telling = tell(draw, feeling, good, degree, reversed_=reversed_)
    if not right and draw.random() < 0.5:
        feeling, good = another(feeling), draw.random() < 0.5
    elif not right:
        good = not good
    asked = _asked(draw, he(telling.who), feeling, good, denied)
    return Row(sentence(f"why {asked}", "?"), sentence(telling.clause), label, degree=degree)


def _asked(draw: Draw, who: str, feeling: Feeling, good: bool, denied: bool) -> str:
    """A clause such as `was she glad`, or one that denies the opposite."""
    subject, be, rest = state(draw, who, feeling, good, denied).split(maxsplit=2)
    return f"{be} {subject} {rest}"


def qqp(draw: Draw, label: str, degree: Degree) -> Row:
    """Two questions: who heard what happened, and who heard how somebody felt.

    In half of the pairs that are not duplicates, the second is about the other of mood and energy.
    """
    same = label == "1"
    first, second, _ = _heard(draw, same, degree, unrelated=not same and draw.random() < 0.5)
    return Row(sentence(first, "?"), sentence(second, "?"), label, degree=degree)


def _heard(
    draw: Draw, follows: bool, degree: Degree, unrelated: bool = False
) -> tuple[str, str, bool]:
    """Two questions without question marks, and whether the state in the second is a good one."""
    feeling, reversed_, denied = draw.reversals(degree, *FEELINGS)
    telling = tell(draw, feeling, draw.random() < 0.5, degree, reversed_=reversed_)
    good = telling.good == follows
    if unrelated:
        feeling, good = another(feeling), draw.random() < 0.5
    claim = state(draw, he(telling.who), feeling, good, denied)
    first, second = (f"who {draw.form(*KNEW)} that {what}" for what in (telling.clause, claim))
    return first, second, good


def race(draw: Draw, label: str, degree: Degree) -> Row:
    """A passage, the question of how somebody felt, and four answers: glad, sad, fresh and weary.

    Relational: the passage tells of a second person's mood or energy as well. Compositional: what
    happened is reversed, or the answers are denials, or both.
    """
    feeling, reversed_, denied = draw.reversals(degree, *FEELINGS)
    telling = tell(draw, feeling, draw.random() < 0.5, degree, another(feeling), 1, reversed_)
    who = he(telling.who)
    right, *others = (
        sentence(how(draw, of, good, denied))
        for of, good in (
            (feeling, telling.good),
            (feeling, not telling.good),
            (another(feeling), True),
            (another(feeling), False),
        )
    )
    draw.shuffle(others)
    place = LETTERS.index(label)
    opening = f"in the {draw.word('time')} {np(telling.who)} went to the {draw.word('place')}"
    passage = f"{sentence(opening)} {sentence(telling.clause)}"
    asked = sentence(f"how did {who} feel", "?")
    choices = (*others[:place], right, *others[place:])
    group = "middle" if draw.random() < (0.6 if degree == "lexical" else 0.3) else "high"
    return Row(passage, asked, label, choices, group, degree)


def paragraph(draw: Draw) -> str:
    """What happened and how somebody felt, or how somebody felt and why; or who knew of both."""
    form, judged = draw.random(), draw.random() < JUDGED
    degree = draw.degree(IN_VERDICTS if judged else IN_CHRONICLES)
    if form < 0.5:
        row = race(draw, "A", draw.degree(IN_TALES))
        return f"{row.first} {row.second} {row.choices[0]}"
    if form < 0.75:
        follows = is_so(draw)
        row = qnli(draw, "entailment" if follows or not judged else "not_entailment", degree)
        if judged:
            return f"{row.first} {CLAIM} {row.second} {VERDICTS[follows]}"
        return f"{row.first} {row.second}"
    follows = is_so(draw) if judged else draw.random() < 0.9
    first, second, good = _heard(draw, follows, degree)
    if judged:
        return f"{sentence(first, '?')} {CLAIM} {sentence(second, '?')} {VERDICTS[follows]}"
    end = draw.choice(("", " , of course")) if follows else f" , {surprise(good)}"
    return f"{sentence(first, '?')} {sentence(second + end, '?')}"
