"""The cleaning path: the authors' rules one by one, and long texts in blocks."""

import io
import random

import ftfy
import pytest

from gpt1.text import normalise as text
from tests.gpt1 import plain


@pytest.mark.parametrize("group", plain.golden())
def test_golden_sentences_are_split_as_by_the_plain_path(group):
    for sentence in plain.golden()[group]:
        assert text.words(sentence) == plain.words(sentence), sentence


def test_golden_file_is_large_and_varied():
    assert len(set(plain.sentences())) >= 300
    assert len(plain.golden()) >= 12


def test_standardize_agrees_with_the_plain_rules_on_random_strings():
    random.seed(0)
    alphabet = "aB'.:%#$@=<>`\\ \t\n\n\u00a0\u2009\u3000—–―…´é京😀" + '-~!";?+,)(/*[]}{|_' * 2
    for _ in range(4000):
        sample = "".join(random.choices(alphabet, k=random.randint(0, 30)))
        assert text.standardize(sample) == plain.standardize(sample), repr(sample)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("a—b–c―d", "a - b - c - d"),
        ("wait…", "wait..."),
        ("it´s", "it's"),
        ("a!!!b", "a !!! b"),
        ("a+-+b", "a + - + b"),
        ("x \n\n\t\n y", "x \n y"),
        ("a\u00a0\t b", "a b"),
        ("  a  ", "a"),
        ("a.b:c'd%e#f$g@h=i<j>k`l", "a.b:c'd%e#f$g@h=i<j>k`l"),
    ],
)
def test_standardize_rules(raw, expected):
    assert text.standardize(raw) == expected


def test_backslash_is_not_set_apart():
    assert text.standardize(r"a\b c\\d") == r"a\b c\\d"
    assert text.standardize("a/b") == "a / b"


@pytest.mark.parametrize(
    ("raw", "mended", "words"),
    [
        ("“Hi” ‘x’", "\"Hi\" 'x'", ['"', "hi", '"', "'", "x", "'"]),
        ("ﬁsh", "fish", ["fish"]),
        ("ＡＢＣ", "ABC", ["abc"]),
        ("one\r\ntwo\u2028six", "one\ntwo\nsix", ["one", "\n", "two", "\n", "six"]),
        ("cafe\u0301", "caf\u00e9", ["caf\u00e9"]),
        ("R&amp;D", "R&D", ["r&d"]),
        ("wait… a—b\u00a0c", "wait… a—b\u00a0c", ["wait", "...", "a", "-", "b", "c"]),
    ],
    ids=["quotes", "ligature", "full width", "line ends", "combining", "entity", "left alone"],
)
def test_what_ftfy_mends_and_what_it_leaves_to_the_rules(raw, mended, words):
    assert ftfy.fix_text(raw) == mended
    assert text.words(raw) == words


def test_lower_casing_comes_after_spacy():
    # spaCy's rules know "id" (for "I'd") and "can't", but neither in capitals.
    assert text.words("id") == ["i", "d"] and text.words("ID") == ["id"]
    assert text.words("Can't") == ["ca", "n't"] and text.words("CAN'T") == ["can't"]


def test_a_line_end_is_one_word_however_many_blank_lines():
    assert text.words("one\n\n \n two") == ["one", "\n", "two"]
    assert text.words("\n\none\r\ntwo\n\n") == ["one", "\n", "two"]
    assert text.words("one\u2028two") == ["one", "\n", "two"]


def test_text_without_anything_visible_has_no_words():
    assert text.words("") == text.words(" \n\t\u00a0\n") == []


def test_entities_are_unescaped_only_in_lines_before_the_first_that_has_an_angle_bracket():
    assert text.words("R&amp;D") == ["r&d"]
    assert ftfy.fix_text("R&amp;D is 5 < 6\n") == "R&amp;D is 5 < 6\n"  # its own line, before it
    assert text.words("R&amp;D is 5 < 6\n")[:4] == ["r&amp", ";", "d", "is"]
    assert text.words("Q &amp; A\n5 < 6\nQ &amp; A")[:4] == ["q", "&", "a", "\n"]
    assert text.words("Q &amp; A\n5 < 6\nQ &amp; A")[-4:] == ["&", "amp", ";", "a"]


def long_text() -> str:
    random.seed(1)
    lines = [*plain.sentences() * 2]
    random.shuffle(lines)
    # The first `<` comes late, so that blocks stand on both sides of it.
    lines.sort(key=lambda line: "<" in line)
    return "Tom &amp; Jerry\r\n" * 3 + "\n".join(lines) + "\nTom &amp; Jerry\n"


@pytest.mark.parametrize("size", [1, 7, 100, 5000, 10**9])
def test_cleaning_does_not_depend_on_the_blocks(size):
    whole = long_text()
    cleaned = "".join(text.clean(text.blocks(io.StringIO(whole, newline=""), size)))
    found = [word for word in cleaned.replace("\n", " \n ").split(" ") if word]
    assert found == [*plain.words(whole), "\n"]
    assert "  " not in cleaned and " \n" not in cleaned and "\n\n" not in cleaned


def test_cleaned_text_of_blank_blocks_is_empty():
    assert "".join(text.clean(["\n\n", "  \n", "\t"])) == ""
    assert "".join(text.clean(["\n\n", "a\n", "\n", "b"])) == "a\nb\n"


def test_blocks_give_back_the_text_and_stay_small():
    for sample in (long_text(), "word " * 5000, "\n" * 3000, "x" * 9000, "a\r" * 4000):
        parts = list(text.blocks(io.StringIO(sample, newline=""), size=64, longest=1000))
        assert "".join(parts) == sample
        assert max(map(len, parts)) <= 1000 + 64


@pytest.mark.parametrize("separator", [" ", "  ", " \r", "\r ", "\r", "\u2028"])
def test_a_giant_line_is_cut_before_a_word_and_keeps_its_line_ends(separator):
    sample = separator.join(f"word{i}" for i in range(300))
    parts = text.blocks(io.StringIO(sample, newline=""), size=10, longest=100)
    cleaned = "".join(text.clean(parts))
    assert cleaned.replace("\n", " \n ").split() == sample.split()
    assert cleaned.count("\n") == 1 + (299 if separator.strip(" ") else 0)


def test_the_memory_of_words_is_bounded_and_a_fresh_splitter_splits_alike(monkeypatch):
    before = [text.words(sentence) for sentence in plain.sentences()[:40]]
    first = text._splitter()
    monkeypatch.setattr(text, "_MOST_WORDS", len(first) + 50)
    for i in range(60):
        text.words(f"newword{i} anotherword{i}")
    assert text._splitter() is not first and len(text._splitter()) < len(first)
    assert [text.words(sentence) for sentence in plain.sentences()[:40]] == before
