"""The published files, where they lie beside the project: official row counts and labels."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tasks import task
from tasks.prepare import prepare
from tasks.splits import parse_settings

REALDATA = Path(__file__).parents[2].parent / "shared" / "realdata"

pytestmark = pytest.mark.skipif(
    not REALDATA.is_dir(), reason="the published data sets do not lie beside the project"
)


def read(name: str, split: str):
    folder = REALDATA / task(name).folder
    return task(name).read(folder, split)


@pytest.mark.parametrize(
    ("name", "split", "count"),
    [
        ("cola", "train", 8551),
        ("cola", "dev", 1043),
        ("rte", "train", 2490),
        ("rte", "dev", 277),
        ("mrpc", "train", 3668),
        ("mrpc", "dev", 408),
        ("sst2", "train", 67349),
        ("sst2", "dev", 872),
        ("stsb", "train", 5749),
        ("stsb", "dev", 1500),
        ("snli", "dev", 9842),
        ("snli", "test", 9818),  # of 9,824: the copy is six rows short
        ("mnli", "dev_matched", 9815),
        ("scitail", "test", 2126),
        ("dprd", "train", 1322),
        ("dprd", "test", 564),
    ],
)
def test_official_row_counts(name, split, count):
    assert len(read(name, split)) == count
    assert task(name).rows[split] == (9824 if (name, split) == ("snli", "test") else count)


@pytest.mark.parametrize(
    ("name", "split", "labels"),
    [
        ("cola", "dev", [322, 721]),
        ("mrpc", "dev", [129, 279]),
        ("sst2", "dev", [428, 444]),
        ("rte", "dev", [146, 131]),
        ("mnli", "dev_matched", [3479, 3123, 3213]),
        ("snli", "dev", [3329, 3235, 3278]),
        ("scitail", "test", [1284, 842]),
        ("dprd", "test", [282, 282]),
    ],
)
def test_label_counts(name, split, labels):
    counts = Counter(e.label for e in read(name, split))
    assert [counts[k] for k in range(len(labels))] == labels


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


def test_rows_that_stand_in_train_and_dev_are_counted():
    _, meta = prepare(task("cola"), REALDATA / "CoLA", parse_settings("{}"))
    assert meta["note"] == "" and meta["dropped"] == {}
    assert meta["rows"] == {"train": 7696, "select": 855, "dev": 1043}
    # 16 with the carved rows in train.
    assert 14 <= meta["overlap"]["dev"] <= 16


def test_snli_trains_on_dev_where_the_training_file_is_absent():
    given = {"train_from": "dev", "report_on": ["test"], "min_rows": {"test": 9818}}
    settings = parse_settings(json.dumps(given))
    _, meta = prepare(task("snli"), REALDATA / "SNLI", settings)
    assert meta["rows"] == {"train": 8858, "select": 984, "test": 9818}
    assert meta["note"] == "trained on dev; test: 9,818 of 9,824 rows"
