"""Normalising text: the authors' rules one by one, spaCy's words, long texts in blocks."""

import random
import tarfile
from pathlib import Path

import ftfy
import pytest

from gpt1.text import normalise
from tests.gpt1.text import naive_bpe
from tests.gpt1.text.naive_bpe import english as spacy_english
from tests.support.realdata import realdata


@pytest.mark.parametrize("group", naive_bpe.golden())
def test_golden_sentences_are_split_as_by_the_naive_path(group):
    for sentence in naive_bpe.golden()[group]:
        assert normalise.words(sentence) == naive_bpe.words(sentence), sentence


def test_standardise_agrees_with_the_naive_rules_on_random_strings():
    random.seed(0)
    alphabet = "aB'.:%#$@=<>`\\ \t\n\n\u00a0\u2009\u3000—–―…´é京😀" + '-~!";?+,)(/*[]}{|_' * 2
    for _ in range(4000):
        sample = "".join(random.choices(alphabet, k=random.randint(0, 30)))
        assert normalise.standardise(sample) == naive_bpe.standardise(sample), repr(sample)


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
        (r"a\b c\\d a/b", r"a\b c\\d a / b"),
    ],
)
def test_standardise_rules(raw, expected):
    assert normalise.standardise(raw) == expected


@pytest.mark.parametrize(
    ("raw", "fixed", "words"),
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
def test_what_ftfy_fixes_and_what_it_leaves_to_the_rules(raw, fixed, words):
    assert ftfy.fix_text(raw) == fixed
    assert normalise.words(raw) == words


def test_lower_casing_comes_after_spacy():
    # spaCy's rules know "id" (for "I'd") and "can't", but neither in capitals.
    assert normalise.words("id") == ["i", "d"] and normalise.words("ID") == ["id"]
    assert normalise.words("Can't") == ["ca", "n't"] and normalise.words("CAN'T") == ["can't"]


def test_a_line_end_is_one_word_however_many_blank_lines():
    assert normalise.words("one\n\n \n two") == ["one", "\n", "two"]
    assert normalise.words("\n\none\r\ntwo\n\n") == ["one", "\n", "two"]
    assert normalise.words("one\u2028two") == ["one", "\n", "two"]


def test_entities_are_unescaped_only_in_lines_before_the_first_that_has_an_angle_bracket():
    assert normalise.words("R&amp;D") == ["r&d"]
    assert ftfy.fix_text("R&amp;D is 5 < 6\n") == "R&amp;D is 5 < 6\n"  # its own line, before it
    assert normalise.words("R&amp;D is 5 < 6\n")[:4] == ["r&amp", ";", "d", "is"]
    assert normalise.words("Q &amp; A\n5 < 6\nQ &amp; A")[:4] == ["q", "&", "a", "\n"]
    assert normalise.words("Q &amp; A\n5 < 6\nQ &amp; A")[-4:] == ["&", "amp", ";", "a"]


def long_text() -> str:
    random.seed(1)
    lines = [*naive_bpe.sentences() * 2]
    random.shuffle(lines)
    # The first `<` comes late, so that blocks stand on both sides of it.
    lines.sort(key=lambda line: "<" in line)
    return "Tom &amp; Jerry\r\n" * 3 + "\n".join(lines) + "\nTom &amp; Jerry\n"


@pytest.mark.parametrize("size", [0, 6, 100, 5000, 10**9])
def test_normalising_does_not_depend_on_the_blocks(size, monkeypatch):
    whole = long_text()
    monkeypatch.setattr(normalise.cut, "__defaults__", (size,))
    normalised = normalise.normalise(whole)
    found = [word for word in normalised.replace("\n", " \n ").split(" ") if word]
    assert found == [*naive_bpe.words(whole), "\n"]
    assert "  " not in normalised and " \n" not in normalised and "\n\n" not in normalised


AFFIXES = list("'.:%#$@=<>`\\^°²§…’“·،") + [
    "'s",
    "..",
    "10km",
    "5",
    "x",
    "Σ",
    "京",
    "a.b.com",
    "°C.",
]


def spacy_words(standardised: str) -> str:
    """spaCy's tokens, in lower case, with one space between them."""
    tokens = [token.lower_ for token in spacy_english().tokenizer(standardised)]
    return " ".join(tokens).replace("\n  ", "\n ")  # its newline keeps the space behind it


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("I don't , 'cause they'll've gone", "i do n't , 'cause they 'll 've gone"),
        ("Dr. X of the U.S. went at 5p.m. to N.Y. .", "dr. x of the u.s. went at 5 p.m. to n.y. ."),
        ("see http://a.org/b?c=d: 10km, $5", "see http://a.org/b?c=d : 10 km , $ 5"),
        ("end.Begin a=b 5:30 x..y", "end . begin a = b 5:30 x .. y"),
        ("well:o", "well :o"),  # a torn face is put back,
        ("well:o )", "well : o )"),  # but not beside what would be a longer one
        ("ΟΔΟΣ", "οδος"),
        ("", ""),
    ],
)
def test_words_by_exceptions_affixes_urls_and_infixes(line, words):
    assert normalise.split_line(line) == words


def test_the_table_is_what_the_script_makes_of_spacy():
    pytest.importorskip("spacy", reason="spaCy is not installed, from which the table is made")
    from tests.gpt1.text.english_rules import table

    file = Path(normalise.__file__).with_name(normalise.TABLE)
    assert file.read_text(encoding="utf-8") == table()


@pytest.mark.parametrize("seed", range(3))
def test_random_lines_of_exceptions_and_affixes_have_spacys_words(seed):
    drawn = random.Random(seed)
    pieces = [*normalise.rules().exceptions, *AFFIXES * 20]
    for _ in range(1500):
        chosen = drawn.choices(pieces, k=drawn.randint(1, 5))
        line = normalise.standardise("".join(p + drawn.choice(["", "", " "]) for p in chosen))
        assert normalise.split_line(line) == spacy_words(line), line


@pytest.mark.slow
def test_all_novels_and_task_files_have_spacys_words():
    texts = 0
    with tarfile.open(realdata("novels.tar.xz")) as archive:
        for member in (member for member in archive if member.name.endswith(".txt")):
            compare(archive.extractfile(member).read())
            texts += 1
    for path in (p for p in realdata("").rglob("*") if p.suffix in (".tsv", ".jsonl", ".txt")):
        compare(path.read_bytes().replace(b"\t", b"\n"))
        texts += 1
    assert texts > 185


def compare(raw: bytes) -> None:
    for block in normalise.cut(raw.decode("utf-8", errors="replace")):
        standardised = normalise.standardise(ftfy.fix_text(block))
        assert normalise._split(ftfy.fix_text(block)) == spacy_words(standardised)
