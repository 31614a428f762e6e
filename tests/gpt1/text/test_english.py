"""English words are spaCy's, from which the table is generated; its tests skip without spaCy."""

import random
import tarfile
from pathlib import Path

import ftfy
import pytest

from gpt1.text import normalise
from tests.gpt1.text.naive_bpe import english as spacy_english
from tests.support.realdata import realdata

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
