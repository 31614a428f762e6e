"""What all texts of the world are made of: words and their forms, random draws of them, rows.

People and names have a gender, kinds a category that is alive or not; opinions, feelings, deeds and
news are classes of words. Labels follow from these tables (`lexicon.yaml`) and from nothing else. A
world has half of each list, all of it for the books and less for training rows.
"""

import functools
import hashlib
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

import yaml

from tasks.prompt import CLAIM, FALSE, TRUE, UNKNOWN
from tasks.world.settings import DEGREES, Degree

_LEXICON: dict[str, Any] = yaml.safe_load(
    Path(__file__).with_name("lexicon.yaml").read_text(encoding="utf-8")
)


def _lists(table: str) -> dict[str, list[str]]:
    return {name: line.split() for name, line in _LEXICON[table].items()}


PEOPLE, NAMES_OF = _lists("people"), _lists("names")
NAMES = [name for names in NAMES_OF.values() for name in names]
GENDER = {
    who: gender for table in (PEOPLE, NAMES_OF) for gender, words in table.items() for who in words
}
THINGS, PLACES, TIMES, NUMBERS, LIVING = (
    _LEXICON[sort].split() for sort in ("things", "places", "times", "numbers", "living")
)
CATEGORIES = _lists("categories")
HYPONYM = {kind: category for category, kinds in CATEGORIES.items() for kind in kinds}
CLASSES = _lists("classes")
Feeling = Literal["mood", "energy"]
FEELINGS: tuple[Feeling, ...] = get_args(Feeling)
OTHER: dict[Feeling, Feeling] = {"mood": "energy", "energy": "mood"}
# For each feeling, the classes of its adjectives and of its causes, the good ones first.
ADJECTIVES = {"mood": ("happy", "sad"), "energy": ("fresh", "weary")}
CAUSES = {"mood": ("gain", "loss"), "energy": ("rest", "work_hard")}
# The words that reverse an adjective, and those that reverse a verb.
NEGATORS = ("not", "hardly", "far from", "by no means", "anything but", "scarcely")
SELDOM = ("never", "hardly", "scarcely", "rarely", "seldom", "barely")
OTHERS = ("the others", "other people")  # not the one whom a text is about

# The words of each sort, in groups that are divided and held out in equal shares.
Words = dict[str, list[list[str]]]
WORDS: Words = {
    "person": list(PEOPLE.values()),
    "name": list(NAMES_OF.values()),
    "thing": [THINGS],
    "place": [PLACES],
    "time": [TIMES],
    "kind": list(CATEGORIES.values()),
    "living": [CATEGORIES[category] for category in LIVING],
    "lifeless": [kinds for category, kinds in CATEGORIES.items() if category not in LIVING],
    **{sort: [words] for sort, words in CLASSES.items()},
}
# The relative frequencies of the degrees in the books' paragraphs. Tales are the plainest: where
# they say directly what chronicles say in a roundabout way, it is learnt much sooner
# (bench/LOG.md).
IN_BOOKS, IN_TALES, IN_CHRONICLES = (8, 2, 3), (7, 1, 2), (6, 3, 3)
JUDGED = 0.3  # the share of the paragraphs that end in a verdict on a claim
IN_VERDICTS = (8, 1, 1)
# Most claims are true, like most of what a book says: where claims cannot be predicted at all,
# models do not learn whether they are true (bench/LOG.md).
TRUE_SHARE = 0.75
DENIED = 0.2  # the share of denials among the claims about kinds and remarks
COMBINED = 0.3  # how often the books combine what training rows do not
# The books' verdicts on a claim that follows, that does not, or that what is told leaves open.
VERDICTS = {True: TRUE, False: FALSE, None: UNKNOWN}
Option = TypeVar("Option")


@dataclass(frozen=True)
class Verb:
    """The forms of a verb."""

    base: str
    third: str
    past: str


def _with_s(word: str) -> str:
    """A word with the ending of a plural noun or of a verb in the third person."""
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "sh", "ch", "x")) else "s")


def _verb(base: str) -> Verb:
    past = base + ("d" if base.endswith("e") else "ed")
    return Verb(base, _with_s(base), _LEXICON["irregular"]["past"].get(base, past))


# By what their object is: a "being" or a "thing".
VERBS = {takes: [_verb(base) for base in bases] for takes, bases in _lists("verbs").items()}


def plural(noun: str) -> str:
    """The plural of a noun."""
    return _LEXICON["irregular"]["plural"].get(noun) or _with_s(noun)


def a(noun: str) -> str:
    """The noun with its indefinite article."""
    return ("an " if noun[0] in "aeiou" else "a ") + noun


def np(noun: str) -> str:
    """A noun phrase; names and other people take no article."""
    return noun if noun in NAMES or noun in OTHERS else f"the {noun}"


def he(who: str) -> str:
    """The subject pronoun of a person's name or noun, or of other people."""
    return "they" if who in OTHERS else "she" if GENDER[who] == "f" else "he"


def alive(kind: str) -> bool:
    """Whether a kind is of a living category."""
    return HYPONYM[kind] in LIVING


def sentence(clause: str, mark: str = ".") -> str:
    """A written sentence: a capital letter, no space before commas, a mark at the end."""
    text = clause.replace(" ,", ",")
    return text[0].upper() + text[1:] + mark


class Draw(random.Random):
    """A random generator for one named part of a world, which also draws words and forms.

    The words are from `seen` (None: all of the world's) and, with probability `unseen_share`, from
    `unseen`. `combined` is the probability that a compositional text combines clauses as no
    training row does, where its second part allows it (`combined`, `reversals`).
    """

    def __init__(
        self,
        seed: int,
        part: str,
        seen: Words | None = None,
        unseen: Words | None = None,
        unseen_share: float = 0.0,
        combined: float = COMBINED,
        degrees: dict[Degree, float] | None = None,
    ):
        super().__init__(_number(f"{seed}/{part}"))
        self.world, self.part = seed, part.split("/")[0]
        self.seen = seen or words_of(seed)
        self.unseen, self.unseen_share, self._combined = unseen or {}, unseen_share, combined
        self._factors = [1.0 if degrees is None else degrees[degree] for degree in DEGREES]

    def word(self, sort: str, exclude: tuple[str, ...] = ()) -> str:
        """Draw a word of a sort (a key of `WORDS`), but none of the excluded ones."""
        while True:
            unseen = self.unseen_share and self.random() < self.unseen_share
            word = self.choice(self.choice((self.unseen if unseen else self.seen)[sort]))
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
        return self.choice(half(self.world, tuple(VERBS[takes])))

    def form(self, *forms: str) -> str:
        """Draw one of the forms that this world has: the half of `forms` chosen by its seed."""
        return self.choice(half(self.world, forms))

    def degree(self, shares: tuple[int, ...]) -> Degree:
        """Draw the degree of a paragraph of the books."""
        weights = [share * factor for share, factor in zip(shares, self._factors, strict=True)]
        return self.choices(DEGREES, weights)[0]

    def degree_and_judged(self, shares: tuple[int, ...] = IN_BOOKS) -> tuple[Degree, bool]:
        """Draw the degree of a paragraph of the books, and whether it ends in a verdict."""
        judged = self.random() < JUDGED
        return self.degree(IN_VERDICTS if judged else shares), judged

    def combined(self) -> bool:
        """Whether a compositional text combines clauses as no training row does."""
        return self.random() < self._combined

    def reversals(self, degree: Degree, *sorts: Option) -> tuple[Option, bool, bool]:
        """Draw what a text is about, one of `sorts`, and whether each of its two parts is reversed.

        One or both parts are reversed if it is compositional, else none. Each task holds out one
        of the sorts: in training rows about it either part may be reversed, but never both; in rows
        about the other sorts both may be. The sort and the second part's reversal have the same
        distribution in all rows, or the second text would give away the label.
        """
        if degree != "compositional":
            return self.choice(sorts), False, False
        held_out = sorts[_number(f"{self.world}/{self.part}/held out") % len(sorts)]
        about, second = self.choice(sorts), self.random() < 0.5
        share = 2 * self._combined if about == held_out else 0.67
        return about, not second or self.random() < share, second


def _number(name: str) -> int:
    return int(hashlib.sha256(name.encode()).hexdigest(), 16)


@functools.cache
def half(seed: int, options: tuple[Option, ...]) -> tuple[Option, ...]:
    """The half of the options that a world has, in their order."""
    n = (len(options) + 1) // 2
    chosen = random.Random(_number(f"{seed}/{options}")).sample(range(len(options)), n)
    return tuple(options[i] for i in sorted(chosen))


@functools.cache
def words_of(seed: int) -> Words:
    """The words of a world: half of each group of the lexicon."""
    return {
        sort: [list(half(seed, tuple(group))) for group in groups] for sort, groups in WORDS.items()
    }


def hold_out(draw: Draw, share: float = 0.4) -> tuple[Words, Words]:
    """Split a world's words into those of training rows and those held out from them.

    Each group of a sort is split by itself, so that both parts can express everything. A kind is
    held out under all sorts or under none.
    """
    held = {
        word
        for sort, groups in draw.seen.items()
        if sort not in ("living", "lifeless")
        for group in groups
        for word in draw.sample(group, max(1, round(len(group) * share)))
    }
    seen, unseen = (
        {sort: [[w for w in group if (w in held) == out] for group in groups]
         for sort, groups in draw.seen.items()}
        for out in (False, True)
    )  # fmt: skip
    return seen, unseen


def state(
    draw: Draw, who: str, feeling: Feeling, good: bool, denied: bool = False, n: int = 1
) -> str:
    """How somebody felt, in n adjectives; if `denied`, by denying the opposite."""
    be = "were" if who in (*OTHERS, "they") else "was"
    adjectives = draw.words(ADJECTIVES[feeling][good == denied], n, "or" if denied else "and")
    negator = f"{draw.form(*NEGATORS)} " if denied else ""
    return f"{who} {be} {negator}{adjectives}"


def verdict(claimed: str, follows: bool | None) -> str:
    """A claim and the books' verdict on it."""
    return f"{CLAIM} {claimed} {VERDICTS[follows]}"


@dataclass(frozen=True)
class Row:
    """A row's texts and label, all as in the task's files, and its degree of difficulty."""

    first: str
    second: str = ""
    label: str = ""
    choices: tuple[str, ...] = ()
    group: str = ""
    degree: str = ""


# Makes a row of a label and a degree, which the row need not repeat.
MakeRow = Callable[[Draw, str, Degree], Row]
# A context, and continuations to choose from; the first is right.
ClozeItem = tuple[str, tuple[str, ...]]
