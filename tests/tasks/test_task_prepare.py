"""Splits: disjoint, drawn by hash, and never selecting on what is reported."""

import json
import sys
from collections import Counter, defaultdict
from dataclasses import replace

import pytest

from tasks import TASKS, prepare, task
from tasks.common.errors import InputError
from tasks.common.files import sha256_file
from tasks.examples import read_examples, write_examples
from tasks.splits import Settings, choose_splits, parse_settings

MADE = Settings(published=False)  # the tests' rows are made


def guids(examples):
    found = defaultdict(list)
    for example in examples:
        found[example.split].append(example.guid)
    return found


@pytest.mark.parametrize("name", [each.name for each in TASKS])
def test_train_select_and_reported_splits_are_disjoint_rows(name, published):
    examples, meta = prepare.prepare(task(name), published(name), MADE)
    assert list(meta["rows"]) == ["train", "select", *task(name).report]
    assert set(Counter(e.guid for e in examples).values()) == {1}
    official = {split: {g.split("/")[1] for g in rows} for split, rows in guids(examples).items()}
    assert all(official[split] == {split} for split in task(name).report)
    assert not official["select"] & set(task(name).report)
    assert meta["rows"] == {split: len(rows) for split, rows in guids(examples).items()}
    assert sum(sum(counts.values()) for counts in meta["labels"].values()) == len(examples)


def test_the_official_dev_split_selects_where_a_labelled_test_reports(published):
    _, meta = prepare.prepare(task("snli"), published("snli"), MADE)
    assert (meta["train_from"], meta["select_from"], meta["report"]) == ("train", "dev", ["test"])
    assert meta["dropped"] == {split: {"no gold label": 1} for split in ("train", "dev", "test")}


def test_story_cloze_keeps_the_authors_share_for_selection(published):
    _, meta = prepare.prepare(task("story_cloze"), published("story_cloze"), MADE)
    assert meta["rows"] == {"train": 8, "select": 2, "test": 10}
    assert round(task("story_cloze").select_fraction * 1871) == 374


def test_dprd_has_no_selection(published):
    _, meta = prepare.prepare(task("dprd"), published("dprd"), MADE)
    assert meta["rows"] == {"train": 3, "test": 3}


def test_the_draw_depends_on_the_seed_and_not_on_the_order_of_rows(published):
    examples = task("sst2").read(published("sst2"), "train")
    drawn = prepare.draw(examples, 4, 0, "select")
    assert prepare.draw(examples[::-1], 4, 0, "select") == drawn
    assert prepare.draw(examples, 5, 0, "select") > drawn
    assert any(prepare.draw(examples, 4, seed, "select") != drawn for seed in (1, 2, 3))


def test_limits_cut_training_and_reported_rows_and_are_noted(published):
    settings = Settings(limit_train=5, limit_report=3, select_fraction=0.4, published=False)
    examples, meta = prepare.prepare(task("mnli"), published("mnli"), settings)
    assert meta["rows"] == {"train": 3, "select": 2, "dev_matched": 3, "dev_mismatched": 3}
    assert meta["note"] == "made data, not the published set"
    full, _ = prepare.prepare(task("mnli"), published("mnli"), MADE)
    assert {e.guid for e in examples} <= {e.guid for e in full}


def test_official_counts_leave_no_note():
    chosen = choose_splits(task("snli"), Settings())
    read = dict(task("snli").rows)
    assert prepare._note(task("snli"), chosen, read) == ""
    read["dev"] = 200
    assert prepare._note(task("snli"), chosen, read) == "dev: 200 of 9,842 rows"
    chosen = choose_splits(task("snli"), Settings(train_from="dev"))
    said = prepare._note(task("snli"), chosen, read)
    assert said == "trained on dev; dev: 200 of 9,842 rows"


def test_another_split_trains_and_is_then_carved_for_selection(published):
    folder = published("snli")
    (folder / "snli_1.0_train.jsonl").unlink()
    given = '{"train_from": "dev", "report_on": ["test"], "published": false}'
    settings = parse_settings(given)
    examples, meta = prepare.prepare(task("snli"), folder, settings)
    assert (meta["train_from"], meta["select_from"], meta["report"]) == ("dev", "dev", ["test"])
    assert meta["rows"] == {"train": 2, "select": 1, "test": 3}
    assert {g.split("/")[1] for g in guids(examples)["select"]} == {"dev"}


def test_a_reported_dev_split_no_longer_selects():
    splits = choose_splits(task("scitail"), Settings(report_on=("dev",)))
    assert splits.select is None


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("cola", Settings(train_from="dev"), "'dev' holds training rows"),
        ("snli", Settings(train_from="dev", report_on=("dev",)), "'dev' holds training rows"),
        ("snli", Settings(report_on=("train",)), "'train' holds training rows"),
        ("mrpc", Settings(report_on=("test",)), "no labelled split 'test'; it has train, dev"),
        ("rte", Settings(train_from="development"), "no labelled split 'development'"),
        ("rte", Settings(report_on=()), "name one split or more"),
        ("race", Settings(report_on=("dev", "dev")), "each once"),
        ("rte", Settings(min_rows={"test": 9}), "min_rows: no labelled split 'test'"),
    ],
)
def test_a_split_with_two_parts_or_without_labels_is_refused(name, settings, said):
    with pytest.raises(InputError, match=said):
        choose_splits(task(name), settings)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not JSON"),
        ('{"limt_train": 5}', "keys are source"),
        ('{"limit_train": 0}', "limit_train"),
        ('{"limit_report": "all"}', "limit_report"),
        ('{"select_fraction": 1.0}', "select_fraction"),
        ('{"report_on": "dev"}', "report_on"),
        ('{"published": "no"}', "published"),
        ('{"source": "web"}', "source is folder or hub; found 'web'"),
        ('{"min_rows": 200}', "min_rows"),
        ('{"min_rows": {"dev": 0}}', "min_rows"),
    ],
)
def test_wrong_settings_are_told(text, said):
    with pytest.raises(InputError, match=said):
        parse_settings(text)


def test_rows_that_stand_in_training_too_are_counted(published):
    folder = published("rte")
    twins = (folder / "train.tsv").read_text().splitlines(keepends=True)[1:3]
    with open(folder / "dev.tsv", "a") as file:
        file.writelines(twins)
    _, meta = prepare.prepare(task("rte"), folder, replace(MADE, select_fraction=0.1))
    in_train = meta["overlap"]["dev"]
    assert 1 <= in_train <= 2 and meta["overlap"]["select"] == 0


def test_one_row_under_two_ids_is_fine_but_one_id_for_two_rows_is_not(published):
    folder = published("story_cloze")
    path = next(folder.glob("*val.csv"))
    path.write_text(path.read_text().replace("val-3,", "val-2,"))
    with pytest.raises(InputError, match="'story_cloze/val/val-2' occurs 2 times"):
        prepare.prepare(task("story_cloze"), folder, MADE)


def test_the_program_writes_equal_bytes_each_time_and_their_digest(
    published, tmp_path, monkeypatch
):
    folder, out, meta = published("race"), tmp_path / "race.jsonl", tmp_path / "race.json"
    call = ["prepare", "race", "--folder", folder, "--out", out, "--meta", meta]
    call += ["--settings", '{"published": false}']
    monkeypatch.setattr(sys, "argv", [*map(str, call)])
    digests = set()
    for _ in range(2):
        prepare.main()
        digests.add(sha256_file(out))
    facts = json.loads(meta.read_text())
    assert digests == {facts["sha256"]}
    assert facts["rows"] == {"train": 11, "select": 1, "test": 12, "dev": 12}
    assert facts["sources"]["dev"].keys() == {
        f"dev/{g}/{k}.txt" for g in ("high", "middle") for k in "01"
    }
    assert str(folder) not in meta.read_text()
    examples = read_examples(out)
    assert [e.split for e in examples].count("train") == 11
    assert examples[0].choices == ("a 0", "b 0", "c 0", "d 0")


def test_examples_survive_writing_and_reading(tmp_path, published):
    examples = task("dprd").read(published("dprd"), "test") + task("stsb").read(
        published("stsb"), "dev"
    )
    write_examples(tmp_path / "x.jsonl", examples)
    assert read_examples(tmp_path / "x.jsonl") == examples
