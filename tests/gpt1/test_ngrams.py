"""The search for n-grams against plain Python: the same rows, whatever blocks and hashes."""

import tracemalloc

import numpy as np
import pytest

from gpt1.contamination import WordNumbers
from gpt1.text import ngrams
from gpt1.text.ngrams import Search


def plain_ngrams(symbols: list, n: int) -> set[tuple]:
    return {tuple(symbols[i : i + n]) for i in range(len(symbols) - n + 1)}


def blocks_of(stream: np.ndarray, block: int) -> list[np.ndarray]:
    return [stream[at : at + block] for at in range(0, len(stream), block)]


def found(texts: list[list[int]], stream: list[int], n: int, block: int) -> list[bool]:
    """Of each text: whether it has an n-gram of the stream."""
    search = Search(n)
    for row, text in enumerate(texts):
        search.add(row, [np.array(text)])
    search.scan(blocks_of(np.array(stream, np.uint16), block))
    return [row in search.contaminated for row in range(len(texts))]


@pytest.mark.parametrize("block", [1, 2, 5, 12, 13, 14, 64, 1000])
@pytest.mark.parametrize("n", [1, 2, 13])
def test_rows_found_are_those_of_plain_python(n, block):
    rng = np.random.default_rng(block)
    stream = rng.integers(0, 3 if n == 13 else 12, 400).tolist()
    texts = [stream[at : at + n + k] for k, at in enumerate((0, 40, 400 - n - 2))]
    texts += [rng.integers(0, 14, length).tolist() for length in (0, 1, n - 1, n, n + 9, 60)]
    known = plain_ngrams(stream, n)
    wanted = [not plain_ngrams(text, n).isdisjoint(known) for text in texts]
    assert found(texts, stream, n, block) == wanted
    assert True in wanted and False in wanted


def numbered(count: int, first: int = 1) -> list[int]:
    return list(range(first, first + count))


def test_thirteen_symbols_match_and_twelve_do_not():
    stream = numbered(100, 1000)
    thirteen, twelve = numbered(5) + stream[40:53], stream[40:52] + numbered(20)
    assert found([thirteen, twelve], stream, 13, 64) == [True, False]


@pytest.mark.parametrize("at", [0, 51, 52, 58, 63, 64, 87])
def test_an_overlap_across_the_border_of_two_blocks_and_at_either_end_is_found(at):
    stream = numbered(100, 1000)
    assert found([stream[at : at + 13]], stream, 13, 64) == [True]


def test_every_row_with_an_ngram_is_found_and_streams_do_not_join():
    search = Search(3)
    for row, text in enumerate(([1, 2, 3], [9, 1, 2, 3], [3, 4, 5], [4, 5, 6])):
        search.add(row, [np.array(text)])
    for stream in ([1, 2, 3, 4], [5, 6]):
        search.scan([np.array(stream)])
    assert search.contaminated == {0, 1}


def test_ngrams_of_two_texts_of_a_row_do_not_join():
    search = Search(3)
    search.add("row", [np.array([1, 2]), np.array([3, 4, 9])])
    search.scan([np.array([1, 2, 3, 4])])
    assert search.contaminated == set()


@pytest.mark.parametrize("base", [0, 1, 1 << 63])
def test_colliding_hashes_make_no_match_and_hide_none(monkeypatch, base):
    monkeypatch.setattr(ngrams, "HASH_BASE", np.uint64(base))
    rng = np.random.default_rng(base % 7)
    stream = rng.integers(0, 50, 300).tolist()
    texts = [rng.integers(0, 50, 20).tolist() for _ in range(20)]
    texts += [stream[at : at + 13] for at in (0, 100, 287)]
    assert found(texts, stream, 13, 50) == [False] * 20 + [True] * 3


def test_nothing_to_look_for_finds_nothing():
    assert found([[1, 2, 3]], numbered(50), 13, 16) == [False]
    assert found([], numbered(50), 13, 16) == []


def test_words_are_numbered_by_the_rows_and_any_other_word_is_zero():
    numbers = WordNumbers()
    row = numbers.of_text("It was\n\nit, été IT").tolist()
    assert row == [1, 2, 1, 3, 4, 1]
    (corpus,) = numbers.of_corpus("it was\nnot it , été\n")
    assert corpus.tolist() == [1, 2, 0, 1, 3, 4]
    assert numbers.of_text("\n ").tolist() == [] and not list(numbers.of_corpus(""))


def test_words_that_no_row_has_match_nothing():
    numbers, search = WordNumbers(), Search(2)
    search.add("row", [numbers.of_text("one two")])
    search.scan(numbers.of_corpus("one three\nfour two\n"))
    assert search.contaminated == set()
    search.scan(numbers.of_corpus("one\ntwo\n"))
    assert search.contaminated == {"row"}


def test_memory_is_bounded_by_the_block_and_not_by_the_stream(tmp_path):
    def peak(tokens: int) -> int:
        path = tmp_path / f"{tokens}.bin"
        np.resize(np.arange(40_000, dtype=np.uint16), tokens).tofile(path)
        stream = np.memmap(path, np.uint16, "r")
        search = Search()
        search.add("row", [np.arange(200)])
        search.scan([np.zeros(13)])  # makes the table
        tracemalloc.start()
        search.scan(stream[at : at + 4096] for at in range(0, len(stream), 4096))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert search.contaminated == {"row"}
        return most

    assert peak(1_000_000) < 1.2 * peak(100_000) < 1_000_000
