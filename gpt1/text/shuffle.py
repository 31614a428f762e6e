"""The negative controls' books: the words of each sentence, or all sentences, in random order.

A model pre-trained on shuffled words has seen the same words equally often, in the same sentences
and documents, but not their order. A model pre-trained on shuffled sentences has seen whole
sentences, but no context beyond them: the 1B Word Benchmark is like that, and the paper (4.1) chose
books for their long stretches of contiguous text.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from gpt1.streams import stream
from gpt1.text.vocabulary import NEWLINE

END_MARKS = ".!?"


def generator(name: str) -> np.random.Generator:
    """The random generator of one document, seeded by its name: no other document affects it."""
    return stream("order of words", name)


def sentences(words: Iterable[str]) -> Iterator[list[str]]:
    """The sentences of a text, each with its end mark; a line end is a sentence of its own.

    A sentence ends with a word made of END_MARKS only ("...") or with its line.
    """
    sentence: list[str] = []
    for word in words:
        if word == NEWLINE and sentence:
            yield sentence
            sentence = []
        sentence.append(word)
        if _is_end(word):
            yield sentence
            sentence = []
    if sentence:
        yield sentence


def shuffle_words(words: Iterable[str], rng: np.random.Generator) -> Iterator[str]:
    """The same words, in random order within each sentence; end marks stay in their places."""
    for sentence in sentences(words):
        n = len(sentence) - _is_end(sentence[-1])
        yield from (sentence[i] for i in rng.permutation(n))
        yield from sentence[n:]


def shuffle_sentences(
    ids: np.ndarray, lengths: np.ndarray, newline: int, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """The sentences of a stream of tokens in random order; line ends stay in their places.

    `ids` are the tokens, uint16 [n]; `lengths`, which sum to n, are the sentences' numbers of
    tokens. All is held in memory, with some 30 bytes per sentence: 6 GB for the paper's books.
    """
    starts = np.cumsum(lengths) - lengths
    order = np.arange(len(lengths))
    moved = order[ids[starts] != newline]
    order[moved] = rng.permutation(moved)
    for i in order:
        yield ids[starts[i] : starts[i] + lengths[i]]


def _is_end(word: str) -> bool:
    return word == NEWLINE or not word.strip(END_MARKS)
