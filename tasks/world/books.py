"""The books of the world: tales, diaries, talks, readers, natural histories and chronicles.

They teach the world's words in plain prose: the same event in other words, questions and their
answers, what was said and denied, remarks and how they were received, stories and how they end.
Every book leans to one genre and holds some of each. Sentences of the labelled rows are kept out.
"""

import random
import re
from collections.abc import Callable

from tasks.world.lexicon import words
from tasks.world.lore import (
    because,
    chain,
    dictionary,
    kinds,
    nature,
    pictures,
    reading,
    review,
    scene,
    song,
    tale,
)
from tasks.world.pool import ALL
from tasks.world.retelling import (
    denial,
    doubt,
    interview,
    paraphrase,
    same_question,
    same_tale,
    talk,
)

Paragraph = Callable[[random.Random], str]
NUMBERS = words("One Two Three Four Five Six Seven Eight Nine Ten Eleven Twelve")

GENRES: dict[str, tuple[Paragraph, ...]] = {
    "Tales": (tale, tale, because, chain, paraphrase),
    "Diary": (review, review, tale, scene, denial),
    "Talks": (doubt, doubt, doubt, interview, same_question),
    "Reader": (reading, kinds, interview, talk),
    "Nature": (nature, kinds, pictures, dictionary),
    "Songs": (song, song, chain, paraphrase),
    "Chronicle": (paraphrase, denial, same_tale, doubt),
}


def write_book(rng: random.Random, number: int, length: int, forbidden: set[str]) -> str:
    """One book of about `length` words, in chapters; no sentence of it is in `forbidden`.

    `forbidden` holds texts as `plain` gives them.
    """
    genre = list(GENRES)[number % len(GENRES)]
    rest = [part for parts in GENRES.values() for part in parts]
    place, name = ALL.word(rng, "place").title(), ALL.word(rng, "name")
    lines, count, chapter = [f"{genre} of the {place}", f"by {name}"], 6, 0
    next_chapter = 0
    while count < length:
        if count >= next_chapter:
            chapter, next_chapter = chapter + 1, count + max(400, length // 11)
            lines.append(f"Chapter {NUMBERS[(chapter - 1) % len(NUMBERS)]}")
        make = rng.choice(GENRES[genre] if rng.random() < 0.4 else rest)
        text = make(rng)
        if not forbidden.isdisjoint(fingerprints(text)):
            continue
        lines.append(text)
        count += len(text.split())
    return "\n\n".join(lines) + "\n"


def plain(text: str) -> str:
    """A text in lower case without punctuation."""
    return " ".join(re.sub(r"[^\w ]", " ", text.lower()).split())


def fingerprints(text: str) -> list[str]:
    """What a text may share with no labelled row: each sentence, and each four in a row."""
    parts = [p for p in map(plain, re.split(r"[.!?:]", text)) if p]
    return parts + [" ".join(parts[i : i + 4]) for i in range(len(parts) - 3)]
