"""Splits: disjoint, drawn by hash, and never selecting on what is reported."""

import json
from collections import Counter

import pytest
from datasets import load_from_disk

from tasks import TASKS, prepare, task
from tasks.common.arrow import split_digest, split_names
from tasks.examples import read, write
from tasks.settings import OwnTask, PrepareSettings
from tasks.splits import choose_splits
from tests.support.programs import call, refusal

MADE = PrepareSettings(published=False)  # the tests' rows are made


def guids(splits):
    return {split: [example.guid for example in rows] for split, rows in splits.items()}


@pytest.mark.parametrize("name", [each.name for each in TASKS])
def test_train_select_and_reported_splits_are_disjoint_rows(name, published):
    splits, meta = prepare.prepare(task(name), published(name), MADE)
    assert list(meta["rows"]) == ["train", "select", *task(name).report]
    assert set(Counter(g for rows in guids(splits).values() for g in rows).values()) == {1}
    choices = {len(row.choices) for rows in splits.values() for row in rows}
    assert choices == {len(task(name).labels) * (task(name).family == "multiple_choice")}
    official = {split: {g.split("/")[1] for g in rows} for split, rows in guids(splits).items()}
    assert all(official[split] == {split} for split in task(name).report)
    assert not official["select"] & set(task(name).report)
    assert meta["rows"] == {split: len(rows) for split, rows in splits.items()}
    for split, counts in meta["labels"].items():
        assert sum(counts.values()) == len(splits[split])


@pytest.mark.parametrize(
    ("name", "select_from", "rows"),
    [
        ("snli", "dev", {"train": 3, "select": 3, "test": 3}),  # where a labelled test reports
        ("story_cloze", "val", {"train": 8, "select": 2, "test": 10}),  # the authors' share
        ("dprd", None, {"train": 3, "test": 3}),
    ],
)
def test_what_selects_is_an_official_split_or_a_part_of_the_training_rows(
    name, select_from, rows, published
):
    _, facts = prepare.prepare(task(name), published(name), MADE)
    assert (facts["select_from"], facts["rows"]) == (select_from, rows)
    assert round(task("story_cloze").select_fraction * 1871) == 374
    missing = {split: {"no gold label": 1} for split in ("train", "dev", "test")}
    assert facts["dropped"] == (missing if name == "snli" else {})


def test_limits_cut_training_and_reported_rows_and_are_noted(published):
    settings = PrepareSettings(limit_train=5, limit_report=3, select_fraction=0.4, published=False)
    splits, meta = prepare.prepare(task("mnli"), published("mnli"), settings)
    assert meta["rows"] == {"train": 3, "select": 2, "dev_matched": 3, "dev_mismatched": 3}
    assert meta["note"] == "made data, not the published set"
    full, _ = prepare.prepare(task("mnli"), published("mnli"), MADE)
    assert set(sum(guids(splits).values(), [])) <= set(sum(guids(full).values(), []))


def test_official_counts_leave_no_note():
    snli, rows = task("snli"), task("snli").rows
    chosen = choose_splits(snli, PrepareSettings())
    assert prepare._note(snli, chosen, rows | {"select": rows["dev"]}) == ""
    assert prepare._note(snli, chosen, rows | {"select": 200}) == "dev: 200 of 9,842 rows"
    chosen = choose_splits(snli, PrepareSettings(train_from="dev"))
    said = prepare._note(snli, chosen, {"train": 200, "test": rows["test"]})
    assert said == "trained on dev; dev: 200 of 9,842 rows"
    assert choose_splits(task("scitail"), PrepareSettings(report_on=["dev"])).select is None
    assert choose_splits(task("race"), PrepareSettings(report_on=["test"])).select is None
    carved = choose_splits(task("rte"), PrepareSettings(carve={"train": 0.8, "dev": 0.2}))
    said = prepare._note(task("rte"), carved, {"train": 1, "dev": 2})
    assert said == "carved from train: train 1, dev 2 of 2,490 rows"


def test_another_split_trains_and_is_then_carved_for_selection(published):
    folder = published("snli")
    (folder / "snli_1.0_train.jsonl").unlink()
    given = '{"train_from": "dev", "report_on": ["test"], "published": false}'
    settings = PrepareSettings.parse(given)
    splits, meta = prepare.prepare(task("snli"), folder, settings)
    assert (meta["train_from"], meta["select_from"], meta["report"]) == ("dev", "dev", ["test"])
    assert meta["rows"] == {"train": 2, "select": 1, "test": 3}
    assert {g.split("/")[1] for g in guids(splits)["select"]} == {"dev"}


def test_one_id_for_two_rows_is_refused(published):
    folder = published("story_cloze")
    path = next(folder.glob("*val.csv"))
    path.write_text(path.read_text().replace("val-3,", "val-2,"))
    said = refusal(prepare.prepare, task("story_cloze"), folder, MADE)
    assert "'story_cloze/val/val-2' occurs 2 times" in said


def test_the_program_writes_equal_bytes_each_time_and_their_digest(published, tmp_path):
    folder, out, meta = published("race"), tmp_path / "out/race", tmp_path / "out/race.json"
    words = ["race", "--folder", folder, "--out", out, "--facts", meta]
    runs = []
    for _ in range(2):
        done = call(prepare.main, *words, "--settings", '{"published": false}')
        assert done.returncode == 0, done.stderr
        runs.append({p.relative_to(out): p.read_bytes() for p in out.rglob("*") if p.is_file()})
    facts = json.loads(meta.read_text())
    assert runs[0] == runs[1] and {p.name for p in out.parent.iterdir()} == {"race", "race.json"}
    assert not any(str(tmp_path).encode() in content for content in runs[0].values())
    assert facts["sha256"] == {split: split_digest(out, split) for split in split_names(out)}
    assert facts["rows"] == {"train": 9, "select": 3, "test": 12, "dev": 12}
    files = ("dev/high/0.txt", "dev/high/1.txt", "dev/middle/2.txt", "dev/middle/3.txt")
    assert facts["sources"]["dev"].keys() == {*files}
    assert str(folder) not in meta.read_text()
    examples = read(out, "train")
    assert len(examples) == 9 and examples[0].choices == ("a 0", "b 0", "c 0", "d 0")


@pytest.mark.parametrize(("name", "labels"), [("dprd", ["1", "2"]), ("stsb", None)])
def test_examples_survive_writing_and_open_with_the_labels_names(name, labels, tmp_path, published):
    of = task(name)
    splits = {split: of.read(published(name), split) for split in of.rows}
    write(tmp_path / "out", splits, () if of.soft_labels else of.labels)
    opened = load_from_disk(tmp_path / "out")
    assert list(opened) == list(splits)
    for split, rows in splits.items():
        assert read(tmp_path / "out", split) == rows
        assert getattr(opened[split].features["label"], "names", None) == labels
        columns = ["guid", "first", "second", "choices", "label", "group"]
        assert opened[split].column_names == columns


def pairs(folder, rows):
    """What is made of a single file of a user's pairs."""
    lines = [f"{first},{second},{n // 7 % 2}" for n, (first, second) in enumerate(rows)]
    (folder / "rows.csv").write_text("\n".join(["text,second,label", *lines]))
    own = OwnTask(kind="pair", files="rows.csv", labels=["0", "1"])
    carved = {"own": own, "published": False, "carve": {"train": 0.8, "test": 0.2}}
    return prepare.prepare(task("mine", own), folder, PrepareSettings(**carved))


@pytest.mark.parametrize("aspects", [["food"], ["food", "room"], ["food", "room", "staff"]])
def test_a_text_that_many_pairs_of_ones_own_share_does_not_bind_them(aspects, tmp_path):
    rows = [(f"comment {n}", aspects[n % len(aspects)]) for n in range(600)]
    splits, facts = pairs(tmp_path, rows)
    assert facts["rows"] == {"train": 432, "select": 48, "test": 120}
    assert all({row.second for row in rows} == {*aspects} for rows in splits.values())


def test_a_text_that_few_pairs_of_ones_own_share_binds_them(tmp_path):
    _, facts = pairs(tmp_path, [(f"question {n}", f"document {n % 60}") for n in range(600)])
    assert facts["half_known"] == {"select": 0, "test": 0}
    assert facts["rows"] == {"train": 430, "select": 50, "test": 120}


def test_equal_pairs_of_frequent_texts_stay_together(tmp_path):
    _, facts = pairs(tmp_path, [("ab"[n % 2], "cd"[n % 4 // 2]) for n in range(80)])
    assert facts["overlap"]["test"] == 0 and facts["half_known"]["test"] == 20


def test_own_rows_that_cannot_be_divided_are_told_to_bring_files(tmp_path):
    said = refusal(pairs, tmp_path, [("the same", f"another {n}") for n in range(8)])
    assert "1 groups" in said and "give dev and test files, which stay undivided" in said
