"""Examples to token ids, and those to sequences and batches; files that are no good."""

import contextlib
import io
import re
import shutil
from collections import Counter

import datasets
import numpy as np
import pytest

from gpt1.data import (
    build_sequences,
    by_length,
    epoch_batches,
    input_lengths,
    load_task,
    n_ctx_needed,
    sample,
)
from gpt1.encode import encode
from gpt1.text import tokenizer as bpe
from gpt1.text import vocabulary
from gpt1.text.tokenizer import Tokenizer
from gpt1.text.tokens import SpecialTokens
from tasks import task
from tasks.common.arrow import split_digest
from tasks.common.files import read_json, write_json
from tests.gpt1 import toy
from tests.gpt1.examples import write_examples
from tests.support import programs


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokenizer")
    words = ["the", "dog", "cat", "did", "n't", "bark", ".", "?", "a", "b", "why", "who"]
    counts = dict.fromkeys(words, 5)
    vocabulary.save(folder, *bpe.train(counts, 15))
    return folder


RACE = {
    "train": [
        {"first": "The dog didn't bark.", "second": "Why?", "label": 1, "group": "high"}
        | {"choices": ["a", "b cat", "the", "who?"]}
    ],
    "test": [
        {"first": "A\n\ncat", "second": "Who?", "choices": ["a"] * 4, "group": "middle"},
        {"first": "the cat", "second": "Who?", "label": 2}
        | {"choices": ["a", "b", "the cat ? a", "b b"]},
    ],
    "dev": [{"first": "a", "second": "Why?", "choices": ["a"] * 4, "group": "high"}],
}


@pytest.fixture
def race(tmp_path):
    """The folder of RACE's examples."""
    return write_examples(tmp_path / "examples/race", "race", RACE)


def refusal(name, examples, tokenizer, out):
    """The one line of a refused encoding; nothing may have been written."""
    said = programs.refusal(encode, name, examples, tokenizer, out)
    assert not out.parent.exists() or not list(out.parent.iterdir())
    return said


def test_every_text_label_and_name_comes_back_in_the_splits_order(race, tokenizer, tmp_path):
    out = tmp_path / "encoded/race"
    encode("race", race, tokenizer, out)
    found, encoder = load_task(out), Tokenizer.load(tokenizer)
    assert (found.spec, found.tokenizer) == (task("race").spec, encoder.digest)
    assert list(found.splits) == ["train", "test", "dev"] and found.main == "test"
    for name, rows in RACE.items():
        split = found.splits[name]
        assert found.facts.splits[name].examples == split_digest(race, name)
        assert split.guids == [f"race/{name}/{i}" for i in range(len(rows))]
        assert split.labels.dtype == np.int64
        for i, row in enumerate(rows):
            assert split.groups[i] == row.get("group", "")
            assert split.labels[i] == row.get("label", 0)
            assert split.first[i].dtype == np.int32
            assert split.first[i].tolist() == encoder.encode(row["first"])
            assert split.second[i].tolist() == encoder.encode(row["second"])
            choices = [ids.tolist() for ids in split.choices[i]]
            assert choices == [encoder.encode(choice) for choice in row["choices"]]
    assert encoder.newline_id in found.splits["test"].first[0]
    opened = datasets.load_from_disk(out)["test"]
    assert [row["first"] for row in opened] == [ids.tolist() for ids in found.splits["test"].first]
    assert sorted(path.name for path in out.parent.iterdir()) == ["race", "race.json"]


def test_scores_stay_floats_and_absent_texts_stay_empty(tokenizer, tmp_path):
    rows = [{"first": "cat", "second": "dog", "label": i * 0.7} for i in range(3)]
    examples = write_examples(tmp_path / "stsb", "stsb", {"train": rows, "dev": rows})
    encode("stsb", examples, tokenizer, tmp_path / "out/stsb")
    split = load_task(tmp_path / "out/stsb").splits["dev"]
    assert split.labels.dtype == np.float64 and split.labels.tolist() == [0.0, 0.7, 1.4]
    rows = [{"first": "the cat"} for _ in range(3)]
    examples = write_examples(tmp_path / "cola", "cola", {"train": rows, "dev": rows})
    encode("cola", examples, tokenizer, tmp_path / "out/cola")
    split = load_task(tmp_path / "out/cola").splits["dev"]
    assert [len(ids) for ids in split.second] == [0, 0, 0] and split.choices == [[], [], []]


def test_unlabelled_rows_are_encoded_whatever_is_left_of_them(tokenizer, tmp_path):
    rows = {"train": [{"first": "a"}], "select": [{"first": "a"}], "dev": [{"first": "b"}]}
    rows["test"] = [{"first": "cat", "label": -1}, {"first": "\u00a0", "label": -1}]
    examples = write_examples(tmp_path / "cola", "cola", rows, unlabelled=["test"])
    encode("cola", examples, tokenizer, tmp_path / "out/cola")
    found = load_task(tmp_path / "out/cola")
    roles = {name: split.role for name, split in found.facts.splits.items()}
    assert roles == {"train": "train", "select": "select", "dev": "report", "test": "unlabelled"}
    assert found.splits["test"].labels.tolist() == [-1, -1]
    assert [len(ids) > 0 for ids in found.splits["test"].first] == [True, False]
    rows["test"] = [{"first": "dog", "label": -1}]
    write_examples(tmp_path / "other/cola", "cola", rows, unlabelled=["test"])
    encode("cola", tmp_path / "other/cola", tokenizer, tmp_path / "out2/cola")
    other = load_task(tmp_path / "out2/cola")
    assert other.labelled_digest == found.labelled_digest
    assert other.unlabelled_digest != found.unlabelled_digest


def test_the_facts_count_lengths_and_the_context_that_truncates_nothing(race, tokenizer, tmp_path):
    encode("race", race, tokenizer, tmp_path / "out/race")
    task = load_task(tmp_path / "out/race")
    facts, split = task.facts.splits["test"], task.splits["test"]
    assert facts.rows == len(split) == 2
    assert facts.lengths == Counter(input_lengths("multiple_choice", split).tolist())
    assert facts.n_ctx_needed == Counter(n_ctx_needed("multiple_choice", split).tolist())
    assert facts.lengths != facts.n_ctx_needed


@pytest.mark.parametrize("key", ["first", "second", "choices"])
def test_a_text_of_which_normalisation_leaves_nothing_is_named(tokenizer, tmp_path, key):
    blank = {"first": " \u00a0", "second": "\n", "choices": ["a", "\t"]}
    rows = {**RACE, "dev": [RACE["dev"][0], RACE["dev"][0] | {key: blank[key]}]}
    examples = write_examples(tmp_path / "race", "race", rows)
    message = refusal("race", examples, tokenizer, tmp_path / "out/race")
    assert f"race/dev/1: normalisation leaves nothing of '{key}'" in message


def arrow(folder, split="train"):
    """The Arrow file of a split."""
    return next((folder / split).glob("*.arrow"))


def truncate(path):
    path.write_bytes(path.read_bytes()[:-60])


def other_text(path):
    path.write_bytes(path.read_bytes().replace(b"bark", b"dark"))


def test_examples_of_another_task_and_none_are_refused(race, tokenizer, tmp_path):
    out = tmp_path / "out/rte"
    assert "examples of race, not rte" in refusal("rte", race, tokenizer, out)
    empty = write_examples(tmp_path / "empty/race", "race", {"train": []})
    assert "race/train: no rows" in refusal("race", empty, tokenizer, out)
    assert "examples of race, not squad" in refusal("squad", race, tokenizer, out)


def other_splits(folder, change):
    path = folder.with_name("race.json")
    facts = read_json(path)
    write_json(path, facts | {"splits": change(facts["splits"])})


FAULTS = {  # of the examples, then of what is encoded of them: by its digest, before it is opened
    "missing": (lambda f: arrow(f).unlink(), "no such file"),
    "changed": (lambda f: other_text(arrow(f)), "race/train: not what"),
    "no facts": (lambda f: f.with_name("race.json").unlink(), "race.json: no such file"),
    "encoded: truncated": (lambda f: truncate(arrow(f, "dev")), "race/dev: not what"),
    "encoded: exchanged": (
        lambda f: shutil.copy(arrow(f, "test"), arrow(f, "dev")),
        "race/dev: not what",
    ),
    "encoded: other facts": (
        lambda f: f.with_name("race.json").write_text("{}"),
        "race.json: spec: missing",
    ),
    "encoded: a split less in the facts": (
        lambda f: other_splits(f, lambda splits: {"train": splits["train"]}),
        "its splits are not those of",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_damaged_files_are_refused_with_one_line(race, tokenizer, tmp_path, fault):
    (change, message), out = FAULTS[fault], tmp_path / "out/race"
    if fault.startswith("encoded"):
        encode("race", race, tokenizer, out)
        change(out)
        assert message in programs.refusal(load_task, out)
    else:
        change(race)
        assert message in refusal("race", race, tokenizer, out)


def letters(share, n=100):
    """A text of `n` words, of which that share are in letters that the tokenizer lacks."""
    return " ".join(["\u0436"] * round(share * n) + ["a"] * round((1 - share) * n))


def encoded(tokenizer, folder, share, unlabelled=()):
    """CoLA with one split of unknown letters; what the program prints, and the facts."""
    rows = {split: [{"first": "a b"}] for split in ("train", "select")}
    rows["dev"] = [{"first": letters(share)}]
    rows |= {split: [{"first": letters(0.8), "label": -1}] for split in unlabelled}
    examples = write_examples(folder / "cola", "cola", rows, unlabelled)
    with contextlib.redirect_stdout(io.StringIO()) as said:
        encode("cola", examples, tokenizer, folder / "out/cola")
    return said.getvalue(), load_task(folder / "out/cola").facts


def test_unknown_letters_are_counted_and_told(tokenizer, tmp_path):
    said, facts = encoded(tokenizer, tmp_path / "some", 0.2, unlabelled=["test"])
    assert {name: of.unknown for name, of in facts.splits.items()} == pytest.approx(
        {"train": 0, "select": 0, "dev": 0.2, "test": 0.8}
    )
    fault = "cola/dev: 20% of the tokens are unknown to the tokenizer, such as '\u0436'\n"
    assert f"warning: {tmp_path}/some/{fault}" in said and "cola/test: 80%" in said
    assert "warning" not in encoded(tokenizer, tmp_path / "few", 0.05)[0]


@pytest.mark.parametrize("name", ["cola", "race"])
def test_rows_that_are_mostly_unknown_letters_are_refused(name, tokenizer, tmp_path):
    rows = {"train": [{"first": letters(0.6)}], "dev": [{"first": "a"}]}
    if name == "race":  # whose choices alone are
        rows = RACE | {"train": [RACE["train"][0] | {"choices": [letters(1)] * 4}]}
    examples = write_examples(tmp_path / name, name, rows)
    said = refusal(name, examples, tokenizer, tmp_path / "out" / name)
    share = {"cola": "60%", "race": r"9\d%"}[name]
    fault = "of the tokens are unknown to the tokenizer, such as '\u0436'; give books in"
    assert re.search(rf"{name}/train: {share} {fault}", said)


def test_facts_from_before_unknown_letters_were_counted_are_read(race, tokenizer, tmp_path):
    encode("race", race, tokenizer, tmp_path / "out/race")
    path = tmp_path / "out/race.json"
    facts = read_json(path)
    for split in facts["splits"].values():
        del split["unknown"]
    write_json(path, facts)
    assert load_task(tmp_path / "out/race").facts.splits["dev"].unknown == 0


S, D, C = 100, 101, 102

SPECIAL = SpecialTokens(S, D, C)


def sequences(family, *parts, n_ctx=32):
    built = build_sequences(family, toy.encoded_split(*parts), SPECIAL, n_ctx)
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
        (needed,), (whole,) = (
            f(kind, toy.encoded_split(*data)) for f in (n_ctx_needed, input_lengths)
        )
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
