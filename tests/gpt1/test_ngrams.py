"""The search for n-grams against plain Python: the same finds, whatever blocks and hashes."""

import io
import tracemalloc

import numpy as np
import pytest

from gpt1.text import ngrams
from gpt1.text.ngrams import (
    Grams,
    Run,
    Search,
    of_tokens,
    of_words,
    rolling,
    scan_tokens,
    scan_words,
)

NEWLINE = 60_000


def plain_grams(symbols: list, n: int) -> set[tuple]:
    return {tuple(symbols[i : i + n]) for i in range(len(symbols) - n + 1)}


def plain_words(text: str) -> list[str]:
    return text.split()


def found_tokens(texts: list[list[int]], stream: list[int], n: int, block: int) -> list[bool]:
    """Of each text: whether it has an n-gram of the stream."""
    grams = Grams(n)
    numbers = [grams.add(of_tokens(np.array(text, np.int32))) for text in texts]
    search = Search(grams)
    scan_tokens(search, np.array(stream, np.uint16), NEWLINE, block)
    return [bool(search.seen[each].any()) for each in numbers]


def found_words(texts: list[str], stream: str, n: int, block: int) -> list[bool]:
    grams = Grams(n)
    numbers = [grams.add(of_words(text.encode())) for text in texts]
    search = Search(grams)
    scan_words(search, ngrams.word_blocks(io.BytesIO(stream.encode()), block))
    return [bool(search.seen[each].any()) for each in numbers]


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 13])
def test_a_rolled_hash_is_the_sum_that_it_says(n):
    symbols = np.random.default_rng(n).integers(0, 1 << 63, 40).astype(np.uint64)
    wanted = [
        sum(int(x) * ngrams.SYMBOL_BASE**j for j, x in enumerate(symbols[i : i + n])) % (1 << 64)
        for i in range(40 - n + 1)
    ]
    assert rolling(symbols, n).tolist() == wanted
    assert rolling(symbols[: n - 1], n).tolist() == []


def test_a_words_number_depends_on_the_word_alone():
    run = of_words("it was\nit , été it".encode())
    words = [run.data[a:b].decode() for a, b in zip(run.starts, run.ends, strict=True)]
    assert words == ["it", "was", "it", ",", "été", "it"]
    numbers = run.symbols.tolist()
    assert numbers[0] == numbers[2] == numbers[5]
    assert len(set(numbers)) == 4
    alone = of_words("été".encode())
    assert alone.symbols.tolist() == [numbers[4]]


@pytest.mark.parametrize("text", ["", " ", "\n"])
def test_a_text_of_hardly_anything_is_a_run(text):
    assert len(of_words(text.encode()).symbols) == 0


def test_newlines_and_blanks_part_words_the_same_way_in_texts_and_in_books():
    assert of_words(b"a \n b").data == of_words(b"a\nb").data == b"a b"
    assert of_words(b" a\n\nb ").data == b"a b"


@pytest.mark.parametrize("block", [1, 5, 12, 13, 14, 64])
def test_a_newline_between_any_two_tokens_or_words_hides_nothing(block):
    text, stream = numbered(13), []
    for number in numbered(40):
        stream += [number, NEWLINE]
    assert found_tokens([text], stream, 13, block) == [True]
    words = [f"w{number}" for number in text]
    lines = "\n".join(f"w{number}" for number in numbered(40)) + "\n"
    assert found_words([" ".join(words)], lines, 13, block) == [True]


@pytest.mark.parametrize("block", [1, 2, 5, 12, 13, 14, 64, 1000])
@pytest.mark.parametrize("n", [2, 13])
def test_tokens_found_are_those_of_plain_python(n, block):
    rng = np.random.default_rng(block)
    stream = rng.integers(0, 3 if n == 13 else 12, 400).tolist()
    texts = [stream[at : at + n + k] for k, at in enumerate((0, 40, 400 - n - 2))]
    texts += [rng.integers(0, 3, length).tolist() for length in (0, 1, n - 1, n, n + 9, 60)]
    known = plain_grams(stream, n)
    wanted = [not plain_grams(text, n).isdisjoint(known) for text in texts]
    assert found_tokens(texts, stream, n, block) == wanted
    assert True in wanted and False in wanted


@pytest.mark.parametrize("block", [1, 3, 10, 50, 10_000])
@pytest.mark.parametrize("n", [2, 13])
def test_words_found_are_those_of_plain_python(n, block):
    rng = np.random.default_rng(block)
    names = ["a", "ab", "été", "\n"] if n == 13 else ["a", "b", "ab", "ba", "aba", "été", "c"]
    draw = lambda length: " ".join(rng.choice(names, length)).replace(" \n ", "\n")  # noqa: E731
    stream = draw(300) + "\n"
    words = plain_words(stream)
    texts = [" ".join(words[at : at + n + 3]) for at in (0, 100, 300 - n - 3)]
    texts += [draw(length) for length in (1, n - 1, n, n + 9, 60)]
    known = plain_grams(plain_words(stream), n)
    wanted = [not plain_grams(plain_words(text), n).isdisjoint(known) for text in texts]
    assert found_words(texts, stream, n, block) == wanted
    assert True in wanted


def numbered(count: int, first: int = 1) -> list[int]:
    return list(range(first, first + count))


def test_thirteen_tokens_match_and_twelve_do_not():
    stream = numbered(100, 1000)
    thirteen, twelve = numbered(5) + stream[40:53], stream[40:52] + numbered(20)
    assert found_tokens([thirteen, twelve], stream, 13, 64) == [True, False]


def test_thirteen_words_match_and_twelve_do_not():
    words = [f"w{i}" for i in range(100)]
    thirteen, twelve = " ".join(["x", *words[40:53]]), " ".join([*words[40:52], *"abcdefgh"])
    assert found_words([thirteen, twelve], " ".join(words) + "\n", 13, 30) == [True, False]


@pytest.mark.parametrize("at", [0, 51, 52, 58, 63, 64, 87])
def test_an_overlap_across_the_border_of_two_blocks_and_at_either_end_is_found(at):
    stream = numbered(100, 1000)
    assert found_tokens([stream[at : at + 13]], stream, 13, 64) == [True]
    words = [f"w{i}" for i in range(100)]
    text = " ".join(words[at : at + 13])
    assert found_words([text], " ".join(words), 13, len(" ".join(words[:64]))) == [True]


def test_a_word_longer_than_a_block_is_not_cut():
    long = "x" * 500
    words = [*"abcdefg", long, *"hijklmn"]
    assert found_words([" ".join(words)], " ".join(words), 13, 10) == [True]
    assert found_words([" ".join([*"abcdefg", "x" * 10, *"hijklmn"])], " ".join(words), 13, 10) == [
        False
    ]


def few_values(monkeypatch: pytest.MonkeyPatch, bits: int) -> None:
    """Hashes of a few bits only, so that different n-grams share them all the time."""
    whole = ngrams.rolling
    mask = np.uint64(((1 << bits) - 1) << (64 - bits))
    monkeypatch.setattr(ngrams, "rolling", lambda symbols, n: whole(symbols, n) & mask)


@pytest.mark.parametrize("bits", [0, 1, 3])
def test_colliding_hashes_make_no_match_and_hide_none(monkeypatch, bits):
    few_values(monkeypatch, bits)
    rng = np.random.default_rng(bits)
    stream = rng.integers(0, 50, 300).tolist()
    texts = [rng.integers(0, 50, 20).tolist() for _ in range(20)]
    texts += [stream[at : at + 13] for at in (0, 100, 287)]
    grams = Grams()
    for text in texts:
        grams.add(of_tokens(np.array(text)))
    assert len(set(grams.hashes)) <= 1 << bits < len(grams)
    assert found_tokens(texts, stream, 13, 50) == [False] * 20 + [True] * 3


def test_words_of_one_number_are_still_told_apart(monkeypatch):
    alike = lambda run: Run(run.data, run.starts, run.ends, run.symbols * np.uint64(0))  # noqa: E731
    whole = ngrams.of_words
    monkeypatch.setattr(ngrams, "of_words", lambda text: alike(whole(text)))
    words = [f"w{i}" for i in range(60)]
    other = [f"v{i}" for i in range(13)]
    grams = Grams()
    numbers = [grams.add(ngrams.of_words(" ".join(t).encode())) for t in (words[20:33], other)]
    search = Search(grams)
    scan_words(search, iter([" ".join(words).encode()]))
    assert [search.seen[each].all() for each in numbers] == [True, False]


def test_nothing_to_look_for_finds_nothing():
    assert found_tokens([[1, 2, 3]], numbered(50), 13, 16) == [False]


def test_memory_is_bounded_by_the_block_and_not_by_the_stream(tmp_path):
    grams = Grams()
    grams.add(of_tokens(np.arange(200)))

    def peak(tokens: int) -> int:
        path = tmp_path / f"{tokens}.bin"
        np.resize(np.arange(40_000, dtype=np.uint16), tokens).tofile(path)
        tokens = np.memmap(path, np.uint16, "r")
        search = Search(grams)
        tracemalloc.start()
        scan_tokens(search, tokens, block=1 << 12)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert search.seen.all()
        return most

    assert peak(1_000_000) < 1.2 * peak(100_000) < 1_000_000

    def words(size: int) -> int:
        text = " ".join(f"w{i % 997}" for i in range(size)).encode()
        search = Search(grams)
        tracemalloc.start()
        scan_words(search, ngrams.word_blocks(io.BytesIO(text), 1 << 12))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    words(10_000)  # the powers, once
    assert words(100_000) < 1.2 * words(10_000) < 1_000_000
