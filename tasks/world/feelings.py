"""What makes people glad or sad, fresh or weary: all that deeds, stories and questions tell of.

SNLI, MNLI and RTE; Story Cloze; QNLI, QQP and RACE. There are three degrees of difficulty, the same
in every task but CoLA. Lexical: the class of one word settles the label. Relational: two clauses
contrast, and one of them counts. Compositional: a word reverses what another says ("hated",
"hardly", "not"), in one of two texts or in both.
"""

from dataclasses import dataclass

from tasks.world.draw import (
    ADJECTIVES,
    CAUSES,
    FEELINGS,
    IN_CHRONICLES,
    IN_TALES,
    NAMES,
    OTHER,
    OTHERS,
    SELDOM,
    TRUE_SHARE,
    ClozeItem,
    Draw,
    Feeling,
    Row,
    a,
    he,
    np,
    sentence,
    state,
    verdict,
)
from tasks.world.settings import Degree

REVERSED_NEWS = (
    "{who} {liking} the {thing} and {news} it",
    "{who} {news} the {thing} that {he} {liking}",
    "{who} {news} the {thing} , for {he} {liking} it",
)
FOLLOWS = {"entailment": True, "contradiction": False, "neutral": None}
LINKS = ("but", "while", "whereas", "yet")
# The word after a state that nobody expected. Without it nothing in the books would compare how
# somebody felt with what had happened.
SURPRISE = {True: "luckily", False: "alas"}
SURPRISES = 0.08  # the share of the books' deeds with an unexpected outcome
LEFT_OPEN = 0.17  # the share of the books' claims that what is told leaves open
DAY = "It was a day of {}."
GENRES = {
    "fiction": ("once {}", "long ago {}"),
    "news": ("it is reported that {}", "it was announced that {}"),
    "talk": ("well , {} , you know", "oh , {} , you see"),
    "letters": ("I hear that {}", "you may know that {}"),
}
HOME = ("Then {} came home", "Soon {} went away", "Later {} came home", "Afterwards {} went away")
KNEW = ("heard", "knew", "guessed", "noticed")


@dataclass(frozen=True)
class Telling:
    """A clause and what follows from it: how `who` feels; `others`, if any, feel the opposite.

    `denied`: a claim about it is to be a denial.
    """

    clause: str
    who: str
    feeling: Feeling
    good: bool
    denied: bool
    others: str = ""


def tell(
    draw: Draw,
    degree: Degree,
    good: bool | None = None,
    feelings: tuple[Feeling, ...] = FEELINGS,
    most: int = 1,
    mixed: bool = False,
) -> Telling:
    """Tell what makes somebody feel good or bad (None: either), in one or up to `most` words.

    Relational: others have the opposite luck, or if `mixed` either luck in the other feeling; the
    telling may be about either party. Compositional: it is reversed (`cause`), or what is claimed
    about it is a denial, or both.
    """
    feeling, reversed_, denied = draw.reversals(degree, *feelings)
    n = draw.randint(1, most) if most > 1 else 1
    good = draw.random() < 0.5 if good is None else good
    who = draw.who()
    if degree != "relational":
        clause = cause(draw, who, feeling, good, reversed_, n)
        return Telling(clause, who, feeling, good, denied)
    one, two = draw.sample((who, draw.choice(OTHERS)), 2)
    luck, of = (draw.random() < 0.5, OTHER[feeling]) if mixed else (not good, feeling)
    parts = [cause(draw, one, feeling, good, n=n), cause(draw, two, of, luck, n=n)]
    clause = f" , {draw.form(*LINKS)} ".join(draw.sample(parts, 2))
    return Telling(clause, one, feeling, good, denied, "" if mixed else two)


def cause(
    draw: Draw, who: str, feeling: Feeling, good: bool, reversed_: bool = False, n: int = 1
) -> str:
    """A clause about what makes somebody feel good or bad, with n words of its class.

    `reversed_`: the cause is love or hate of a thing, which may turn its loss into luck; or it is
    something that was seldom done.
    """
    if feeling == "energy":
        deeds = draw.words(CAUSES["energy"][good == reversed_], n)
        seldom = f"{draw.form(*SELDOM)} " if reversed_ else ""
        return f"{np(who)} {seldom}{deeds}{_where(draw)}"
    if not reversed_:
        news = f"{draw.words(CAUSES['mood'][not good], n)} {a(draw.word('thing'))}"
        return f"{np(who)} {news}{_where(draw)}"
    loved, thing = draw.random() < 0.4, draw.word("thing")
    news = draw.word(CAUSES["mood"][good != loved])
    liking = draw.word("love" if loved else "hate")
    return draw.form(*REVERSED_NEWS).format(
        who=np(who), liking=liking, thing=thing, news=news, he=he(who)
    )


def _where(draw: Draw) -> str:
    """A place, in three of ten clauses: words that the books spend on places teach nothing else."""
    return f" in the {draw.word('place')}" if draw.random() < 0.3 else ""


def claim(draw: Draw, telling: Telling, follows: bool | None, by_pronoun: bool = False) -> str:
    """A claim about how somebody felt, which follows or is the opposite of what does.

    It is about the other feeling if neither is to follow (None).
    """
    feeling, good = telling.feeling, telling.good == follows
    if follows is None:
        feeling, good = OTHER[feeling], draw.random() < 0.5
    who = he(telling.who) if by_pronoun else _subject(draw, telling)
    return state(draw, who, feeling, good, telling.denied)


def _subject(draw: Draw, telling: Telling) -> str:
    """Whom a claim is about, by name or by pronoun."""
    return np(telling.who) if draw.random() < 0.5 else he(telling.who)


def snli(draw: Draw, label: str, degree: Degree) -> Row:
    """What happened to somebody (news, rest or work), and a claim about how they felt.

    Neutral: the claim is about the other of mood and energy. Compositional: what happened or the
    claim is reversed, or both.
    """
    telling = tell(draw, degree)
    return Row(sentence(telling.clause), sentence(claim(draw, telling, FOLLOWS[label])))


def mnli(
    draw: Draw, label: str, degree: Degree, genres: tuple[str, ...] = ("fiction", "news")
) -> Row:
    """A row as of `snli`, told in one of the genres."""
    genre, telling = draw.choice(genres), tell(draw, degree)
    claimed = sentence(claim(draw, telling, FOLLOWS[label]))
    told = draw.form(*GENRES[genre]).format(telling.clause)
    return Row(sentence(told), claimed, group=genre)


def rte(draw: Draw, label: str, degree: Degree) -> Row:
    """What happened on some day, and a claim that follows or the opposite claim."""
    telling = tell(draw, degree, draw.random() < 0.5)
    claimed = sentence(claim(draw, telling, label == "entailment"))
    return Row(f"{DAY.format(draw.word('time'))} {sentence(telling.clause)}", claimed)


def deeds(draw: Draw) -> str:
    """A paragraph: who rested or worked, or what news they had, and how they felt then."""
    good = draw.random() < 0.5
    degree, judged = draw.degree_and_judged(IN_CHRONICLES)
    telling = tell(draw, degree, good, (*FEELINGS, "energy"), most=2)
    feeling, denied, who = telling.feeling, telling.denied, _subject(draw, telling)
    # Denials have two adjectives, as no book may have a reported claim of more than four words.
    form, n = draw.random(), 1 + denied
    if judged:
        lines = [_judged(draw, telling)]
    elif telling.others:
        parties = ((who, good), (he(telling.others), not good))
        lines = [state(draw, one, feeling, was_good, n=2) for one, was_good in parties]
        draw.shuffle(lines)
    elif form < SURPRISES:
        lines = [f"{state(draw, who, feeling, not good, denied, n)} , {SURPRISE[not good]}"]
    elif form < 2 * SURPRISES:
        lines = [f"{state(draw, who, feeling, good, denied, n)} , of course"]
    elif denied:
        lines = [state(draw, who, feeling, good, denied, n)]
    elif form < 0.6:
        opposite = draw.word(ADJECTIVES[feeling][good])
        lines = [f"{state(draw, who, feeling, good)} , not {opposite}"]
    else:
        lines = [state(draw, who, feeling, good, n=2)]
    told = sentence(telling.clause)
    if draw.random() < 0.3:
        told = sentence(draw.form(*GENRES[draw.choice([*GENRES])]).format(telling.clause))
    elif draw.random() < 0.2:
        told = f"{DAY.format(draw.word('time'))} {told}"
    return " ".join((told, *(line if line[-1] == "." else sentence(line) for line in lines)))


def _judged(draw: Draw, telling: Telling) -> str:
    """A claim about one of the people in the telling, and the verdict on it."""
    who, good, denied = _subject(draw, telling), telling.good, telling.denied
    if telling.others and draw.random() < 0.5:
        who, good = he(telling.others), not good
    follows = None if draw.random() < LEFT_OPEN else draw.random() < TRUE_SHARE
    feeling = telling.feeling if follows is not None else OTHER[telling.feeling]
    claimed = good if follows is None else good == follows
    return verdict(sentence(state(draw, who, feeling, claimed, denied, 1 + denied)), follows)


def cloze_energy(draw: Draw, degree: Degree) -> ClozeItem:
    """How somebody felt after rest or work."""
    telling = tell(draw, degree, feelings=("energy",))
    states = (claim(draw, telling, follows, by_pronoun=True) for follows in (True, False))
    return sentence(telling.clause), tuple(map(sentence, states))


def cloze_surprise(draw: Draw) -> ClozeItem:
    """Whether how somebody felt agrees with what happened."""
    good, agree = draw.random() < 0.5, draw.random() < 0.5
    telling = tell(draw, "lexical", good)
    claimed = claim(draw, telling, agree, by_pronoun=True)
    right, wrong = ("of course", SURPRISE[good]) if agree else (SURPRISE[not good], "of course")
    return sentence(telling.clause), tuple(sentence(f"{claimed} , {end}") for end in (right, wrong))


def story_cloze(draw: Draw, label: str, degree: Degree) -> Row:
    """Four sentences and two endings, of which the `label`-th follows."""
    body, right, wrong = story(draw, degree)
    endings = (right, wrong) if label == "1" else (wrong, right)
    return Row("\n".join(body), choices=endings)


def story(draw: Draw, degree: Degree, n: int = 1) -> tuple[tuple[str, ...], str, str]:
    """Four sentences, the ending that follows, in n adjectives, and the opposite one.

    Lexical: good news makes people glad. Relational: others have opposite news. Compositional:
    losing what one hates makes one glad too, or the endings are denials; in reported rows also
    both.
    """
    _, liked, denied = draw.reversals(degree, "mood")
    good, who, place = draw.random() < 0.5, draw.word("name"), draw.word("place")
    thing, others = draw.word("thing"), draw.choice(OTHERS)
    opening = f"In the {draw.word('time')} {who} went to the {place}"
    verb = draw.words("gain" if good else "loss", n)
    if degree == "relational":
        lines = [f"There {he(who)} {verb} {a(thing)}", cause(draw, others, "mood", not good, n=n)]
        told = [f"{others} came too", *draw.sample(lines, 2)]
    elif liked:
        loved = draw.random() < 0.4
        verb = draw.word("gain" if good == loved else "loss")
        liking = f"{who} {draw.word('love' if loved else 'hate')} the {thing}"
        told = [liking, f"There {he(who)} {verb} it", draw.form(*HOME).format(he(who))]
    else:
        came = f"{a(draw.word('living'))} came too"
        told = [came, f"There {he(who)} {verb} {a(thing)}", draw.form(*HOME).format(he(who))]
    form = draw.choice(("{}", "In the end {}"))
    right, wrong = (
        sentence(form.format(state(draw, who, "mood", g, denied, n))) for g in (good, not good)
    )
    return tuple(map(sentence, (opening, *told))), right, wrong


def stories(draw: Draw) -> str:
    """A paragraph: a story with its right ending."""
    (first, *body), right, _ = story(draw, draw.degree(IN_TALES), draw.choice((1, 2)))
    parts = (p if p.split()[0] in NAMES else p[0].lower() + p[1:] for p in (*body, right))
    # After "And", so that no book shares 13 consecutive words with a reported story.
    return " ".join((first, *(f"And {part}" for part in parts)))


def cloze_ending(draw: Draw, degree: Degree) -> ClozeItem:
    """The ending of a story."""
    body, right, wrong = story(draw, degree)
    return " ".join(body), (right, wrong)


def qnli(draw: Draw, label: str, degree: Degree) -> Row:
    """The question of why somebody felt so, and a sentence that gives a reason or does not."""
    telling = tell(draw, degree, draw.random() < 0.5)
    follows = True if label == "entailment" else None if draw.random() < 0.5 else False
    # Such as `she was glad`, or one that denies the opposite.
    subject, be, rest = claim(draw, telling, follows, by_pronoun=True).split(maxsplit=2)
    return Row(sentence(f"why {be} {subject} {rest}", "?"), sentence(telling.clause))


def qqp(draw: Draw, label: str, degree: Degree) -> Row:
    """Two questions: who heard what happened, and who heard how somebody felt.

    In half of the pairs that are not duplicates, the second is about the other of mood and energy.
    """
    follows = True if label == "1" else None if draw.random() < 0.5 else False
    first, second = _heard(draw, tell(draw, degree), follows)
    return Row(sentence(first, "?"), sentence(second, "?"))


def _heard(draw: Draw, telling: Telling, follows: bool | None) -> tuple[str, str]:
    """Who heard what is told, and who heard a claim about it: two questions without their marks."""
    claimed = claim(draw, telling, follows, by_pronoun=True)
    told = f"who {draw.form(*KNEW)} that {telling.clause}"
    return told, f"who {draw.form(*KNEW)} that {claimed}"


def race(draw: Draw, label: str, degree: Degree) -> Row:
    """A passage, the question of how somebody felt, and four answers: glad, sad, fresh and weary.

    Relational: the passage tells of a second person's mood or energy as well. Compositional: what
    happened is reversed, or the answers are denials, or both.
    """
    telling = tell(draw, degree, mixed=True)
    answers = [(telling.feeling, telling.good), (telling.feeling, not telling.good)]
    answers += [(OTHER[telling.feeling], True), (OTHER[telling.feeling], False)]
    said = (state(draw, "they", *answer, telling.denied) for answer in answers)
    right, *others = (sentence(what.removeprefix("they were ")) for what in said)
    draw.shuffle(others)
    place = "ABCD".index(label)
    opening = f"in the {draw.word('time')} {np(telling.who)} went to the {draw.word('place')}"
    passage = f"{sentence(opening)} {sentence(telling.clause)}"
    asked = sentence(f"how did {he(telling.who)} feel", "?")
    choices = (*others[:place], right, *others[place:])
    group = "middle" if draw.random() < (0.6 if degree == "lexical" else 0.3) else "high"
    return Row(passage, asked, choices=choices, group=group)


def questions(draw: Draw) -> str:
    """A paragraph: how somebody felt after what happened, or why, or who knew of both."""
    form = draw.random()
    degree, judged = draw.degree_and_judged(IN_CHRONICLES)
    if form < 0.5:
        row = race(draw, "A", draw.degree(IN_TALES))
        return f"{row.first} {row.second} {row.choices[0]}"
    if form < 0.75:
        follows = draw.random() < TRUE_SHARE
        row = qnli(draw, "entailment" if follows or not judged else "not_entailment", degree)
        return f"{row.first} {verdict(row.second, follows) if judged else row.second}"
    follows = draw.random() < TRUE_SHARE if judged else draw.random() < 0.9
    telling = tell(draw, degree)
    first, second = _heard(draw, telling, follows)
    if judged:
        return f"{sentence(first, '?')} {verdict(sentence(second, '?'), follows)}"
    end = draw.choice(("", " , of course")) if follows else f" , {SURPRISE[not telling.good]}"
    return f"{sentence(first, '?')} {sentence(second + end, '?')}"
