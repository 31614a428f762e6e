"""The negative control's text: the same words in the same sentences, in another order."""

from collections import Counter

from gpt1.text.shuffle import generator, shuffle_sentences

TEXT = "a b c d e f g h i j . k l , m n o p q r ? ! s t u v w x ... y z\nA B C D E F G\n \nlast"


def shuffled(text, name="book.txt"):
    words = text.replace("\n", " \n ").split(" ")
    return words, list(shuffle_sentences(words, generator(name)))


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
    rng = generator("x")
    seen = Counter(tuple(shuffle_sentences(["a", "b", "c"], rng)) for _ in range(600))
    assert len(seen) == 6 and min(seen.values()) > 60
