"""GLUE's rows without labels: from every layout, every row, by its official index."""

import json
import subprocess
from pathlib import Path

import pytest
from datasets import load_from_disk

from tasks import TASKS, task
from tasks.hub import Snapshot
from tasks.prepare import check_unlabelled, main, prepare
from tasks.settings import PrepareSettings
from tasks.spec import Example
from tasks.world.tasks import WORLD_TASKS
from tests.support.programs import call, refusal
from tests.tasks import both_layouts
from tests.tasks.hub_files import snapshot

MNLI = ("test_matched", "test_mismatched", "ax")
NAMES = [each.name for each in TASKS if each.unlabelled and each.name in WORLD_TASKS]


def put(path: Path, *lines: str) -> Path:
    """A file of these lines; its folder."""
    both_layouts.put(path, "".join(line + "\n" for line in lines))
    return path.parent


def load(name: str, source: Path | Snapshot) -> dict[str, list[Example]]:
    return task(name).read_unlabelled(source)


def texts(examples: list[Example]) -> list[tuple[str, str]]:
    return [(e.first, e.second) for e in examples]


def index_of(example: Example) -> int:
    return int(example.guid.rpartition("/")[2])


@pytest.mark.parametrize("place", ["MNLI/diagnostic.tsv", "diagnostic/diagnostic.tsv"])
def test_the_diagnostic_set_is_mnlis_where_it_is_there(place, tmp_path):
    for split in ("matched", "mismatched"):
        put(tmp_path / f"MNLI/test_{split}.tsv", "index\tsentence1\tsentence2", "0\ta\tb")
    assert set(load("mnli", tmp_path / "MNLI")) == set(MNLI) - {"ax"}
    put(tmp_path / place, "index\tsentence1\tsentence2", "0\tc\td", "1\te\tf")
    found = load("mnli", tmp_path / "MNLI")
    assert list(found) == list(MNLI) and texts(found["ax"]) == [("c", "d"), ("e", "f")]
    assert [e.guid for e in found["ax"]] == ["mnli/ax/0", "mnli/ax/1"]


PAIRS = "index\tsentence1\tsentence2"
BAD = {
    "a row is missing": ("rte", [PAIRS, "0\ta\tb", "2\tc\td"], ":3: index is '2', expected 1"),
    "rows are moved": ("rte", [PAIRS, "1\ta\tb", "0\tc\td"], ":2: index is '1', expected 0"),
    "a column short": ("rte", [PAIRS, "0\ta"], ":2: expected 3 columns, found 2"),
    "no rows": ("rte", [PAIRS], ": no rows"),
    "another task's": (
        *("rte", ["index\tquestion\tsentence", "0\ta\tb"]),
        ":1: no column 'sentence1', found index question",
    ),
    "many broken": (
        *("qqp", ["id\tquestion1\tquestion2", *["0\ta"] * 4]),
        ":5: expected 3 columns, found 2",
    ),
}


@pytest.mark.parametrize("fault", BAD)
def test_rows_that_are_not_the_official_ones_are_refused(fault, tmp_path):
    name, lines, said = BAD[fault]
    assert f"test.tsv{said}" in refusal(load, name, put(tmp_path / "test.tsv", *lines))


def test_files_that_are_missing_are_named(tmp_path):
    said = refusal(load, "mnli", tmp_path / "MNLI")
    assert "MNLI: test_matched.tsv and test_mismatched.tsv needed" in said
    folder = put(tmp_path / "test.tsv", PAIRS, "0\ta\tb")
    assert task("mnli").missing_unlabelled(folder) == ["test_matched.tsv", "test_mismatched.tsv"]
    assert task("qnli").missing_unlabelled(folder) == []
    assert task("qnli").unlabelled_files(folder) == {"test": folder / "test.tsv"}
    assert task("snli").unlabelled_files(folder) == {}


def command(folder: Path, out: Path) -> subprocess.CompletedProcess[str]:
    words = ["cola", "--folder", folder, "--out", out / "cola", "--facts", out / "cola.json"]
    return call(main, *words, "--settings", '{"unlabelled": true, "published": false}')


def test_prepare_adds_the_unlabelled_rows_as_splits_and_refuses_too_few(tmp_path):
    for split, label in (("train", 3), ("dev", 2)):
        rows = [f"x\t{k % label % 2}\t\t{split} {k}" for k in range(20)]
        put(tmp_path / f"raw/{split}.tsv", *rows)
    folder = put(tmp_path / "raw/test.tsv", "index\tsentence", "0\ta", "1\tb")
    done = command(folder, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("CoLA: train 18, select 2, dev 20, test 2 (")
    facts = json.loads((tmp_path / "cola.json").read_text())
    assert facts["unlabelled"] == ["test"] and list(facts["rows"]) == ["train", "select", "dev"]
    assert {*facts["sha256"]} == {"train", "select", "dev", "test"} == {*facts["sources"], "select"}
    opened = load_from_disk(tmp_path / "cola")
    assert list(opened) == ["train", "select", "dev", "test"]
    assert opened["test"]["label"][:] == [-1, -1]
    few = folder / "test.tsv", "test", load("cola", folder)["test"], 1_063
    assert "test.tsv: 2 unlabelled rows in 'test', the" in refusal(check_unlabelled, *few)
    put(folder / "test.tsv", "index\tsentence", '0\t"a ""b"""')
    subset = PrepareSettings(min_rows={"train": 20, "dev": 20}, unlabelled=True)
    said = refusal(prepare, task("cola"), folder, subset)
    assert "test.tsv: 1 of 1 texts" in said and "are quoted as in CSV" in said
    # Without the test file nothing is made; and no one who does not ask for it needs it.
    (folder / "test.tsv").unlink()
    done = command(folder, tmp_path / "none")
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "test.tsv needed" in done.stderr and not (tmp_path / "none").exists()
    made = prepare(task("cola"), folder, PrepareSettings(published=False))[1]
    assert "test" not in made["rows"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"label": 1}, "parquet:2: index is 'labelled not_entailment', expected 1"),
        ({"idx": 2}, "parquet:2: index is '2', expected 1"),
        (None, "test-00000-of-00001.parquet: no rows; "),
    ],
)
def test_labelled_and_moved_rows_of_the_hub_and_no_rows_are_refused(change, said, tmp_path):
    records = [{"sentence1": "a", "sentence2": "b", "label": -1, "idx": k} for k in (0, 1)]
    rows = [] if change is None else [records[0], records[1] | change]
    folder = snapshot(tmp_path, "rte", {"test": [rows]})
    assert said in refusal(load, "rte", Snapshot(task("rte").hub, folder))


def test_a_broken_row_of_qqp_keeps_its_place(tmp_path):
    lines = [f"{i}\ta{i}\tb{i}" for i in range(6)]
    lines[2] = "2\tonly one"
    lines[4] = "4\tc\t"
    lines[5] = '5\t"is it ""a5"" "\tb5'
    folder = put(tmp_path / "test.tsv", "id\tquestion1\tquestion2", *lines)
    found = load("qqp", folder)["test"]
    assert [index_of(e) for e in found] == list(range(6))
    assert texts(found)[2:6] == [("", ""), ("a3", "b3"), ("c", ""), ('is it "a5"', "b5")]


@pytest.mark.parametrize("name", NAMES)
def test_the_hubs_rows_equal_those_of_the_original_files(name, tmp_path):
    of, files = task(name), {}
    columns = (of.unlabelled_index, *filter(None, (of.table.first, of.table.second)))
    for split in of.unlabelled:
        lines = ["\t".join(columns)]
        for i, (row, _) in enumerate(both_layouts.rows(name, split)):
            lines.append("\t".join((str(i), row.first, row.second)[: len(columns)]))
        place = "diagnostic.tsv" if split == "ax" else f"{split}.tsv"
        put(tmp_path / "original" / place, *lines)
        files[split] = both_layouts.hub_rows(name, split)  # MRPC's with labels, which do not count
    found = load(name, Snapshot(of.hub, snapshot(tmp_path / "hub", name, files)))
    assert found == load(name, tmp_path / "original") and list(found) == list(of.unlabelled)
    assert {e.label for rows in found.values() for e in rows} == {-1}
    assert all(len(rows) == len(both_layouts.TEXTS) for rows in found.values())
