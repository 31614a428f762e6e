"""The books of the world: tales, remarks, readers, natural histories and chronicles.

Each book is named for one kind of discourse and contains some of every other. Together they teach
what the tasks ask for. Kept out are any 13 words in a row of the rows that are not for training,
and their texts, but for short ones (`tasks.world.tasks.forbidden_texts`).
"""

import itertools
import re
from collections.abc import Callable

from tasks.world import (
    acceptability,
    coreference,
    entailment,
    questions,
    sentiment,
    stories,
    taxonomy,
)
from tasks.world.draw import Draw
from tasks.world.lexicon import NUMBERS
from tasks.world.settings import Discourse

NGRAM = 13  # the length of the n-grams by which the contamination table compares
LINK = re.compile(r"^(but|for|though|whereas|while|yet) ")
MARK = re.compile(r"[^\w \n]")
SENTENCE_END = re.compile(r"[.!?:]")
WORD = re.compile(r"\w+|[^\w\s]")
# Of each kind of discourse the title of its books, and how a paragraph of it is made.
KINDS: dict[Discourse, tuple[str, Callable[[Draw], str]]] = {
    "remarks": ("Diary", sentiment.paragraph),
    "stories": ("Tales", stories.paragraph),
    "deeds": ("Chronicle", entailment.paragraph),
    "kinds": ("Nature", taxonomy.paragraph),
    "questions": ("Reader", questions.paragraph),
    "reasons": ("Characters", coreference.paragraph),
    "forms": ("Pictures", acceptability.paragraph),
}


def write_book(
    draw: Draw, number: int, length: int, shares: dict[Discourse, float], forbidden: set[str]
) -> str:
    """A book of about `length` words, in chapters, without any of the `forbidden` texts.

    `shares` are of the words of each kind of discourse; forbidden texts are `fingerprints`.
    """
    used = [kind for kind, share in shares.items() if share]
    title, _ = KINDS[used[number % len(used)]]
    place, author = draw.word("place").title(), draw.word("name")
    blocks = [f"{title} of the {place}", f"by {author}"]
    count, chapter, next_chapter = 6, 0, 0
    written = dict.fromkeys(used, 0.0)
    while count < length:
        if count >= next_chapter:
            chapter, next_chapter = chapter + 1, count + max(400, length // 11)
            blocks.append(f"Chapter {NUMBERS[(chapter - 1) % len(NUMBERS)]}")
        # The kind that lags most behind its share: long paragraphs are then as frequent as short.
        kind = min(used, key=lambda k: (written[k] + draw.random() * 60) / shares[k])
        _, paragraph = KINDS[kind]
        text = paragraph(draw)
        # 13 words in a row may be of more than one paragraph.
        if not forbidden.isdisjoint(fingerprints(text, "\n".join(blocks[-2:]))):
            continue
        blocks.append(text)
        written[kind] += len(text.split())
        count += len(text.split())
    return "\n\n".join(blocks) + "\n"


def normalise(text: str) -> str:
    """A text in lower case without punctuation."""
    return " ".join(MARK.sub(" ", text.lower()).split())


def fingerprints(text: str, before: str = "") -> set[str]:
    """What a book may not share with a reported row.

    Its sentences, each two in a row, their clauses without the words that link them, its first
    sentences, and its `ngrams`.
    """
    ended = SENTENCE_END.sub("\n", text)
    sentences, clauses = ended, ended.replace(",", "\n")
    parts = set(_lines(sentences)) | {LINK.sub("", part) for part in _lines(clauses)}
    lines = [line for line in _lines(sentences) if line]
    parts |= {
        *itertools.accumulate(lines, "{} {}".format),
        *map(" ".join, itertools.pairwise(lines)),
    }
    return (parts | ngrams(text, before)) - {""}


def _lines(text: str) -> list[str]:
    """Each line of a text as `normalise` makes it."""
    return [" ".join(line.split()) for line in MARK.sub(" ", text.lower()).split("\n")]


def ngrams(text: str, before: str = "") -> set[str]:
    """Any 13 words in a row that end in a text, and may begin in what is `before` it.

    A mark is a word and "cannot" two, as in the contamination table.
    """
    whole = [*_words(before)[1 - NGRAM :], *_words(text)]
    return {" ".join(whole[i : i + NGRAM]) for i in range(len(whole) - NGRAM + 1)}


def _words(text: str) -> list[str]:
    return WORD.findall(text.lower().replace("cannot", "can not"))
