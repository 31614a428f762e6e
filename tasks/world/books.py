"""The books of the world: tales, remarks, readers, natural histories and chronicles.

Each book is named after one kind of discourse and contains some of every other. Together they teach
what the tasks ask for. Any 13 consecutive words of the rows that are not for training are kept out,
and so are their texts, except short ones (`tasks.world.tasks.forbidden_texts`).
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

NGRAM = 13  # the length of the contamination table's n-grams
LINK = re.compile(r"^(but|for|though|whereas|while|yet) ")
MARK = re.compile(r"[^\w \n]")
SENTENCE_END = re.compile(r"[.!?:]")
WORD = re.compile(r"\w+|[^\w\s]")
# For each kind of discourse, the title of its books and the maker of its paragraphs.
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

    `shares` has each kind of discourse's share of the words; forbidden texts are `fingerprints`.
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
        # The kind furthest behind its share of words, whatever the length of its paragraphs.
        kind = min(used, key=lambda k: (written[k] + draw.random() * 60) / shares[k])
        _, paragraph = KINDS[kind]
        text = paragraph(draw)
        # 13 consecutive words may span more than one paragraph.
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
    """The parts of a text that a book may not share with a reported row.

    They are its sentences, each two consecutive sentences, the clauses without their linking words,
    its opening runs of sentences of any length, and its `ngrams`.
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
    """Each line of a text, normalised as by `normalise`."""
    return [" ".join(line.split()) for line in MARK.sub(" ", text.lower()).split("\n")]


def ngrams(text: str, before: str = "") -> set[str]:
    """Any 13 consecutive words that end in a text, and may begin in the text `before` it.

    A punctuation mark is one word and "cannot" two, as in the contamination table.
    """
    whole = [*_words(before)[1 - NGRAM :], *_words(text)]
    return {" ".join(whole[i : i + NGRAM]) for i in range(len(whole) - NGRAM + 1)}


def _words(text: str) -> list[str]:
    return WORD.findall(text.lower().replace("cannot", "can not"))
