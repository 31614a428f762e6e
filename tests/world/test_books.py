"""The books: every word of the tasks, no reported row, and each kind of discourse by its share."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from gpt1.contamination import Search, WordNumbers
from gpt1.text.normalise import words as split_words
from tasks import Example, task
from tasks.world.draw import IN_BOOKS, IN_CHRONICLES, IN_TALES, IN_VERDICTS, Draw
from tasks.world.make import ASKED, CLAIM_WORDS, fingerprints, make_world, normalise
from tasks.world.settings import DEGREES, Degree, WorldSettings
from tests.world import oracle
from tests.world.conftest import LARGE, NAMES, read_books


def body(paragraphs: list[str]) -> list[str]:
    """The paragraphs without titles, authors and headings."""
    return [p for p in paragraphs if p[-1] in ".!?"]


def words_by_kind(paragraphs: list[str]) -> dict[str, float]:
    """The share of the words of each kind of discourse."""
    counts: Counter = Counter()
    for paragraph in body(paragraphs):
        counts[oracle.kind_of(paragraph)] += len(paragraph.split())
    return {kind: n / counts.total() for kind, n in counts.items()}


def test_all_that_the_books_say_is_true(paragraphs):
    assert [p for p in body(paragraphs)[::20] if not oracle.is_true(p)] == []


@pytest.mark.parametrize(
    ("paragraph", "right", "wrong"),
    [
        ("Tom dozed, but other people marched in the barn. They were {}.", "weary", "spry"),
        ("Well, the king hated the coat and ruined it, you know. He was {}.", "glad", "sad"),
        ("Tom won a coat. He was glad, {}.", "of course", "luckily"),
        ("It was a day of fog. Tom won a coat. He was {}, alas.", "sad", "glad"),
        ("Who heard that Tom ruined a cup? Who knew that he was glad, {}?", "luckily", "alas"),
        ("Why were they {}? The others dozed in the inn, while Tom won a box.", "spry", "glad"),
        ("In the fog Tom went to the inn. And there he {} a cup. And Tom was sad.", "broke", "won"),
        ("The tale of the king was hardly lovely. Very {}.", "negative", "positive"),
        ("Anna found a robin in the inn. It was a {}. It can eat but not rust.", "bird", "dog"),
        ("The king helped the girls because {} rich. The king was rich.", "he was", "they were"),
        ("The men near the coat {} a box.", "lift", "lifts"),
        ("Tom won a coat. He was glad. {}", "True.", "False."),
        ("Tom won a coat. He was weary. {}", "Perhaps.", "False."),
        ("Why was he sad? Tom won a coat. {}", "False.", "True."),
        ("Tom called the tale far from lovely. Everyone was {}.", "not glad or merry", "not sad"),
    ],
)
def test_what_does_not_follow_is_no_truth(paragraph: str, right: str, wrong: str):
    assert oracle.is_true(paragraph.format(right))
    assert not oracle.is_true(paragraph.format(wrong))


def test_each_kind_of_discourse_has_its_share_of_the_words(paragraphs):
    shares, found = LARGE.shares(), words_by_kind(paragraphs)
    for kind, share in shares.items():
        assert found[kind] == pytest.approx(share / sum(shares.values()), abs=0.02), kind


@pytest.fixture(scope="module")
def written_words(paragraphs) -> list[str]:
    """The words of all paragraphs, in order."""
    return normalise(" ".join(paragraphs)).split()


@pytest.fixture(scope="module")
def written(paragraphs) -> set[str]:
    """The fingerprints of all paragraphs."""
    return set().union(*map(fingerprints, paragraphs))


def held_out(splits, name: str) -> dict[str, list[Example]]:
    """The splits of a task whose rows no book may have: all but the training rows."""
    return {split: rows for split, rows in splits(name).items() if split != task(name).train}


@pytest.mark.parametrize("name", NAMES)
def test_no_reported_text_nor_both_of_a_row_is_in_a_book(written: set[str], splits, name: str):
    for e in (e for rows in held_out(splits, name).values() for e in rows):
        if name == "dprd":
            texts = [f"{e.first} {choice} {e.second}" for choice in e.choices]
        elif e.choices:
            texts = [e.first]
        else:
            texts = [e.first, e.second]
        for text in map(normalise, texts):
            if len(ASKED.sub("", text).split()) > CLAIM_WORDS:
                assert text not in written, e
        if e.second and name != "dprd":
            assert normalise(f"{e.first} {e.second}") not in written, e


def test_no_13_words_in_a_row_of_a_reported_row_stand_in_a_book(paragraphs, splits):
    """By the search that the contamination table uses, over all books in a row."""
    numbers, search = WordNumbers(), Search()
    for name in NAMES:
        for split, rows in held_out(splits, name).items():
            for i, e in enumerate(rows):
                texts = [f"{e.first} {e.second} {choice}" for choice in e.choices or [""]]
                search.add((name, split, i), map(numbers.of_text, texts))
    search.add("quoted", [numbers.of_text(" ".join(paragraphs[100:104]))])
    search.scan(numbers.of_corpus(" ".join(split_words(" ".join(paragraphs)))))
    assert search.contaminated == {"quoted"}


@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("cola", "dprd")])
def test_no_book_answers_a_prompt_about_a_row(written: set[str], splits, name: str):
    prompt = task(name).prompt
    for e in (e for rows in splits(name).values() for e in rows):
        for choice in prompt.choices or e.choices:
            texts = {"first": e.first, "second": e.second, "choice": choice}
            asked = f"{prompt.before} {prompt.scored}".format(**texts)
            assert normalise(asked) not in written, e


def vocabulary(example: Example) -> set[str]:
    return set(normalise(" ".join((example.first, example.second, *example.choices))).split())


def test_reported_rows_have_words_that_no_training_row_has(splits, name: str):
    known = set().union(*map(vocabulary, splits(name)[task(name).train]))
    for split in task(name).report:
        rows = list(map(vocabulary, splits(name)[split]))
        assert sum(not row <= known for row in rows) > 0.6 * len(rows)


def test_the_books_contain_every_word_of_the_labelled_texts_several_times(written_words, splits):
    counts = Counter(written_words)
    for name in NAMES:
        used = set().union(*(vocabulary(e) for rows in splits(name).values() for e in rows))
        for word in used:
            assert counts[word] >= 2, (name, word)


def test_books_have_titles_chapters_and_paragraphs(paragraphs, written_words):
    assert paragraphs[1].startswith("by ") and paragraphs[2] == "Chapter One"
    assert "Chapter Two" in paragraphs
    for paragraph in paragraphs:
        assert paragraph[0].isupper() or paragraph.startswith("by ")
        assert "  " not in paragraph and " ," not in paragraph and " ." not in paragraph
    assert len(set(written_words)) < 500


@pytest.mark.parametrize(
    "changed",
    [
        {"discourse": {"forms": 0.0}, "exclude": ["remarks", "kinds"]},
        {"book_degrees": {"relational": 0.0, "compositional": 0.0}},
    ],
    ids=["kinds left out", "easier books"],
)
def test_other_books_have_as_many_words_and_the_same_tasks(changed: dict, tmp_path: Path):
    """What is left out is left out, the others keep their proportions, and nothing else changes."""
    sizes = {"words": 24_000, "books": 4, "scale": 0.05, "report": 10, "cloze": 10}
    settings = [WorldSettings(**sizes, **more) for more in ({}, changed)]
    folders = [tmp_path / "whole", tmp_path / "other"]
    whole, other = (make_world(*made)["files"] for made in zip(settings, folders, strict=True))
    assert whole.keys() == other.keys()
    assert {p for p in whole if whole[p] != other[p]} == {p for p in whole if "books/" in p}
    paragraphs, changed_paragraphs = map(read_books, folders)
    n_words = len(" ".join(paragraphs).split())
    assert len(" ".join(changed_paragraphs).split()) == pytest.approx(n_words, rel=0.02)
    found, shares = words_by_kind(changed_paragraphs), settings[1].shares()
    assert found.keys() == {kind for kind, share in shares.items() if share}
    for kind in found:
        assert found[kind] == pytest.approx(shares[kind] / sum(shares.values()), abs=0.02), kind


@pytest.mark.parametrize("only", DEGREES)
def test_the_books_degrees_are_as_frequent_as_their_factors_say(only: Degree):
    half = {degree: 1.0 if degree == only else 0.5 for degree in DEGREES}
    none = {degree: float(degree == only) for degree in DEGREES}
    for shares in (IN_BOOKS, IN_TALES, IN_CHRONICLES, IN_VERDICTS):
        draws = Draw(7, "book/0", degrees=half)
        found = np.mean([draws.degree(shares) == only for _ in range(2000)])
        own = shares[DEGREES.index(only)]
        assert found == pytest.approx(own / (own + (sum(shares) - own) / 2), abs=0.04)
        assert Draw(7, "book/0", degrees=none).degree(shares) == only
