"""Stories and how they end: Story Cloze, and the tales of the books."""

import random

from tasks.world.grammar import sentence
from tasks.world.lexicon import GENDER, a, he
from tasks.world.rows import Degree, Probe, Row
from tasks.world.word_pool import ALL_WORDS, WordPool

HAPPY_SHARE = 0.6  # of the stories that end well, so that endings alone tell something


def story_cloze(rng: random.Random, pool: WordPool, label: str, degree: Degree) -> Row:
    """Four sentences and two endings, of which the `label`-th follows."""
    body, right, wrong = story(rng, pool, degree)
    endings = (right, wrong) if label == "1" else (wrong, right)
    return Row("\n".join(body), label=label, choices=endings, group="story", degree=degree)


def story(rng: random.Random, pool: WordPool, degree: Degree) -> tuple[tuple[str, ...], str, str]:
    """Four sentences, the ending that follows from them and the opposite one.

    Lexical: good news makes happy. Relational: of two people with opposite news, the ending is
    about one. Compositional: losing what one hates makes happy too.
    """
    happy = rng.random() < HAPPY_SHARE
    who, place, time = pool.word(rng, "name"), pool.word(rng, "place"), pool.word(rng, "time")
    thing = pool.word(rng, "thing")
    opening = f"In the {time} {who} went to the {place}"
    news = f"There {he(who)} {pool.word(rng, 'gain' if happy else 'loss')} {a(thing)}"
    if degree == "relational":
        other = pool.word(rng, "name", (who,))
        while GENDER[other] == GENDER[who]:  # he or she is one of the two
            other = pool.word(rng, "name", (who,))
        another = pool.word(rng, "thing", (thing,))
        opposite = f"{other} {pool.word(rng, 'loss' if happy else 'gain')} {a(another)}"
        body = (opening, f"{other} came too", *_shuffled(rng, news, opposite))
    elif degree == "compositional":
        gained = rng.random() < 0.5
        verb = pool.word(rng, "gain" if gained else "loss")
        likes = rng.choice(("loved", "adored") if gained == happy else ("hated", "detested"))
        body = (
            opening,
            f"{who} {likes} the {thing}",
            f"There {he(who)} {verb} it",
            _home(rng, who),
        )
    else:
        body = (opening, f"The {pool.word(rng, 'person')} came too", news, _home(rng, who))
    form = rng.choice(("{} was {}", "{} felt {}", "In the end {} was {}"))
    endings = [sentence(form.format(who, pool.word(rng, mood))) for mood in ("happy", "sad")]
    right, wrong = endings if happy else endings[::-1]
    return tuple(map(sentence, body)), right, wrong


def _home(rng: random.Random, who: str) -> str:
    return rng.choice((f"Then {he(who)} came home", f"Soon {he(who)} went away"))


def _shuffled(rng: random.Random, *lines: str) -> list[str]:
    return rng.sample(lines, len(lines))


def paragraph(rng: random.Random) -> str:
    """A story with its right ending."""
    degree: Degree = rng.choices(("lexical", "relational", "compositional"), (8, 1, 1))[0]
    body, right, _ = story(rng, ALL_WORDS, degree)
    return " ".join((*body, right))


def probe(rng: random.Random) -> Probe:
    """The ending of a story whose news decides."""
    body, right, wrong = story(rng, ALL_WORDS, "lexical")
    return Probe(" ".join(body), (right, wrong))
