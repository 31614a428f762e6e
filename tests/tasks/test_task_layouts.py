"""Every task's original layout becomes the examples that stand in it."""

from collections import Counter
from pathlib import Path

import pytest

from tasks import PAPER_TASKS, TASKS, task
from tasks.layouts import pronoun_span, race_question
from tasks.read import Row


def test_tasks_are_the_twelve_of_the_paper_in_its_order():
    names = "snli mnli qnli rte scitail race story_cloze mrpc qqp stsb sst2 cola"
    assert " ".join(each.name for each in PAPER_TASKS) == names
    assert TASKS[: len(PAPER_TASKS)] == PAPER_TASKS and task("dprd").main == "test"


@pytest.mark.parametrize("name", [each.name for each in (*TASKS, task("dprd"))])
def test_every_labelled_split_is_read_with_unique_guids_and_valid_labels(name, published):
    folder, each = published(name), task(name)
    seen = Counter()
    for split in each.rows:
        for example in each.read(folder, split):
            assert example.guid.startswith(f"{name}/{split}/")
            assert isinstance(example.label, float if each.soft_labels else int)
            assert 0 <= example.label < len(each.labels)
            assert not example.choices or len(example.choices) == len(each.labels)
            assert (each.family == "multiple_choice") == bool(example.choices)
            seen[example.guid] += 1
    assert set(seen.values()) == {1}


# Layout, split, place; both texts, choices and label; the guid, without its task.
EXAMPLES = [
    ("snli", "train", 0, ("train premise 0", "guess 0", (), 1), "train/0"),
    ("snli", "train", 1, ("train premise 2", "guess 2", (), 0), "train/2"),
    ("snli_txt", "train", 2, ("train premise 3", "guess 3", (), 2), "train/3"),
    ("scitail", "dev", 2, ('dev "premise 2', "guess 2", (), 0), "dev/2"),
    ("scitail_snli", "test", 1, ('test "premise 1', "guess 1", (), 1), "test/1"),
    # By names of columns, of which the training file has fewer.
    ("mnli", "train", 1, ("train premise 1", "guess 1", (), 1), "train/1"),
    ("mnli", "dev_mismatched", 1, ("dev_mismatched premise 1", "guess 1", (), 1), None),
    ("qnli", "dev", 1, ("dev who 1", "he 1", (), 1), "dev/1"),  # the question first
    # With a byte order mark and CRLF.
    ("mrpc", "train", 1, ("train one 1", "other 1", (), 1), "train/1"),
    ("stsb", "dev", 7, ("dev one 7", "other 7", (), 3.5), "dev/7"),
    (
        *("race", "dev", 1),
        ("dev high story 0\nwith two lines", "why 1 ?", ("a 1", "b 1", "c 1", "d 1"), 3),
        "dev/high/0/1",
    ),
    (
        *("story_cloze", "val", 1),
        (
            "Ann woke. She ate, then ran. It rained. She fell 1.",
            *("", ('She said "ow".', "She flew."), 1),
        ),
        "val/val-1",
    ),
    (
        *("dprd", "test", 2),
        ("The cat saw the dog 2 because", "was big.", ("The cat", "the dog 2"), 0),
        "test/2",
    ),
]


@pytest.mark.parametrize(("layout", "split", "place", "content", "guid"), EXAMPLES)
def test_a_row_becomes_the_example_that_stands_in_it(
    layout, split, place, content, guid, published
):
    name = layout.removesuffix("_txt").removesuffix("_snli")
    found = task(name).read(published(layout), split)[place]
    assert (found.first, found.second, found.choices, found.label) == content
    assert guid is None or found.guid == f"{name}/{guid}"


def test_dot_twins_of_files_are_not_read(published):
    folder = published("race")
    (folder / "dev" / "high" / "._1.txt").write_bytes(b"\x00\x05\x16\x07")
    assert len(task("race").read(folder, "dev")) == 12


@pytest.mark.parametrize(
    ("sentence", "candidates", "before"),
    [
        ("The bee sat there because it had pollen.", ("The bee", "there"), 1),
        # The first "they" stands before the connective, in the clause of the candidates.
        ("The priests read for the witches they found, since they knew.", ("The priests",), 2),
        ("The men were told they were fired by Acme, because they cost.", ("The men", "Acme"), 2),
        # Behind both candidates, but after no connective: the first one there.
        ("Dan told Ross that they met someone they knew.", ("Dan", "Ross"), 1),
        ("They know they may ask them, but they do not.", ("no such name",), 2),
        # Behind the whole of a candidate that holds the word itself.
        ("A book and the one they fell, then they broke.", ("A book", "the one they"), 2),
    ],
)
def test_the_pronoun_behind_the_connective_is_meant(sentence, candidates, before):
    pronoun = "it" if " it " in sentence else "they"
    start, end = pronoun_span(sentence, pronoun, candidates)
    assert sentence[start:end] == pronoun
    assert f" {sentence[:end]}".count(f" {pronoun}") == before


@pytest.mark.parametrize(
    ("texts", "flaw"),
    [
        (("text", "Why?", ["a", "b", "c"], "A"), "question 3: expected 4 options, found 3"),
        (("text", "Why?", "abcd", "A"), "question 3: expected 4 options, found str"),
        (("text", "Why?", ["a", "b", "c", 4], "A"), "question 3: question, options, answer"),
        (("text", "Why?", ["a", "b", "c", "d"], 1), "question 3: question, options, answer"),
        (("text", " ", ["a", "b", "c", "d"], "A"), "question 3 is empty"),
    ],
)
def test_a_flaw_of_race_is_told_with_the_number_of_its_question(texts, flaw):
    row = race_question(Row(Path("x"), 1), ("high", "high12.txt", 2), *texts)
    assert row.flaw.startswith(flaw) and row.key == "high/12/2"
