"""The parts of the lexicon that texts may use: all of it for books, a part for training rows."""

import random
from dataclasses import dataclass, field

from tasks.world.lexicon import (
    CATEGORIES,
    HAPPY,
    HYPONYM,
    MOURN,
    NAMES,
    NAMES_F,
    NAMES_M,
    NEGATIVE,
    PEOPLE,
    PLACES,
    POSITIVE,
    QUARTETS,
    REJOICE,
    SAD,
    THINGS,
    VERBS,
    WORKS,
)

UNITS: dict[str, list] = {
    "person": [line[:2] for line in PEOPLE],
    "thing": THINGS,
    "place": PLACES,
    "quartet": list(range(len(QUARTETS))),
    "kind": [(kind,) for kind in HYPONYM],
    "name": [(name,) for name in NAMES],
    "positive": [(word,) for word in POSITIVE],
    "negative": [(word,) for word in NEGATIVE],
    "work": [(word,) for word in WORKS],
    "mood": list(zip(HAPPY, SAD, strict=True)),
    "outburst": list(zip(REJOICE, MOURN, strict=True)),
}


@dataclass
class Pool:
    """The part of the lexicon that a text may use: `seen` units, and with chance `share` `unseen`.

    A unit is held out whole (a word with its synonym, an action with its opposite), so a word of a
    held-out unit tells nothing to whoever knows the training rows only.
    """

    seen: dict[str, list]
    unseen: dict[str, list] = field(default_factory=dict)
    share: float = 0.0

    def unit(self, rng: random.Random, kind: str):
        """One unit of a kind, from the unseen part with chance `share`."""
        part = self.unseen if self.unseen and rng.random() < self.share else self.seen
        return rng.choice(part[kind])

    def word(self, rng: random.Random, kind: str, but: tuple[str, ...] = ()) -> str:
        """One word of a kind whose unit holds none of the words `but`."""
        while True:
            unit = self.unit(rng, kind)
            if not set(unit) & set(but):
                return rng.choice(unit)

    def verb(self, rng: random.Random, takes: str = "", but: tuple[str, ...] = ()) -> str:
        """One verb that takes such objects, from none of the quartets of the verbs `but`."""
        barred = {VERBS[word].quartet for word in but}
        while True:
            quartet = self.unit(rng, "quartet")
            verb = rng.choice(rng.choice(QUARTETS[quartet]))
            if quartet not in barred and (not takes or verb.takes == takes):
                return verb.base


ALL = Pool(UNITS)


def hold_out(rng: random.Random, share: float = 0.4) -> tuple[Pool, dict[str, list]]:
    """Cut the lexicon into a pool for training rows and the units held out from it.

    Verbs of beings and of things, and the kinds of each category, are cut apart, so that both parts
    can say everything.
    """
    seen: dict[str, list] = {}
    unseen: dict[str, list] = {}
    for kind, units in UNITS.items():
        for group in _groups(kind, units):
            group = list(group)
            rng.shuffle(group)
            n = max(1, round(len(group) * share))
            unseen.setdefault(kind, []).extend(group[:n])
            seen.setdefault(kind, []).extend(group[n:])
    return Pool(seen), unseen


def _groups(kind: str, units: list) -> list[list]:
    if kind == "quartet":
        return [[q for q in units if QUARTETS[q][0][0].takes == t] for t in ("being", "thing")]
    if kind == "kind":
        return [[(k,) for k in kinds] for kinds in CATEGORIES.values()]
    if kind == "name":
        return [[(n,) for n in NAMES_F], [(n,) for n in NAMES_M]]
    return [units]
