"""GLUE's rows without labels: from every layout, every row, by its official index."""

import subprocess
import sys
from pathlib import Path

import pytest

from tasks import hidden, task
from tasks.catalogue import entry
from tasks.common.errors import InputError
from tasks.examples import read_examples, write_examples
from tasks.hidden import index_of, read, read_snapshot
from tasks.snapshot import Snapshot
from tasks.world.tasks import WORLD_TASKS, make_splits
from tests.tasks.hub_files import snapshot

REALDATA = Path(__file__).parents[2].parent / "shared" / "realdata"
OFFICIAL = {
    **{"cola": 1_063, "sst2": 1_821, "mrpc": 1_725, "stsb": 1_379, "qqp": 390_965},
    **{"qnli": 5_463, "rte": 3_000},
}
MNLI = {"test_matched": 9_796, "test_mismatched": 9_847, "ax": 1_104}


def put(path: Path, *lines: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(line + "\n" for line in lines).encode())
    return path.parent


def texts(examples):
    return [(e.first, e.second) for e in examples]


def test_the_servers_numbers_of_rows():
    assert {name: hidden.official(name, "test") for name in OFFICIAL} == OFFICIAL
    assert {split: hidden.official("mnli", split) for split in MNLI} == MNLI
    assert {*OFFICIAL, "mnli"} == set(hidden.NAMES)


def test_text_comes_as_it_stands(tmp_path):
    folder = put(
        tmp_path / "test.tsv",
        "\ufeffindex\tsentence1\tsentence2\r",
        '0\t"An open quote\the said "no\r',
        "1\ta\u2028b\x85c\t naïve \r",
    )
    found = read(task("rte"), folder)
    assert texts(found) == [('"An open quote', 'he said "no'), ("a\u2028b\x85c", "naïve")]
    assert [e.guid for e in found] == ["rte/test/0", "rte/test/1"]
    assert [(e.split, e.label, index_of(e)) for e in found] == [("test", -1, 0), ("test", -1, 1)]
    write_examples(tmp_path / "rte.jsonl", found)
    assert read_examples(tmp_path / "rte.jsonl") == found


@pytest.mark.parametrize("name", hidden.NAMES)
def test_the_worlds_files_are_read(name, tmp_path):
    splits = make_splits(3, name, 6, 10)
    for path, text in WORLD_TASKS[name].write(splits).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8", newline="")
    found = read(task(name), tmp_path / task(name).folder)
    wanted = [split for split in splits if split.startswith("test")]
    assert list(dict.fromkeys(e.split for e in found)) == wanted
    for split in wanted:
        rows = [(row.first, row.second) for row in splits[split]]
        assert texts(e for e in found if e.split == split) == rows
        assert [index_of(e) for e in found if e.split == split] == list(range(len(rows)))


@pytest.mark.parametrize("place", ["MNLI/diagnostic.tsv", "diagnostic/diagnostic.tsv"])
def test_the_diagnostic_set_is_mnlis_where_it_is_there(place, tmp_path):
    for split in ("matched", "mismatched"):
        put(tmp_path / f"MNLI/test_{split}.tsv", "index\tsentence1\tsentence2", "0\ta\tb")
    assert {e.split for e in read(task("mnli"), tmp_path / "MNLI")} == set(MNLI) - {"ax"}
    put(tmp_path / place, "index\tsentence1\tsentence2", "0\tc\td", "1\te\tf")
    found = read(task("mnli"), tmp_path / "MNLI")
    assert texts(found)[2:] == [("c", "d"), ("e", "f")]
    assert [e.guid for e in found][2:] == ["mnli/ax/0", "mnli/ax/1"]


BAD = {
    "a row is missing": (["0\ta\tb", "2\tc\td"], "test.tsv:3: index is '2', expected 1"),
    "rows are moved": (["1\ta\tb", "0\tc\td"], "test.tsv:2: index is '1', expected 0"),
    "a column short": (["0\ta"], "test.tsv:2: 2 columns, 3 needed"),
    "no rows": ([], "test.tsv: no rows"),
}


@pytest.mark.parametrize("fault", BAD)
def test_rows_that_are_not_the_official_ones_are_refused(fault, tmp_path):
    lines, said = BAD[fault]
    folder = put(tmp_path / "test.tsv", "index\tsentence1\tsentence2", *lines)
    with pytest.raises(InputError) as error:
        read(task("rte"), folder)
    assert said in str(error.value)


def test_another_tasks_file_and_no_file_are_told(tmp_path):
    folder = put(tmp_path / "test.tsv", "index\tquestion\tsentence", "0\ta\tb")
    with pytest.raises(
        InputError, match=r"test.tsv:1: no column 'sentence1', found index question"
    ):
        read(task("rte"), folder)
    with pytest.raises(InputError, match=r"MNLI: test_matched.tsv and test_mismatched.tsv needed"):
        read(task("mnli"), tmp_path / "MNLI")
    assert not hidden.are_there("snli", folder) and hidden.are_there("qnli", folder)


def test_a_cut_off_file_and_another_tasks_are_refused_where_the_official_rows_are_wanted(tmp_path):
    lines = [f"{i}\tsentence {i}" for i in range(1_063)]
    folder = put(tmp_path / "test.tsv", "index\tsentence", *lines)
    cola, sst2 = task("cola"), task("sst2")
    hidden.check_counts(cola, folder, read(cola, folder))
    with pytest.raises(InputError, match=r"1,063 unlabelled rows in 'test', the server .* 1,821"):
        hidden.check_counts(sst2, folder, read(sst2, folder))
    put(tmp_path / "test.tsv", "index\tsentence", *lines[:1_000])
    command = [sys.executable, "-m", "tasks.hidden", "cola", "--folder", str(folder)]
    command += ["--out", str(tmp_path / "out.jsonl")]
    strict = subprocess.run([*command, "--published"], capture_output=True, text=True)
    assert strict.returncode == 1 and strict.stderr.count("\n") == 1
    assert not (tmp_path / "out.jsonl").exists()
    loose = subprocess.run(command, capture_output=True, text=True)
    assert loose.returncode == 0 and "test 1,000 of 1,063" in loose.stdout


def test_labelled_rows_of_the_hub_are_not_taken_for_test_rows(tmp_path):
    record = {"sentence1": "a", "sentence2": "b", "label": 1, "idx": 0}
    folder = snapshot(tmp_path, "rte", {"test": [[record]]})
    with pytest.raises(InputError, match=r"row 1: label is 1, expected -1"):
        read_snapshot(task("rte"), Snapshot(task("rte"), folder))


def test_a_split_of_the_hub_without_rows_is_refused(tmp_path):
    record = {"premise": "a", "hypothesis": "b", "label": -1, "idx": 0}
    rows = {"test_matched": [[record]], "test_mismatched": [[record]], "ax": [[]]}
    folder = snapshot(tmp_path, "mnli", rows)
    with pytest.raises(InputError, match="no rows in 'ax'; fetch it again"):
        read_snapshot(task("mnli"), Snapshot(task("mnli"), folder))


def test_a_broken_row_of_qqp_keeps_its_place(tmp_path):
    lines = [f"{i}\ta{i}\tb{i}" for i in range(6)]
    lines[2] = "2\tonly one"
    lines[4] = "4\tc\t"
    folder = put(tmp_path / "test.tsv", "id\tquestion1\tquestion2", *lines)
    found = read(task("qqp"), folder)
    assert [index_of(e) for e in found] == list(range(6))
    assert texts(found)[2:6] == [("", ""), ("a3", "b3"), ("c", ""), ("a5", "b5")]
    folder = put(tmp_path / "test.tsv", "id\tquestion1\tquestion2", *(["0\ta"] * 4))
    with pytest.raises(InputError, match=r"test.tsv:5: 2 columns"):
        read(task("qqp"), folder)


@pytest.mark.parametrize("name", hidden.NAMES)
def test_the_hubs_rows_equal_those_of_the_original_files(name, tmp_path):
    each, wanted, files = entry(name), [], {}
    parse = task(name).parse
    columns = [column for column in (parse.first, parse.second) if column]
    hub = [column for column in each.columns if column not in ("label", "idx")]
    for split, (place, *_) in hidden.FILES.get(name, hidden.TEST).items():
        rows = [[f'{split} "{i}', f"no {i} "][: len(columns)] for i in range(4)]
        lines = ["\t".join((str(i), *row)) for i, row in enumerate(rows)]
        put(tmp_path / "original" / place, "\t".join(("index", *columns)), *lines)
        label = -1.0 if name == "stsb" else 1 if name == "mrpc" else -1
        # MRPC's idx goes on from train and dev, and its labels are there: neither is looked at.
        start = 4_076 if name == "mrpc" else 0
        records = [
            dict(zip(hub, row, strict=True)) | {"label": label, "idx": start + i}
            for i, row in enumerate(rows)
        ]
        files[split] = [records[:3], records[3:]]
        wanted += rows
    folder = snapshot(tmp_path / "hub", name, files)
    found = read_snapshot(task(name), Snapshot(task(name), folder))
    assert found == read(task(name), tmp_path / "original")
    assert len(found) == len(wanted) and {e.label for e in found} == {-1}


@pytest.mark.skipif(
    not REALDATA.is_dir(), reason="the published files do not lie beside the project"
)
@pytest.mark.parametrize("name", ["cola", "rte", "mrpc", "sst2", "stsb"])
def test_the_published_files_have_the_official_rows(name):
    found = read(task(name), REALDATA / task(name).folder)
    assert len(found) == OFFICIAL[name]
    assert [index_of(e) for e in found] == list(range(OFFICIAL[name]))
    assert all(e.first and bool(e.second) == bool(task(name).parse.second) for e in found)
