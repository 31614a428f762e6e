"""Stories and how they end: Story Cloze, and the tales of the books."""

from tasks.world.draw import IN_TALES, Degree, Draw
from tasks.world.feelings import cause, state
from tasks.world.grammar import sentence
from tasks.world.lexicon import NAMES, OTHERS, a, he
from tasks.world.rows import ClozeItem, Row

HOME = ("Then {} came home", "Soon {} went away", "Later {} came home", "Afterwards {} went away")


def story_cloze(draw: Draw, label: str, degree: Degree) -> Row:
    """Four sentences and two endings, of which the `label`-th follows."""
    body, right, wrong = story(draw, degree)
    endings = (right, wrong) if label == "1" else (wrong, right)
    return Row("\n".join(body), label=label, choices=endings, group="story", degree=degree)


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
        body = (opening, f"{others} came too", *draw.sample(lines, 2))
    elif liked:
        loved = draw.random() < 0.4
        verb = draw.word("gain" if good == loved else "loss")
        liking = f"{who} {draw.word('love' if loved else 'hate')} the {thing}"
        body = (opening, liking, f"There {he(who)} {verb} it", _home(draw, who))
    else:
        body = (
            opening,
            f"{a(draw.word('living'))} came too",
            f"There {he(who)} {verb} {a(thing)}",
            _home(draw, who),
        )
    form = draw.choice(("{}", "In the end {}"))
    right, wrong = (
        sentence(form.format(state(draw, who, "mood", g, denied, n))) for g in (good, not good)
    )
    return tuple(map(sentence, body)), right, wrong


def _home(draw: Draw, who: str) -> str:
    return draw.form(*HOME).format(he(who))


def paragraph(draw: Draw) -> str:
    """A story with its right ending."""
    body, right, _ = story(draw, draw.degree(IN_TALES), draw.choice((1, 2)))
    return " ".join((body[0], *map(_and, (*body[1:], right))))


def _and(line: str) -> str:
    """A sentence after "And", so that no book shares 13 consecutive words with a reported story."""
    return f"And {line if line.split()[0] in NAMES else line[0].lower() + line[1:]}"


def cloze(draw: Draw, degree: Degree) -> ClozeItem:
    """The ending of a story."""
    body, right, wrong = story(draw, degree)
    return ClozeItem(" ".join(body), (right, wrong))
