"""The remembered words split as spaCy splits whole lines, wherever its rules look."""

import io
import random
import tarfile
from pathlib import Path

import pytest

from gpt1.text import normalise as text
from gpt1.text.word_splitter import Splitter
from tests.gpt1 import plain

NOVELS = Path(__file__).parents[3] / "shared" / "realdata" / "novels.tar.xz"


def spacys(line: str) -> str:
    return " ".join(token.text.lower() for token in plain.english()(line))


@pytest.fixture(scope="module")
def splitter() -> Splitter:
    return Splitter()


def test_random_words_out_of_spacys_exceptions_are_split_as_by_spacy(splitter):
    random.seed(0)
    rules = sorted(rule for rule in plain.english().tokenizer.rules if not rule.isspace())
    common = "the dog End . ' : ’ 8 pm am a I x D o = < 3 > ° C '' S s d"
    parts = [*rules, *common.split()]
    mended = 0
    for _ in range(3000):
        line = " ".join(
            "".join(random.choices(parts, k=random.choice([1, 1, 2, 3]))) for _ in "abc"
        )
        line = " ".join((text.standardize(line) if random.random() < 0.7 else line).split())
        assert splitter.split(line) == spacys(line), line
        mended += not splitter._mendable.isdisjoint(line.split())
    assert 100 < mended < 2000  # both ways were taken


def test_a_word_may_depend_on_its_neighbour():
    """Why words alone are not enough: the last pass joins ":o" here, unless a ")" follows."""
    assert spacys("well:o") == "well :o" and spacys("well:o )") == "well : o )"
    splitter = Splitter()
    for _ in range(2):  # the second time from memory
        assert splitter.split("well:o \n well:o )") == "well :o \n well : o )"


def test_lower_case_is_taken_of_each_token():
    assert Splitter().split("ΟΔΟΣ.Α ΑΣ") == spacys("ΟΔΟΣ.Α ΑΣ")


def test_real_books_are_cleaned_as_by_the_plain_path():
    if not NOVELS.is_file():
        pytest.skip("no novels in ../shared/realdata")
    checked = 0
    with tarfile.open(NOVELS) as archive:
        for member in archive:
            if member.name.endswith(".txt"):
                raw = archive.extractfile(member).read(120_000).decode("utf-8", errors="ignore")
                cleaned = "".join(text.clean(text.blocks(io.StringIO(raw, newline=""))))
                found = cleaned.replace("\n", " \n ").split(" ")
                assert [word for word in found if word] == [*plain.words(raw), "\n"], member.name
                checked += 1
            if checked == 3:
                return
    assert checked == 3, "the archive holds fewer than three books"
