"""The negative controls' text: the same words or the same sentences, in another order."""

from collections import Counter

import numpy as np

from gpt1.corpus import sentences, shuffle_sentences, shuffle_words
from gpt1.streams import stream

TEXT = "a b c d e f g h i j . k l , m n o p q r ? ! s t u v w x ... y z\nA B C D E F G\n \nlast"


def shuffled(text, name="book.txt"):
    words = text.replace("\n", " \n ").split(" ")
    return words, list(shuffle_words(words, stream("order of words", name)))


def test_end_marks_stay_and_every_sentence_keeps_its_words():
    before, after = shuffled(TEXT)
    ends = {".", "?", "!", "...", "\n"}
    assert [(i, w) for i, w in enumerate(before) if w in ends] == [
        (i, w) for i, w in enumerate(after) if w in ends
    ]
    start = 0
    for i, word in enumerate(before):
        if word in ends:
            assert Counter(before[start:i]) == Counter(after[start:i])
            start = i + 1
    assert before[start:] == after[start:] == ["last"]
    assert before[:10] != after[:10] and before[11:20] != after[11:20]


def test_the_order_is_the_documents_own():
    assert shuffled(TEXT) == shuffled(TEXT)
    assert shuffled(TEXT)[1] != shuffled(TEXT, "another.txt")[1]
    assert shuffled(TEXT)[1] != shuffled(TEXT, "book.txt ")[1]


def test_every_order_of_a_sentence_occurs():
    rng = stream("order of words", "x")
    seen = Counter(tuple(shuffle_words(["a", "b", "c"], rng)) for _ in range(600))
    assert len(seen) == 6 and min(seen.values()) > 60


def test_shuffled_sentences_are_whole_and_ends_of_lines_stay():
    words = [word for word in TEXT.replace("\n", " \n ").split(" ") if word]
    before = [*sentences(words)]
    assert [*map(len, before)] == [11, 10, 1, 7, 2, 1, 7, 1, 1, 1]
    ids, newline = np.array([words.index(word) for word in words]), words.index("\n")
    lengths = np.array([*map(len, before)])
    parts = [part.tolist() for part in np.split(ids, np.cumsum(lengths)[:-1])]
    firsts = Counter()
    for seed in range(600):
        rng = np.random.default_rng(seed)
        after = [part.tolist() for part in shuffle_sentences(ids, lengths, newline, rng)]
        assert sorted(after) == sorted(parts)
        assert [part == [newline] for part in after] == [part == [newline] for part in parts]
        firsts[after[0][0]] += 1
    assert len(firsts) == 7 and min(firsts.values()) > 40
