"""Rows that share a text stay together, and one labelled file can be divided by the config."""

import re

import pytest

from tasks import task
from tasks.common.errors import InputError
from tasks.settings import PrepareSettings
from tasks.splits import carve, faults
from tests.tasks.conftest import tsv
from tests.tasks.prepared import prepared

MADE = PrepareSettings(published=False)


def test_units_are_drawn_whole_by_hash_and_never_by_order():
    guids = [f"t/{i}" for i in range(12)]
    texts = [f"premise {i // 3}" for i in range(12)]
    parts = carve(guids, texts, {"select": 4, "train": 12}, 0, "select")
    assert {len(parts["select"]), len(parts["train"])} == {6} and not parts["select"] & parts[
        "train"
    ]
    for part in parts.values():
        assert len({texts[guids.index(guid)] for guid in part}) == 2
    again = carve(guids, texts, {"select": 4}, 0, "select")["select"]
    assert again == parts["select"]
    drawn = {
        frozenset(carve(guids, texts, {"select": 4}, seed, "select")["select"]) for seed in range(9)
    }
    assert len(drawn) > 1


def test_the_selecting_rows_of_race_share_no_article_with_the_training_rows(published):
    splits, _ = prepared("race", published("race"), MADE)
    articles = {name: {row.first for row in splits[name]} for name in ("train", "select")}
    assert articles["select"] and not articles["train"] & articles["select"]


@pytest.mark.parametrize(("name", "column"), [("mnli", 1), ("qnli", 2)])
def test_premises_and_passages_stay_together(name, column, published):
    folder = published(name)
    lines = [line.split("\t") for line in (folder / "train.tsv").read_text().splitlines()]
    place = lines[0].index({"mnli": "sentence1", "qnli": "sentence"}[name])
    for i, cells in enumerate(lines[1:]):
        cells[place] = f"shared text {i // 3}"
    tsv(folder / "train.tsv", lines)
    splits, meta = prepared(name, folder, MADE)
    shared = task(name).shared_text
    texts = [{getattr(row, shared) for row in splits[part]} for part in ("train", "select")]
    assert meta["rows"]["select"] == 3 and not texts[0] & texts[1]


def test_rows_with_one_text_only_cannot_be_divided(published):
    folder = published("mnli")
    path = folder / "train.tsv"
    path.write_text(re.sub("train premise .", "the same", path.read_text()))
    with pytest.raises(InputError, match="10 rows with 1 different texts leave none for train"):
        prepared("mnli", folder, MADE)


def test_one_labelled_file_is_divided_by_the_config(published):
    folder = published("qnli")
    (folder / "train.tsv").unlink()
    given = {"train_from": "dev", "carve": {"train": 0.6, "dev": 0.4}}
    splits, meta = prepared("qnli", folder, PrepareSettings(published=False, **given))
    assert meta["rows"] == {"train": 5, "select": 1, "dev": 4}
    assert (meta["train_from"], meta["report"]) == ("dev", ["dev"])
    assert {row.guid.split("/")[1] for rows in splits.values() for row in rows} == {"dev"}
    texts = [row.second for rows in splits.values() for row in rows]
    assert len(set(texts)) == 10
    other = PrepareSettings(published=False, seed=5, **given)
    assert {r.guid for r in prepared("qnli", folder, other)[0]["dev"]} != {
        row.guid for row in splits["dev"]
    }


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("rte", {"carve": {"dev": 0.2}}, "carve: the shares of dev; give those of train and of"),
        ("rte", {"carve": {"train": 0.8, "test": 0.2}}, "some of train, dev"),
        ("rte", {"carve": {"train": 0.8, "dev": 0.4}}, "more than 1 together"),
        (
            "rte",
            {"carve": {"train": 0.8, "dev": 0.2}, "report_on": ["dev"]},
            "report_on: no effect",
        ),
        ("rte", {"train_from": "dev"}, "or divide its rows, such as carve: {train: 0.8, dev: 0.2}"),
        ("scitail", {"train_from": "x", "min_rows": {"y": 1}}, "train_from: no labelled split 'x'"),
    ],
)
def test_wrong_splits_are_told_with_their_key(name, given, said):
    assert any(said in fault for fault in faults(task(name), PrepareSettings(**given)))


def test_every_wrong_name_is_told_at_once():
    given = PrepareSettings(train_from="x", min_rows={"y": 1, "z": 2}, report_on=["w"])
    assert [fault.split(":")[0] for fault in faults(task("rte"), given)] == [
        *("train_from", "report_on", "min_rows", "min_rows")
    ]


def test_half_of_race_is_a_subset_that_must_be_declared_and_no_third_folder_is(published):
    folder = published("race")
    least = {"train": 6, "dev": 6, "test": 6}
    for split in least:
        for path in (folder / split / "high").iterdir():
            path.unlink()
    with pytest.raises(InputError, match=r"no high rows in 'train'.*min_rows: {train: 6}"):
        prepared("race", folder, MADE)
    declared = PrepareSettings(published=False, min_rows=least)
    splits, _ = prepared("race", folder, declared)
    assert {row.group for rows in splits.values() for row in rows} == {"middle"}
    (folder / "train" / "high").rename(folder / "train" / "college")
    (folder / "train" / "middle" / "0.txt").rename(folder / "train" / "college" / "0.txt")
    with pytest.raises(InputError, match=r"college/0.txt:1: 'college' is none of middle, high"):
        prepared("race", folder, declared)
