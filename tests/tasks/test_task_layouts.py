"""Every task's original layout becomes the examples that stand in it."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tasks import PAPER_TASKS, TASKS, task
from tasks.dprd import pronoun_span
from tasks.qa import question
from tasks.readers import Row
from tasks.task import Tally


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


@pytest.mark.parametrize("layout", ["snli", "snli_txt"])
def test_snli_drops_and_counts_rows_without_gold_label(layout, published):
    tally = Tally()
    examples = task("snli").read(published(layout), "train", tally)
    assert tally.dropped == {"no gold label": 1}
    assert [(e.guid, e.label) for e in examples] == [
        ("snli/train/0", 1),
        ("snli/train/2", 0),
        ("snli/train/3", 2),
    ]
    assert (examples[0].first, examples[0].second) == ("train premise 0", "guess 0")


def test_scitail_layouts_give_equal_examples(published):
    one, other = published("scitail"), published("scitail_snli")
    assert task("scitail").read(one, "test") == task("scitail").read(other, "test")
    assert [e.label for e in task("scitail").read(one, "test")] == [0, 1, 0, 1]
    assert task("scitail").read(one, "dev")[2].first == 'dev "premise 2'


def test_mnli_finds_its_columns_by_name_in_both_widths(published):
    folder = published("mnli")
    for split in ("train", "dev_matched", "dev_mismatched"):
        second = task("mnli").read(folder, split)[1]
        assert (second.first, second.second, second.label) == (f"{split} premise 1", "guess 1", 1)


def test_qnli_puts_the_question_first(published):
    example = task("qnli").read(published("qnli"), "dev")[1]
    assert (example.first, example.second, example.label) == ("dev who 1", "he 1", 1)


def test_race_gives_one_example_a_question_with_its_half_as_group(published):
    examples = task("race").read(published("race"), "dev")
    assert Counter(e.group for e in examples) == {"middle": 6, "high": 6}
    assert [e.label for e in examples[:3]] == [1, 3, 0]
    assert examples[0].first == "dev high story 0\nwith two lines"
    assert examples[1].choices == ("a 1", "b 1", "c 1", "d 1")
    assert examples[1].guid == "race/dev/high/0/1"


def test_story_cloze_is_real_csv_with_quotes_and_commas(published):
    example = task("story_cloze").read(published("story_cloze"), "val")[1]
    assert example.first == "Ann woke. She ate, then ran. It rained. She fell 1."
    assert example.choices == ('She said "ow".', "She flew.")
    assert (example.second, example.label, example.guid) == ("", 1, "story_cloze/val/val-1")


def test_mrpc_is_read_in_spite_of_byte_order_mark_and_crlf(published):
    example = task("mrpc").read(published("mrpc"), "train")[1]
    assert (example.first, example.second, example.label) == ("train one 1", "other 1", 1)


def test_qqp_drops_and_counts_a_few_broken_rows(published):
    folder = published("qqp")
    with open(folder / "train.tsv", "a") as file:
        file.write("10\t1\t2\tbroken\n11\t1\t2\tempty second ?\t\t1\n")
    tally = Tally()
    assert len(task("qqp").read(folder, "train", tally)) == 10
    assert tally.dropped == {"wrong column count": 1, "empty text": 1}


def test_stsb_labels_stay_fractions(published):
    examples = task("stsb").read(published("stsb"), "dev")
    assert [e.label for e in examples] == list(np.arange(10) / 2)


def test_a_lone_quote_and_unusual_line_separators_inside_a_field_are_text(tmp_path: Path):
    texts = ['"open', "a\u2028b\x85c\x0bd", 'he said "no', "a\rb"]
    rows = "".join(f"gj04\t1\t\t{text}\n" for text in texts)
    (tmp_path / "dev.tsv").write_bytes(rows.encode())
    assert [e.first for e in task("cola").read(tmp_path, "dev")] == texts


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
    row = question(Row(0, 1), ("high", "high12.txt", 2), *texts)
    assert row.flaw.startswith(flaw) and row.key == "high/12/2"


def test_dprd_splits_the_sentence_around_the_pronoun(published):
    example = task("dprd").read(published("dprd"), "test")[2]
    assert (example.first, example.second) == ("The cat saw the dog 2 because", "was big.")
    assert (example.choices, example.label) == (("The cat", "the dog 2"), 0)
