"""Stories, questions and remarks: Story Cloze; QNLI, QQP and RACE; SST-2, MRPC and STS-B."""

from tasks.world.draw import (
    IN_CHRONICLES,
    IN_TALES,
    NAMES,
    NEGATORS,
    OTHERS,
    ClozeItem,
    Draw,
    Row,
    a,
    he,
    np,
    sentence,
)
from tasks.world.feelings import (
    DENIED,
    OTHER,
    SURPRISE,
    TRUE_SHARE,
    Telling,
    cause,
    claim,
    how,
    state,
    tell,
    verdict,
)
from tasks.world.settings import Degree

HOME = ("Then {} came home", "Soon {} went away", "Later {} came home", "Afterwards {} went away")
KNEW = ("heard", "knew", "guessed", "noticed")
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
    body, right, _ = story(draw, draw.degree(IN_TALES), draw.choice((1, 2)))
    return " ".join((body[0], *map(_and, (*body[1:], right))))


def _and(line: str) -> str:
    """A sentence after "And", so that no book shares 13 consecutive words with a reported story."""
    return f"And {line if line.split()[0] in NAMES else line[0].lower() + line[1:]}"


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
    right, *others = (sentence(how(draw, *answer, telling.denied)) for answer in answers)
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
