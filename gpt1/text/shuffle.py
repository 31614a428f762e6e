"""Sentences with their words in random order: the corpus of the negative control.

A model that is pre-trained on such a corpus has seen the same words as often, in the same sentences
and documents, but not how they follow each other.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from gpt1.streams import stream
from gpt1.text.vocabulary import NEWLINE

END_MARKS = ".!?"


def generator(name: str) -> np.random.Generator:
    """The random numbers of one document, by its name: no other document moves them."""
    return stream("order of words", name)


def shuffle_sentences(words: Iterable[str], rng: np.random.Generator) -> Iterator[str]:
    """The same words, those of each sentence in random order; end marks stay in their places.

    A sentence ends with a word of END_MARKS alone ("...") or with its line.
    """
    sentence: list[str] = []
    for word in words:
        if word == NEWLINE or not word.strip(END_MARKS):
            yield from _permuted(sentence, rng)
            yield word
            sentence = []
        else:
            sentence.append(word)
    yield from _permuted(sentence, rng)


def _permuted(words: list[str], rng: np.random.Generator) -> list[str]:
    return [words[i] for i in rng.permutation(len(words))]
