"""Stories and how they end: Story Cloze, and the tales of the books."""

from tasks.world.draw import Draw
from tasks.world.grammar import sentence
from tasks.world.lexicon import GENDER, a, he
from tasks.world.rows import Degree, Probe, Row

HAPPY_SHARE = 0.6  # of the stories that end well, so that endings alone tell something


def story_cloze(draw: Draw, label: str, degree: Degree) -> Row:
    """Four sentences and two endings, of which the `label`-th follows."""
    body, right, wrong = story(draw, degree)
    endings = (right, wrong) if label == "1" else (wrong, right)
    return Row("\n".join(body), label=label, choices=endings, group="story", degree=degree)


def story(draw: Draw, degree: Degree) -> tuple[tuple[str, ...], str, str]:
    """Four sentences, the ending that follows from them and the opposite one.

    Lexical: good news makes happy. Relational: of two people with opposite news, the ending is
    about one. Compositional: losing what one hates makes happy too.
    """
    happy = draw.random() < HAPPY_SHARE
    who, place, time = draw.word("name"), draw.word("place"), draw.word("time")
    thing = draw.word("thing")
    opening = f"In the {time} {who} went to the {place}"
    news = f"There {he(who)} {draw.word('gain' if happy else 'loss')} {a(thing)}"
    if degree == "relational":
        other = draw.word("name", (who,))
        while GENDER[other] == GENDER[who]:  # he or she is one of the two
            other = draw.word("name", (who,))
        another = draw.word("thing", (thing,))
        opposite = f"{other} {draw.word('loss' if happy else 'gain')} {a(another)}"
        body = (opening, f"{other} came too", *_shuffled(draw, news, opposite))
    elif degree == "compositional":
        gained = draw.random() < 0.5
        verb = draw.word("gain" if gained else "loss")
        likes = draw.choice(("loved", "adored") if gained == happy else ("hated", "detested"))
        body = (
            opening,
            f"{who} {likes} the {thing}",
            f"There {he(who)} {verb} it",
            _home(draw, who),
        )
    else:
        body = (opening, f"The {draw.word('person')} came too", news, _home(draw, who))
    form = draw.choice(("{} was {}", "{} felt {}", "In the end {} was {}"))
    endings = [sentence(form.format(who, draw.word(mood))) for mood in ("happy", "sad")]
    right, wrong = endings if happy else endings[::-1]
    return tuple(map(sentence, body)), right, wrong


def _home(draw: Draw, who: str) -> str:
    return draw.choice((f"Then {he(who)} came home", f"Soon {he(who)} went away"))


def _shuffled(draw: Draw, *lines: str) -> list[str]:
    return draw.sample(lines, len(lines))


def paragraph(draw: Draw) -> str:
    """A story with its right ending."""
    degree: Degree = draw.choices(("lexical", "relational", "compositional"), (8, 1, 1))[0]
    body, right, _ = story(draw, degree)
    return " ".join((*body, right))


def probe(draw: Draw) -> Probe:
    """The ending of a story whose news decides."""
    body, right, wrong = story(draw, "lexical")
    return Probe(" ".join(body), (right, wrong))
