"""Rows that a model has seen in training: whole, or by one of their texts."""

import pytest

from tasks import task
from tasks.spec import Example
from tasks.splits import rows_with_a_training_text, training_rows

TRAINING = ("The dog barks.", "Why?", ("a cat", "a bone"))
CASES = {  # texts and choices: whether the row is known, whether one of its texts is
    "rte": {
        ("The dog barks.", "Why?"): (1, 1),
        ("the  DOG barks.", "why? "): (1, 1),  # but for case and blanks
        ("Why?", "The dog barks."): (0, 1),  # no order of texts is another's
        ("The dog barks.", "Who?"): (0, 1),
        ("A cat.", "Why?"): (0, 1),
        ("A cat.", "Who?"): (0, 0),
    },
    "mrpc": {
        ("Why?", "The dog barks."): (1, 1),  # whatever their order
        ("The dog barks.", "Who?"): (0, 1),
        ("A cat.", "Who?"): (0, 0),
    },
    "sst2": {("The dog barks.", ""): (0, 1), ("Why?", ""): (0, 0)},
    "race": {
        ("The dog barks.", "Why?", "a cat", "a bone"): (1, 1),
        ("The dog barks.", "Why?", "a bone", "a cat"): (0, 1),  # another question
        ("The dog barks.", "Who?", "a cat", "a bone"): (0, 1),
        ("A cat.", "Why?", "a cat", "a bone"): (0, 0),  # by its article alone
    },
}


def row(first: str, second: str, *choices: str) -> list[Example]:
    return [Example("x/train/0", first, second, choices, 0)]


@pytest.mark.parametrize("name", CASES)
def test_a_row_is_known_by_all_of_its_texts_and_half_known_by_one(name):
    first, second, choices = TRAINING
    train = row(first, second, *(choices if name == "race" else ()))
    for texts, (known, half_known) in CASES[name].items():
        splits = {"train": train, "dev": row(*texts)}
        assert training_rows(task(name), splits) == {"dev": known}, texts
        assert rows_with_a_training_text(task(name), splits) == {"dev": half_known}, texts
