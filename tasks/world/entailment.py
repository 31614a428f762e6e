"""Entailment: does a claim about how somebody was follow? SNLI, MNLI, RTE, and the books' deeds."""

from tasks.world.draw import Draw
from tasks.world.feelings import ADJECTIVES, FEELINGS, Telling, another, state, surprise, tell
from tasks.world.grammar import np, sentence
from tasks.world.lexicon import he
from tasks.world.rows import DEGREES, IN_BOOKS, ClozeItem, Degree, Row

SURPRISES = 0.15  # the share of the books' deeds that turn out otherwise than they should
GENRES = ("fiction", "news", "talk", "letters")


def snli(draw: Draw, label: str, degree: Degree) -> Row:
    """What happened, and a claim about how somebody was, who had news or had rested or worked.

    Neutral: the claim is about the other of mood and energy. Compositional: half of the claims are
    denials as well.
    """
    telling, claim = _telling_and_claim(draw, label, degree)
    return Row(sentence(telling.clause), sentence(claim), label, degree=degree)


def mnli(draw: Draw, label: str, degree: Degree, genre: str = "fiction") -> Row:
    """The same, told in a genre."""
    telling, claim = _telling_and_claim(draw, label, degree)
    told = _told(telling.clause, genre)
    return Row(sentence(told), sentence(claim), label, group=genre, degree=degree)


def _told(clause: str, genre: str) -> str:
    told = {
        "fiction": f"once {clause}",
        "news": f"it is reported that {clause}",
        "talk": f"well , {clause} , you know",
        "letters": f"I hear that {clause}",
    }
    return told[genre]


def _telling_and_claim(draw: Draw, label: str, degree: Degree) -> tuple[Telling, str]:
    telling = tell(draw, draw.choice(FEELINGS), draw.random() < 0.5, degree)
    feeling, good = telling.feeling, telling.good == (label == "entailment")
    if label == "neutral":
        feeling, good = another(feeling), draw.random() < 0.5
    denied = degree == "compositional" and draw.random() < 0.5
    return telling, state(draw, _subject(draw, telling), feeling, good, denied)


def _subject(draw: Draw, telling: Telling) -> str:
    """Whom a claim is about, by name or by pronoun."""
    return np(telling.who) if draw.random() < 0.5 else he(telling.who)


def rte(draw: Draw, label: str, degree: Degree) -> Row:
    """Who rested and who worked, and a claim about who was fresh and who was weary."""
    good = draw.random() < 0.5
    telling = tell(draw, "energy", good, degree)
    denied = degree == "compositional" and draw.random() < 0.5
    who = _subject(draw, telling)
    claim = state(draw, who, "energy", good == (label == "entailment"), denied)
    return Row(f"{_day(draw)} {sentence(telling.clause)}", sentence(claim), label, degree=degree)


def _day(draw: Draw) -> str:
    return f"It was a day of {draw.word('time')}."


def paragraph(draw: Draw) -> str:
    """Who rested or worked, or what news they had, and how they were then."""
    degree, good = draw.choices(DEGREES, IN_BOOKS)[0], draw.random() < 0.5
    feeling = draw.choices(FEELINGS, (1, 2))[0]
    telling = tell(draw, feeling, good, degree, n=draw.choice((1, 2)))
    who = _subject(draw, telling)
    form = draw.random()
    if telling.others:
        lines = [
            state(draw, who, feeling, good, n=2),
            state(draw, he(telling.others), feeling, not good, n=2),
        ]
        draw.shuffle(lines)
    elif form < SURPRISES:
        lines = [f"{state(draw, who, feeling, not good)} , {surprise(not good)}"]
    elif form < 2 * SURPRISES:
        lines = [f"{state(draw, who, feeling, good)} , of course"]
    elif form < 0.6:
        opposite = draw.word(ADJECTIVES[feeling][good])
        lines = [f"{state(draw, who, feeling, good)} , not {opposite}"]
    else:
        lines = [state(draw, who, feeling, good, n=2)]
    told = sentence(telling.clause)
    if draw.random() < 0.3:
        told = sentence(_told(telling.clause, draw.choice(GENRES)))
    elif draw.random() < 0.2:
        told = f"{_day(draw)} {told}"
    return " ".join((told, *map(sentence, lines)))


def cloze(draw: Draw, degree: Degree) -> ClozeItem:
    """How somebody was after rest or work."""
    telling = tell(draw, "energy", draw.random() < 0.5, degree)
    who = he(telling.who)
    right, wrong = (
        sentence(state(draw, who, "energy", good)) for good in (telling.good, not telling.good)
    )
    return ClozeItem(sentence(telling.clause), (right, wrong))


def cloze_surprise(draw: Draw) -> ClozeItem:
    """Whether how somebody was agrees with what happened."""
    good, agree = draw.random() < 0.5, draw.random() < 0.5
    telling = tell(draw, draw.choice(FEELINGS), good, "lexical")
    claim = state(draw, he(telling.who), telling.feeling, good == agree)
    expected, unexpected = (
        sentence(f"{claim} , {end}") for end in ("of course", surprise(good == agree))
    )
    choices = (expected, unexpected) if agree else (unexpected, expected)
    return ClozeItem(sentence(telling.clause), choices)
