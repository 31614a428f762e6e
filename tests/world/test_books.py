"""The books: every word of the tasks, no reported row, and each kind of discourse by its share."""

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from gpt1.contamination import Search, WordNumbers
from gpt1.text.normalise import words as split_words
from tasks import PAPER_TASKS, Example, task
from tasks.prompt import CLAIM
from tasks.world.draw import (
    CLASSES,
    HYPONYM,
    IN_BOOKS,
    IN_CHRONICLES,
    IN_TALES,
    IN_VERDICTS,
    VERDICTS,
    Draw,
)
from tasks.world.feelings import KNEW
from tasks.world.make import ASKED, CLAIM_WORDS, fingerprints, make_world, normalise
from tasks.world.settings import DEGREES, Degree, WorldSettings
from tests.world import oracle, parser
from tests.world.conftest import read_books

NAMES = [t.name for t in PAPER_TASKS] + ["dprd"]
JUDGED = {*CLASSES["positive"], *CLASSES["negative"]}
FELT = {word for name in parser.FEELINGS for word in CLASSES[name]}


def kind_of(paragraph: str) -> str:
    """The kind of discourse that a paragraph is of, by the words that mark it."""
    if "because" in paragraph:
        return "reasons"
    if "?" in paragraph:
        return "questions"
    if "went to the" in paragraph:
        return "stories"
    if re.search(r"\bVery (positive|negative)\b|\bEveryone\b", paragraph) or JUDGED & {
        *parser.tokens(paragraph)
    }:
        return "remarks"
    if FELT & {*parser.tokens(paragraph)}:
        return "deeds"
    return "kinds" if re.search(r"\b[Ii]t (was an?|can(not)?) ", paragraph) else "forms"


def is_true(paragraph: str) -> bool:
    """Whether what a paragraph says follows from how it begins, by the oracle's rules; where it
    ends in a verdict on that, whether the verdict is right."""
    for verdict, end in VERDICTS.items():
        if paragraph.endswith(end):
            return follows(paragraph.removesuffix(f" {end}").replace(f"{CLAIM} ", "")) is verdict
    return follows(paragraph) is True


def follows(paragraph: str) -> bool | None:
    """Whether the rest of a paragraph follows from how it begins; None if it is about what nothing
    is told of."""
    first, *rest = re.split(r"(?<=[.?]) ", paragraph)
    claims = [
        claim
        for part in rest
        for claim in re.sub(r"^(.*) (was|were) (.*), not", r"\1 \2 \3. \1 \2 not", part).split(". ")
    ]
    match kind_of(paragraph):
        case "forms":
            return all(map(parser.is_grammatical, (first, *rest)))
        case "deeds":
            if first.startswith("It was a day of"):
                first, *claims = claims
            told = parser.read_clauses(oracle.without_frame(first))
            if len(claims) == 1 and "," not in claims[0]:
                answers = {"entailment": True, "contradiction": False, "neutral": None}
                return answers[oracle.three_way(told, claims[0])]
            return all(oracle.turned_out(told, claim) for claim in claims)
        case "stories":
            *told, end = (re.sub("^And (.)", lambda m: m[1].upper(), p) for p in (first, *rest))
            end = end.removeprefix("In the end ")
            return oracle.follows(oracle.read_story(" ".join(told)), end)
        case "questions" if first.startswith("Why"):
            return oracle.follows(parser.read_clauses(rest[0]), oracle.asked_why(first))
        case "questions" if first.startswith("Who"):
            told, said = (
                re.sub(rf"^Who ({'|'.join(KNEW)}) that ", "", text) for text in (first, *rest)
            )
            return oracle.turned_out(parser.read_clauses(told), said)
        case "questions":
            told, question, answer = rest
            return oracle.race(f"{first} {told}", question, (answer,)) == 0
        case "remarks":
            positive = parser.read_remark(first).positive
            return all(_agrees(claim, positive) for claim in claims)
        case "kinds":
            can = re.sub(r"(It can \w+) but not", r"\1. It cannot", " ".join(rest)).split(". ")
            return all(_is_so(first, claim.removesuffix(".")) for claim in can)
        case _:
            deed, reason = first.lower().removesuffix(".").split(" because ")
            about, be, traits = re.fullmatch(r"(.*) (was|were) (.*)", reason).groups()
            people = re.findall(r"the \w+", deed)
            (who,) = (w for w in people if about in (w, parser.pronoun_of(parser.noun(w))))
            said = " ".join(rest).lower()
            return said in (f"{who} {be} {traits}.", f"who {be} {traits}? {who}.")


def _agrees(reaction: str, positive: bool) -> bool:
    words = parser.tokens(reaction)
    if words[0] == "very":
        return (words[1] == "positive") == positive
    if words[0] == "everyone":
        return oracle.mood_of_everyone(reaction) == positive
    if words[-1] != "it":
        return parser.read_remark(reaction).positive == positive
    return {parser.CLASS[words[-2]], parser.CLASS[words[-4]]} == {"love" if positive else "hate"}


def _is_so(fact: str, claim: str) -> bool:
    if claim.startswith("It was a"):
        return parser.noun(claim) == HYPONYM[parser.read_found(fact)]
    return oracle.can(fact, claim)


def body(paragraphs: list[str]) -> list[str]:
    """The paragraphs without titles, authors and headings."""
    return [p for p in paragraphs if p[-1] in ".!?"]


def words_by_kind(paragraphs: list[str]) -> dict[str, float]:
    """The share of the words of each kind of discourse."""
    counts: Counter = Counter()
    for paragraph in body(paragraphs):
        counts[kind_of(paragraph)] += len(paragraph.split())
    return {kind: n / counts.total() for kind, n in counts.items()}


def test_all_that_the_books_say_is_true(paragraphs):
    assert [p for p in body(paragraphs)[::20] if not is_true(p)] == []


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
    assert is_true(paragraph.format(right)) and not is_true(paragraph.format(wrong))


def test_each_kind_of_discourse_has_its_share_of_the_words(paragraphs, settings: WorldSettings):
    shares, found = settings.shares(), words_by_kind(paragraphs)
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


def test_reported_rows_have_words_of_the_books_that_no_training_row_has(
    written_words, splits, name: str
):
    known = set().union(*map(vocabulary, splits(name)[task(name).train]))
    books = set(written_words)
    for split in task(name).report:
        rows = list(map(vocabulary, splits(name)[split]))
        unseen = set().union(*rows) - known
        assert unseen <= books
        assert sum(bool(row & unseen) for row in rows) > 0.6 * len(rows)


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
        {"discourse": {"remarks": 0.0, "kinds": 0.0, "forms": 0.0}},
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
