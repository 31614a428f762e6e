"""The published files, where they lie beside the project: official row counts and labels."""

import csv
import json

import pytest

from tasks import task
from tasks.examples import Example
from tasks.hub import Snapshot
from tasks.prepare import prepare
from tasks.settings import PrepareSettings
from tasks.task import Tally
from tests.support.realdata import realdata
from tests.tasks.hub_files import PIN, snapshot


def read(name: str, split: str) -> list[Example]:
    return task(name).read(realdata(task(name).folder), split)


def test_a_quote_at_the_start_of_a_field_is_kept():
    example = read("mrpc", "dev")[0]
    assert example.second.startswith('"The foodservice pie business does not fit')


def test_repeated_pronouns_of_dprd():
    found = {e.guid: e for split in ("train", "test") for e in read("dprd", split)}
    # Lines 2236, 6176 and 4626: the word stands before the pronoun that is meant, or after it.
    witches = found["dprd/test/447"]
    assert witches.first.endswith("witches they found, since")
    assert witches.second == "feared the words of the Bible."
    assert found["dprd/train/1235"].first.endswith("fired by the company, because")
    assert found["dprd/train/925"].second.startswith("just want it since they are")
    # Line 1561: a blank after the comma between the candidates.
    assert found["dprd/test/312"].choices == ("Rick Perry", "Mitt Romney")


@pytest.mark.parametrize(
    ("name", "split", "count"),
    [("cola", "dev", 16), ("stsb", "dev", 7), ("rte", "dev", 0), ("sst2", "dev", 0)],
)
def test_overlap_is_that_of_the_whole_splits_whatever_the_limits(name, split, count):
    settings = PrepareSettings.parse('{"limit_train": 100, "limit_report": 50}')
    _, meta = prepare(task(name), realdata(task(name).folder), settings)
    assert meta["overlap"][split] == count and meta["rows"][split] == 50


def test_snli_trains_on_dev_where_the_training_file_is_absent():
    given = {"train_from": "dev", "report_on": ["test"], "min_rows": {"test": 9818}}
    settings = PrepareSettings.parse(json.dumps(given))
    _, meta = prepare(task("snli"), realdata("SNLI"), settings)
    assert meta["rows"] == {"train": 8856, "select": 986, "test": 9818}
    assert meta["note"] == "trained on dev; test: 9,818 of 9,824 rows"


def as_upstream(name: str, split: str) -> list[dict]:
    """The published rows in the hub's columns, read as the hub's own makers read them."""
    folder = realdata(task(name).folder)
    if name == "snli":
        words = {"-": -1, "entailment": 0, "neutral": 1, "contradiction": 2}
        text = (folder / f"snli_1.0_{split}.jsonl").read_text(encoding="utf-8")
        found = [json.loads(line) for line in text.split("\n") if line]
        return [
            {
                **{"premise": row["sentence1"], "hypothesis": row["sentence2"]},
                "label": words[row["gold_label"]],
            }
            for row in found
        ]
    if name == "dprd":
        text = (folder / f"{split}.c.txt").read_text(encoding="utf-8")
        items = [item.split("\n") for item in text.strip().split("\n\n")]
        return [
            {
                **{"sentence": item[0], "pronoun": item[1]},
                **{"candidates": [name.strip() for name in item[2].split(",")]},
                "label": [name.strip() for name in item[2].split(",")].index(item[3].strip()),
            }
            for item in items
        ]
    tables = {"cola": (folder / f"{split}.tsv", ["source", "label", "mark", "sentence"])}
    tables |= {
        "scitail": (
            folder / f"tsv_format/scitail_1.0_{split}.tsv",
            ["sentence1", "sentence2", "gold_label"],
        )
    }
    path, names = tables.get(name, (folder / f"{split}.tsv", None))
    with open(path, encoding="utf-8-sig", newline="") as file:
        found = list(csv.DictReader(file, names, delimiter="\t", quoting=csv.QUOTE_NONE))
    each, words = task(name).hub, {word: k for k, word in task(name).hub.labels.items()}
    renamed = {"mrpc": ("#1 String", "#2 String", "Quality")}
    renamed |= {"mnli": ("sentence1", "sentence2", "gold_label")}
    renamed |= {"stsb": ("sentence1", "sentence2", "score")}
    texts = [column for column in each.columns if column not in ("idx", "label")]
    rows = []
    for number, row in enumerate(found):
        if name == "scitail":
            gold = row["gold_label"].replace("entails", "entailment")
            rows.append(row | {"gold_label": gold})
            continue
        values = [row[column] for column in renamed.get(name, (*texts, "label"))]
        label = float(values[-1]) if name == "stsb" else words.get(values[-1], values[-1])
        values[-1] = int(label) if isinstance(label, str) else label
        rows.append(dict(zip((*texts, "label"), values, strict=True)) | {"idx": number})
    return rows


@pytest.mark.parametrize(
    ("name", "splits"),
    [
        *((name, ("train", "dev")) for name in ("cola", "rte", "mrpc", "stsb", "sst2")),
        *(("snli", ("dev", "test")), ("mnli", ("dev_matched",)), ("scitail", ("test",))),
        ("dprd", ("train", "test")),
    ],
)
def test_the_published_rows_in_the_hubs_form_give_equal_examples_row_for_row(
    name, splits, tmp_path
):
    snapshot(tmp_path, name, {split: [as_upstream(name, split)] for split in splits})
    for split in splits:
        tallies = [Tally(), Tally()]
        original = task(name).read(realdata(task(name).folder), split, tallies[0])
        revision = PIN if name == "dprd" else None
        hub = task(name).read(Snapshot(task(name).hub, tmp_path, revision), split, tallies[1])
        assert hub == original and tallies[0] == tallies[1]
        assert len(hub) == (9818 if (name, split) == ("snli", "test") else task(name).rows[split])
