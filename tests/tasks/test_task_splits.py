"""Rows that share a text stay together, and one labelled file can be divided by the config."""

import json
import re
import shutil
from pathlib import Path

import pytest

from tasks import TASKS, task
from tasks.prepare import prepare
from tasks.settings import PrepareSettings
from tasks.spec import Example
from tasks.splits import (
    carve,
    faults,
    plain,
    ranked,
    rows_with_a_training_text,
    training_rows,
)
from tests.support.programs import refusal
from tests.tasks.both_layouts import tsv

MADE = PrepareSettings(published=False)


def test_units_are_drawn_whole_by_hash_and_never_by_order():
    guids = [f"t/{i}" for i in range(12)]
    texts = [f"premise {i // 3}" for i in range(12)]
    parts = carve(guids, texts, {"select": 4, "train": 12}, 0, "select")
    assert [*map(len, parts.values())] == [6, 6] and parts["select"].isdisjoint(parts["train"])
    for part in parts.values():
        assert len({texts[guids.index(guid)] for guid in part}) == 2
    drawn = [carve(guids, texts, {"select": 4}, seed, "select")["select"] for seed in range(9)]
    assert drawn[0] == parts["select"] and len({*map(frozenset, drawn)}) > 1
    moved = carve(guids[3:] + guids[:3], texts[3:] + texts[:3], {"select": 4}, 0, "select")
    assert moved["select"] == parts["select"]
    assert ranked(guids, 0, "select") != ranked(guids, 0, "carve")


def write_training(folder: Path, name: str, pairs: list[tuple[str, str]]) -> None:
    """Training rows with these texts, neutral or of the first label, in a folder of `published`."""
    path = next(path for path in folder.rglob("*train*") if path.is_file())
    if path.suffix == ".tsv":
        header, row, *_ = (line.split("\t") for line in path.read_text("utf-8-sig").splitlines())
        table, lines = task(name).table, [header]
        for k, (first, second) in enumerate(pairs):
            cells = {table.first: first, table.second: second, "index": str(k)}
            lines.append([cells.get(*cell) for cell in zip(header, row, strict=True)])
        tsv(path, lines)
    else:
        keys = ("sentence1", "sentence2", "gold_label")
        rows = [dict(zip(keys, (*pair, "neutral"), strict=True)) for pair in pairs]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))


PAIR_TASKS = [each.name for each in TASKS if each.family in ("entailment", "similarity")]


def shared_with_training(splits: dict[str, list[Example]]) -> dict[str, int]:
    """For each other split how many of its texts a training row has as well, but for case."""
    texts = {
        split: {plain(text) for row in rows for text in (row.first, row.second)}
        for split, rows in splits.items()
    }
    return {
        split: len(own & texts["train"] - {""}) for split, own in texts.items() if split != "train"
    }


@pytest.mark.parametrize("name", PAIR_TASKS)
def test_no_row_that_selects_or_is_carved_shares_a_text_with_a_training_row(name, published):
    folder = published("scitail_snli" if name == "scitail" else name)
    # Chains of three rows: one's second text is the next one's first, but for case and blanks.
    pairs = [(f"Text {k // 3} {k % 3}", f"text  {k // 3} {k % 3 + 1}") for k in range(30)]
    write_training(folder, name, pairs)
    given = {"carve": {task(name).main: 0.3, "train": 0.7}, "select_fraction": 0.2}
    splits, facts = prepare(task(name), folder, PrepareSettings(published=False, **given))
    # Whole chains: two of seven select, for 0.2 of 21 rows are more than one.
    assert facts["rows"] == {"train": 15, "select": 6, task(name).main: 9}
    assert shared_with_training(splits) == {"select": 0, task(name).main: 0}
    assert facts["half_known"] == {"select": 0, task(name).main: 0}
    assert facts["overlap"] == {task(name).main: 0}


def test_rows_with_a_text_of_a_training_row_are_counted_in_official_splits(published):
    folder = published("rte")
    write_training(folder, "rte", [("guess 7", "a"), ("A", "Guess  0"), ("another", "one")])
    _, facts = prepare(task("rte"), folder, MADE)
    assert facts["rows"]["dev"] == 10  # with `guess 0` to `guess 9` as hypotheses
    assert facts["half_known"]["dev"] == 2 and facts["overlap"]["dev"] == 0
    limited = MADE.model_copy(update={"limit_report": 1})
    drawn = [limited.model_copy(update={"seed": seed}) for seed in range(9)]
    facts = [prepare(task("rte"), folder, settings)[1] for settings in drawn]
    # Never more than there are rows.
    assert {of["half_known"]["dev"] for of in facts} == {0, 1}


def test_what_hangs_together_beyond_a_part_goes_to_a_larger_one():
    guids = [f"t/{i}" for i in range(20)]
    texts = ["the same" if i < 12 else f"text {i}" for i in range(20)]
    for seed in range(9):
        parts = carve(guids, texts, {"dev": 4, "train": 16}, seed, "carve")
        assert len(parts["dev"]) == 4 and len(parts["train"]) == 16 and "t/0" in parts["train"]
        assert list(parts) == ["dev", "train"]
        # Nothing is large enough for all of the twelve: dev has the rest.
        parts = carve(guids, texts, {"train": 11, "dev": 9}, seed, "carve")
        assert (len(parts["dev"]), len(parts["train"])) == (8, 12)


def test_rows_with_one_text_only_cannot_be_divided(published):
    folder = published("mnli")
    path = folder / "train.tsv"
    path.write_text(re.sub("train premise .", "the same", path.read_text()))
    told = "10 rows in 1 groups with a text in common leave none"
    assert told in refusal(prepare, task("mnli"), folder, MADE)


def test_one_labelled_file_is_divided_by_the_config(published):
    folder = published("qnli")
    (folder / "train.tsv").unlink()
    given = {"train_from": "dev", "carve": {"train": 0.6, "dev": 0.4}}
    splits, meta = prepare(task("qnli"), folder, PrepareSettings(published=False, **given))
    assert meta["rows"] == {"train": 5, "select": 1, "dev": 4}
    assert (meta["train_from"], meta["report"]) == ("dev", ["dev"])
    rows = [row for rows in splits.values() for row in rows]
    assert {row.guid.split("/")[1] for row in rows} == {"dev"}
    assert len({row.second for row in rows}) == 10
    other = prepare(task("qnli"), folder, PrepareSettings(published=False, seed=5, **given))[0]
    assert {row.guid for row in other["dev"]} != {row.guid for row in splits["dev"]}


WRONG = [
    ("rte", {"carve": {"train": 0.8, "dev": 0.4}}, "more than 1 together"),
    ("rte", {"carve": {"train": 0.8, "dev": 0.2}, "report_on": ["dev"]}, "report_on: no effect"),
    ("rte", {"train_from": "dev"}, "or divide its rows, such as carve: {train: 0.8, dev: 0.2}"),
    ("snli", {"report_on": ["train"]}, "'train' holds training rows"),
    ("mrpc", {"report_on": ["test"]}, "no labelled split 'test'; it has train, dev"),
]


@pytest.mark.parametrize(("name", "given", "said"), WRONG)
def test_wrong_splits_are_told_with_their_key(name, given, said):
    assert any(said in fault for fault in faults(task(name), PrepareSettings(**given)))


def test_half_of_race_can_be_declared_a_subset_and_a_third_folder_is_refused(published):
    folder = published("race")
    least = {"train": 6, "dev": 6, "test": 6}
    for split in least:
        shutil.rmtree(folder / split / "high")
    said = refusal(prepare, task("race"), folder, PrepareSettings())
    assert " 6 rows in 'train', " in said and "min_rows: {train: 6}" in said
    declared = PrepareSettings(min_rows=least)
    splits, _ = prepare(task("race"), folder, declared)
    assert {row.group for rows in splits.values() for row in rows} == {"middle"}
    (folder / "train/college").mkdir()
    (folder / "train/middle/2.txt").rename(folder / "train/college/2.txt")
    said = refusal(prepare, task("race"), folder, declared)
    assert "college/2.txt:1: 'college' is none of middle, high" in said


@pytest.mark.parametrize(
    "given",
    [
        {"report_on": ["dev", "test"]},
        {"carve": {"dev": 0.2, "test": 0.2, "train": 0.6}},  # in the order of JSON
    ],
)
def test_the_tasks_own_reported_split_comes_first_whatever_the_order(given, published):
    settings = PrepareSettings(published=False, **given)
    splits, facts = prepare(task("race"), published("race"), settings)
    assert facts["report"] == ["test", "dev"] and list(splits) == ["train", "select", "test", "dev"]


TRAINING = ("The dog barks.", "Why?", "a cat", "a bone")
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


@pytest.mark.parametrize("name", CASES)
def test_a_row_is_known_by_all_of_its_texts_and_half_known_by_one(name):
    def row(first: str, second: str, *choices: str) -> list[Example]:
        return [Example("x/train/0", first, second, choices, 0)]

    train = row(*TRAINING[: 4 if name == "race" else 2])
    for texts, (known, half_known) in CASES[name].items():
        splits = {"train": train, "dev": row(*texts)}
        assert training_rows(task(name), splits) == {"dev": known}, texts
        assert rows_with_a_training_text(task(name), splits) == {"dev": half_known}, texts
