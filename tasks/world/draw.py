"""Random draws of words: from the whole lexicon for books, from a part of it for training rows."""

import hashlib
import random

from tasks.world import lexicon
from tasks.world.lexicon import CATEGORIES, LIVING, NAMES_OF, PEOPLE, Verb

# The words of each sort, in groups that are held out in equal shares.
Words = dict[str, list[list[str]]]
WORDS: Words = {
    "person": list(PEOPLE.values()),
    "name": list(NAMES_OF.values()),
    "thing": [lexicon.THINGS],
    "place": [lexicon.PLACES],
    "time": [lexicon.TIMES],
    "kind": list(CATEGORIES.values()),
    "living": [CATEGORIES[category] for category in LIVING],
    "lifeless": [kinds for category, kinds in CATEGORIES.items() if category not in LIVING],
    **{sort: [words] for sort, words in lexicon.CLASSES.items()},
}


class Draw(random.Random):
    """A random generator of one named part of a world, which draws words as well.

    The words are those of `seen` and, with probability `unseen_share`, of `unseen`.
    """

    def __init__(
        self,
        seed: int,
        part: str,
        seen: Words = WORDS,
        unseen: Words | None = None,
        unseen_share: float = 0.0,
    ):
        super().__init__(int(hashlib.sha256(f"{seed}/{part}".encode()).hexdigest(), 16))
        self.seen, self.unseen, self.unseen_share = seen, unseen, unseen_share

    def word(self, sort: str, exclude: tuple[str, ...] = ()) -> str:
        """Draw a word of a sort (a key of `WORDS`), but none of the excluded ones."""
        while True:
            words = self.unseen if self.unseen and self.random() < self.unseen_share else self.seen
            word = self.choice(self.choice(words[sort]))
            if word not in exclude:
                return word

    def words(self, sort: str, n: int, link: str = "and") -> str:
        """Draw n different words of a sort, joined by `link`."""
        chosen: list[str] = []
        while len(chosen) < n:
            chosen.append(self.word(sort, tuple(chosen)))
        return f" {link} ".join(chosen)

    def who(self) -> str:
        """Draw somebody: a name or a noun."""
        return self.word(self.choice(("name", "person")))

    def verb(self, takes: str) -> Verb:
        """Draw a verb whose object is a "being" or a "thing"."""
        return self.choice(lexicon.VERBS[takes])


def hold_out(draw: Draw, share: float = 0.4) -> tuple[Words, Words]:
    """Split the lexicon into the words of training rows and those held out from them.

    Each group of a sort is split by itself, so that both parts can express everything. A kind is
    held out under all sorts or under none.
    """
    held = {
        word
        for sort, groups in WORDS.items()
        if sort not in ("living", "lifeless")
        for group in groups
        for word in draw.sample(group, max(1, round(len(group) * share)))
    }
    parts = [
        {sort: [[w for w in group if (w in held) == out] for group in groups]
         for sort, groups in WORDS.items()}
        for out in (False, True)
    ]  # fmt: skip
    return parts[0], parts[1]
