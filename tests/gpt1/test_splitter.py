"""The remembered words split as spaCy splits whole lines, wherever its rules look."""

import random
import tarfile

import pytest

from gpt1.text import normalise
from gpt1.text.word_splitter import WordSplitter
from tests.gpt1 import naive_bpe
from tests.support.realdata import realdata


def spacys(line: str) -> str:
    return " ".join(token.text.lower() for token in naive_bpe.english()(line))


@pytest.fixture(scope="module")
def splitter() -> WordSplitter:
    return WordSplitter()


def test_random_words_out_of_spacys_exceptions_are_split_as_by_spacy(splitter):
    random.seed(0)
    rules = sorted(rule for rule in naive_bpe.english().tokenizer.rules if not rule.isspace())
    common = "the dog End . ' : ’ 8 pm am a I x D o = < 3 > ° C '' S s d"
    parts = [*rules, *common.split()]
    in_context = 0
    for _ in range(3000):
        line = " ".join(
            "".join(random.choices(parts, k=random.choice([1, 1, 2, 3]))) for _ in "abc"
        )
        line = " ".join((normalise.standardise(line) if random.random() < 0.7 else line).split())
        assert splitter.split(line) == spacys(line), line
        in_context += not splitter._context_dependent.isdisjoint(line.split())
    assert 100 < in_context < 2000  # both branches were taken


def test_a_word_may_depend_on_its_neighbour():
    """Why words alone are not enough: the last pass joins ":o" here, unless a ")" follows."""
    assert spacys("well:o") == "well :o" and spacys("well:o )") == "well : o )"
    splitter = WordSplitter()
    for _ in range(2):  # the second time from memory
        assert splitter.split("well:o \n well:o )") == "well :o \n well : o )"


def test_lower_case_is_taken_of_each_token():
    assert WordSplitter().split("ΟΔΟΣ.Α ΑΣ") == spacys("ΟΔΟΣ.Α ΑΣ")


def test_real_books_are_normalised_as_by_the_naive_path():
    checked = 0
    with tarfile.open(realdata("novels.tar.xz")) as archive:
        for member in archive:
            if member.name.endswith(".txt"):
                raw = archive.extractfile(member).read(120_000).decode("utf-8", errors="ignore")
                normalised = "".join(normalise.normalise(normalise.cut(raw)))
                words = normalised.replace("\n", " \n ").split(" ")
                assert [word for word in words if word] == [*naive_bpe.words(raw), "\n"], (
                    member.name
                )
                checked += 1
            if checked == 3:
                return
    assert checked == 3, "the archive holds fewer than three books"
