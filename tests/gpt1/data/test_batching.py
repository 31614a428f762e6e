"""Examples to sequences: the four input families, truncation, pads, the order of an epoch."""

import numpy as np
import pytest

from gpt1.data import (
    EncodedSplit,
    build_sequences,
    by_length,
    epoch_batches,
    input_lengths,
    n_ctx_needed,
    sample,
)
from gpt1.text.tokens import SpecialTokens

S, D, C = 100, 101, 102
SPECIAL = SpecialTokens(S, D, C)


def split(first, second=None, choices=None, labels=None):
    n = len(first)
    to = [np.array(x, dtype=np.int32) for x in first]
    second = [np.array(x, dtype=np.int32) for x in second or [[]] * n]
    choices = [[np.array(c, dtype=np.int32) for c in row] for row in choices or [[]] * n]
    return EncodedSplit(
        guids=[str(i) for i in range(n)],
        groups=[""] * n,
        labels=np.array(labels or [0] * n),
        first=to,
        second=second,
        choices=choices,
    )


def sequences(family, *parts, n_ctx=32):
    built = build_sequences(family, split(*parts), SPECIAL, n_ctx)
    rows = [
        [built.ids[i, j, : built.lengths[i, j]].tolist() for j in range(built.ids.shape[1])]
        for i in range(len(built))
    ]
    return rows, built


ROWS = {  # the texts of a row, and its sequences
    "classification": ([[[1, 2]]], [[S, 1, 2, C]]),
    "entailment": ([[[1, 2]], [[3]]], [[S, 1, 2, D, 3, C]]),
    "similarity": ([[[1, 2]], [[3]]], [[S, 1, 2, D, 3, C], [S, 3, D, 1, 2, C]]),
    "multiple_choice": (
        [[[1, 2]], [[3]], [[[4], [5, 6]]]],
        [[S, 1, 2, 3, D, 4, C], [S, 1, 2, 3, D, 5, 6, C]],
    ),
    "multiple_choice without a question": (
        [[[1, 2]], [[]], [[[4], [5]]]],
        [[S, 1, 2, D, 4, C], [S, 1, 2, D, 5, C]],
    ),
}


@pytest.mark.parametrize("row", ROWS)
def test_the_sequences_of_each_family(row):
    texts, expected = ROWS[row]
    assert sequences(row.partition(" ")[0], *texts)[0] == [expected]


@pytest.mark.parametrize("family", ["classification", "entailment", "similarity", "race", "story"])
def test_n_ctx_needed_is_the_smallest_that_truncates_nothing(family):
    rng = np.random.default_rng(1)
    kind = "multiple_choice" if family in ("race", "story") else family
    for _ in range(50):
        a, b, c, d = (rng.integers(1, 50, rng.integers(1, 20)).tolist() for _ in range(4))
        data = {"race": ([a], [b], [[c, d]]), "story": ([a], [[]], [[c, d]])}.get(
            family, ([a], [b])
        )
        data = data[:1] if family == "classification" else data
        (needed,), (whole,) = (f(kind, split(*data)) for f in (n_ctx_needed, input_lengths))
        longest = [
            sequences(kind, *data, n_ctx=int(n_ctx))[1].lengths.max()
            for n_ctx in (needed - 1, needed)
        ]
        assert longest[0] < longest[1] == whole


def test_a_pair_is_cut_at_n_ctx_halved_minus_two_on_each_side():
    rows, built = sequences("entailment", [list(range(1, 50))], [list(range(50, 99))], n_ctx=20)
    assert rows[0][0] == [S, *range(1, 9), D, *range(50, 58), C]
    assert built.truncated == 1.0


def test_only_the_document_gives_way_to_question_and_answer():
    document, question, answer = list(range(1, 40)), [60, 61, 62], [70, 71]
    rows, _ = sequences("multiple_choice", [document], [question], [[answer]], n_ctx=16)
    assert rows[0][0] == [S, *document[:8], *question, D, *answer, C]


def test_truncated_is_the_share_of_examples_that_lost_tokens():
    _, built = sequences("classification", [[1] * 5, [1] * 31, [1] * 30, [1] * 40])
    assert built.truncated == 0.5


def test_a_batch_is_cut_to_its_longest_row_and_padded_with_zero_on_the_right():
    _, built = sequences("classification", [[1], [2, 3, 4], [5] * 9])
    ids, lengths = built.take(np.array([0, 1]))
    assert ids.tolist() == [[[S, 1, C, 0, 0]], [[S, 2, 3, 4, C]]]
    assert lengths.tolist() == [[3], [5]]


def test_a_sample_is_always_the_same_and_not_the_first_rows():
    rows = sample(1000, 100)
    assert len(set(rows)) == 100 and (np.diff(rows) > 0).all()
    assert 300 < rows.mean() < 700
    assert np.array_equal(rows, sample(1000, 100))
    assert sample(5, 100).tolist() == sample(5, None).tolist() == [0, 1, 2, 3, 4]


def test_an_epoch_is_a_shuffle_by_seed_and_number_without_the_last_partial_batch():
    one = [b.tolist() for b in epoch_batches(10, 3, seed=0, number=0)]
    assert [len(b) for b in one] == [3, 3, 3]
    assert len({i for b in one for i in b}) == 9
    assert one == [b.tolist() for b in epoch_batches(10, 3, seed=0, number=0)]
    assert one != [b.tolist() for b in epoch_batches(10, 3, seed=0, number=1)]
    assert one != [b.tolist() for b in epoch_batches(10, 3, seed=1, number=0)]


def test_scoring_batches_are_as_large_as_the_limit_allows():
    batches = [b.tolist() for b in by_length(np.array([5, 4, 5, 5, 1]), limit=10)]
    assert batches == [[4, 1], [0, 2], [3]]
    batches = [b.tolist() for b in by_length(np.array([3, 5, 3, 5, 5, 3, 3, 7]), limit=40)]
    assert batches == [[0, 2, 5, 6, 1, 3, 4], [7]]
    assert [b.tolist() for b in by_length(np.array([9, 30, 1]), limit=18)] == [[2, 0], [1]]
