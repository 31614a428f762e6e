"""Coreference: whom is a reason about? DPRD, and the reasons that the books give.

Some adjectives are reasons for doing something, others for having it done to one.
"""

import random

from tasks.world.grammar import sentence
from tasks.world.lexicon import GENDER, VERBS, he
from tasks.world.rows import Degree, Probe, Row
from tasks.world.word_pool import ALL_WORDS, WordPool


def _deed(rng: random.Random, pool: WordPool) -> tuple[str, str, str]:
    """Two people of one gender and a past action of the first towards the second."""
    while True:
        one = pool.word(rng, "person")
        two = pool.word(rng, "person", (one,))
        if GENDER[one] == GENDER[two]:
            return one, VERBS[pool.verb(rng, "being")].past, two


def dprd(rng: random.Random, pool: WordPool, label: str, degree: Degree) -> Row:
    """A deed and its reason, told with a pronoun; `label` is the place of the one it is about.

    Every row is lexical, whatever degree is asked for: the reason itself tells.
    """
    one, verb, two = _deed(rng, pool)
    about = (one, two)[int(label)]
    reason = pool.word(rng, "doer" if about == one else "done_to")
    where = f"in the {pool.word(rng, 'place')}"
    pronoun = he(about)
    text = f"the {one} {verb} the {two} {where} because {pronoun} was {reason}"
    candidates = (f"the {one}", f"the {two}")
    return Row(sentence(text), pronoun, label, candidates, degree="lexical")


def paragraph(rng: random.Random) -> str:
    """A deed and its reason, with both people named."""
    one, verb, two = _deed(rng, ALL_WORDS)
    about = rng.choice((one, two))
    reason = ALL_WORDS.word(rng, "doer" if about == one else "done_to")
    return sentence(f"the {one} {verb} the {two} because the {about} was {reason}")


def probe(rng: random.Random) -> Probe:
    """Whom a reason is about."""
    one, verb, two = _deed(rng, ALL_WORDS)
    about = rng.choice((one, two))
    right, wrong = ("doer", "done_to") if about == one else ("done_to", "doer")
    choices = (ALL_WORDS.word(rng, right) + ".", ALL_WORDS.word(rng, wrong) + ".")
    return Probe(f"The {one} {verb} the {two} because the {about} was", choices)
