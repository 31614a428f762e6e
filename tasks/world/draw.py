"""Random draws of words: from the whole lexicon for books, from a part of it for training rows."""

import hashlib
import random

from tasks.world import lexicon
from tasks.world.lexicon import CATEGORIES, HYPONYM, NAMES_F, NAMES_M, QUARTETS, TOPIC, VERBS

Units = dict[str, list[tuple[str, ...]]]


def _single(words: list[str]) -> list[tuple[str, ...]]:
    return [(word,) for word in words]


# What is held out together: a word with its synonym, a verb with its whole quartet.
UNITS: Units = {
    "person": lexicon.PEOPLE,
    "thing": lexicon.THINGS,
    "place": lexicon.PLACES,
    "time": _single(lexicon.TIMES),
    "quartet": [tuple(verb.base for side in quartet for verb in side) for quartet in QUARTETS],
    "kind": _single(list(HYPONYM)),
    "name": _single(lexicon.NAMES),
    **{sort: _single(words) for sort, words in lexicon.CLASSES.items()},
}


class Draw(random.Random):
    """A random generator of one named part of a world, which draws words as well.

    The words are those of `seen` units and, with probability `unseen_share`, of `unseen` ones. A
    unit is held out whole, so that training rows alone tell nothing about its words.
    """

    def __init__(
        self,
        seed: int,
        part: str,
        seen: Units = UNITS,
        unseen: Units | None = None,
        unseen_share: float = 0.0,
    ):
        super().__init__(int(hashlib.sha256(f"{seed}/{part}".encode()).hexdigest(), 16))
        self.seen, self.unseen, self.unseen_share = seen, unseen, unseen_share

    def unit(self, sort: str) -> tuple[str, ...]:
        """Draw a unit of a sort (a key of `UNITS`)."""
        return self.choice(self._units()[sort])

    def word(self, sort: str, exclude: tuple[str, ...] = ()) -> str:
        """Draw a word of a sort from a unit that holds none of the excluded words."""
        while True:
            unit = self.unit(sort)
            if not set(unit) & set(exclude):
                return self.choice(unit)

    def of_topic(self, sort: str, topic: str, exclude: tuple[str, ...] = ()) -> str:
        """Draw a person, thing or place of a topic; of any topic if all of it are excluded."""
        units = [unit for unit in self._units()[sort] if TOPIC[unit[0]] == topic]
        units = [unit for unit in units if not set(unit) & set(exclude)]
        return self.choice(self.choice(units)) if units else self.word(sort, exclude)

    def verb(self, takes: str = "", exclude: tuple[str, ...] = ()) -> str:
        """Draw a verb that takes such objects, from no quartet of the excluded verbs."""
        barred = {VERBS[word].quartet for word in exclude}
        while True:
            quartet = VERBS[self.unit("quartet")[0]].quartet
            verb = self.choice(self.choice(QUARTETS[quartet]))
            if quartet not in barred and (not takes or verb.takes == takes):
                return verb.base

    def _units(self) -> Units:
        return self.unseen if self.unseen and self.random() < self.unseen_share else self.seen


def hold_out(draw: Draw, share: float = 0.4) -> tuple[Units, Units]:
    """Split the lexicon into the units of training rows and those held out from them.

    The people, things and places of each topic, verbs of beings and of things, the kinds of each
    category, and the names of each gender are split separately, so that both parts can express
    everything.
    """
    seen: Units = {}
    unseen: Units = {}
    for sort, units in UNITS.items():
        for group in _groups(sort, units):
            group = list(group)
            draw.shuffle(group)
            n = max(1, round(len(group) * share))
            unseen.setdefault(sort, []).extend(group[:n])
            seen.setdefault(sort, []).extend(group[n:])
    return seen, unseen


def _groups(sort: str, units: list[tuple[str, ...]]) -> list[list[tuple[str, ...]]]:
    if sort in ("person", "thing", "place"):
        topics = dict.fromkeys(TOPIC.values())
        return [[unit for unit in units if TOPIC[unit[0]] == topic] for topic in topics]
    if sort == "quartet":
        return [[u for u in units if VERBS[u[0]].takes == takes] for takes in ("being", "thing")]
    if sort == "kind":
        return [_single(kinds) for kinds in CATEGORIES.values()]
    if sort == "name":
        return [_single(NAMES_F), _single(NAMES_M)]
    return [units]
