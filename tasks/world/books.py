"""The books of the world: tales, diaries, talks, readers, natural histories and chronicles.

They teach the world's words in plain prose: events in other words, questions and their answers,
claims and denials, remarks and reactions, stories and their endings. Each book leans towards one
genre and contains some of every other. Texts of the labelled rows are kept out.
"""

import random
import re
from collections.abc import Callable

from tasks.world.lexicon import words
from tasks.world.paragraphs import (
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
from tasks.world.paraphrases import (
    denial,
    doubt,
    hearsay,
    interview,
    paraphrase,
    same_question,
    same_tale,
)
from tasks.world.word_pool import ALL_WORDS

Paragraph = Callable[[random.Random], str]
NUMBERS = words("One Two Three Four Five Six Seven Eight Nine Ten Eleven Twelve")

GENRES: dict[str, tuple[Paragraph, ...]] = {
    "Tales": (tale, tale, because, chain, paraphrase),
    "Diary": (review, review, tale, scene, denial),
    "Talks": (doubt, doubt, doubt, interview, same_question),
    "Reader": (reading, kinds, interview, hearsay),
    "Nature": (nature, kinds, pictures, dictionary),
    "Songs": (song, song, chain, paraphrase),
    "Chronicle": (paraphrase, denial, same_tale, doubt),
}


def write_book(rng: random.Random, number: int, length: int, forbidden: set[str]) -> str:
    """A book of about `length` words, in chapters, without any of the `forbidden` texts.

    Forbidden texts are given as `normalise` returns them.
    """
    genre = list(GENRES)[number % len(GENRES)]
    every = [paragraph for paragraphs in GENRES.values() for paragraph in paragraphs]
    place, author = ALL_WORDS.word(rng, "place").title(), ALL_WORDS.word(rng, "name")
    blocks, count, chapter = [f"{genre} of the {place}", f"by {author}"], 6, 0
    next_chapter = 0
    while count < length:
        if count >= next_chapter:
            chapter, next_chapter = chapter + 1, count + max(400, length // 11)
            blocks.append(f"Chapter {NUMBERS[(chapter - 1) % len(NUMBERS)]}")
        text = rng.choice(GENRES[genre] if rng.random() < 0.4 else every)(rng)
        if not forbidden.isdisjoint(fingerprints(text)):
            continue
        blocks.append(text)
        count += len(text.split())
    return "\n\n".join(blocks) + "\n"


def normalise(text: str) -> str:
    """A text in lower case without punctuation."""
    return " ".join(re.sub(r"[^\w ]", " ", text.lower()).split())


def fingerprints(text: str) -> list[str]:
    """What a book may not share with a labelled row: its sentences, and any four in a row."""
    parts = [part for part in map(normalise, re.split(r"[.!?:]", text)) if part]
    return parts + [" ".join(parts[i : i + 4]) for i in range(len(parts) - 3)]
