"""The hub's files give the examples of the original layout, or are refused in one line."""

import json
from pathlib import Path

import pytest
from pyarrow import parquet

from tasks import TASKS, task
from tasks.hub import Snapshot
from tasks.prepare import prepare
from tasks.settings import PrepareSettings
from tasks.task import Tally
from tests.support.programs import refusal
from tests.tasks.both_layouts import hub_rows, pin, write
from tests.tasks.hub_files import PIN, features, manifest, put, snapshot

HUB = [each.name for each in (*TASKS, task("dprd")) if each.hub.repo]


@pytest.mark.parametrize("name", HUB)
def test_both_layouts_give_equal_examples(name, tmp_path):
    original, hub = write(name, tmp_path)
    for split in task(name).rows:
        tallies = [Tally(), Tally()]
        one = task(name).read(original, split, tallies[0])
        other = task(name).read(Snapshot(task(name).hub, hub, pin(name)), split, tallies[1])
        assert one == other and len(one) >= 4
        assert tallies[0] == tallies[1]
        assert [type(e.label) for e in one] == [type(e.label) for e in other]


@pytest.mark.parametrize("name", ["cola", "snli", "race"])
def test_prepared_examples_are_equal_too(name, tmp_path):
    original, hub = write(name, tmp_path)
    subset = {split: 1 for split in task(name).rows}
    one, before = prepare(task(name), original, PrepareSettings(min_rows=subset))
    settings = PrepareSettings(source="hub", min_rows=subset)
    other, meta = prepare(task(name), hub, settings)
    assert one == other
    each = task(name).hub
    assert meta["origin"] == {
        **{"source": "hub", "repo": each.repo, "revision": each.revision, "config": each.config}
    }
    assert before["origin"] == {"source": "folder"}
    listed = json.loads((hub / "manifest.json").read_text())["files"]
    digests = {name: d for files in meta["sources"].values() for name, d in files.items()}
    assert digests == {name: facts["sha256"] for name, facts in listed.items()}
    same = ("rows", "labels", "dropped", "unquoted", "overlap", "note", "train_from", "report")
    assert {key: before[key] for key in same} == {key: meta[key] for key in same}


def test_every_task_is_read_from_the_hub_or_says_how_to_obtain_it():
    assert {each.name for each in TASKS} - set(HUB) == {"story_cloze"}
    said = refused("story_cloze", Path("anywhere"), "val")
    assert "story_cloze is not on the hub; fill in the form" in said


def test_rows_of_qqp_are_read_as_meant_and_those_left_out_leave_a_gap(tmp_path):
    """A line with too few columns is not on the hub, and an empty question is dropped.

    Some questions are published as CSV quotes them, from which the hub's rows were made unread.
    """
    original, hub = write("qqp", tmp_path)
    meant = {0: 'What is "love"?', 1: '"Emma"', 3: 'Why "a" or "b', 5: 'a "b" c ""d""', 6: "none"}
    path = original / "train.tsv"
    lines, rows = path.read_bytes().decode().split("\n"), sum(hub_rows("qqp", "train"), [])
    for k, text in meant.items():
        quoted = '"' + text.replace('"', '""') + '"' if '"' in text else text
        lines[k + 1] = f"{k}\t0\t0\t{quoted}\twhy {k}?\t1"
        rows[k] |= {"question1": quoted, "question2": f"why {k}?", "label": 1}
    lines[3], lines[5] = "2\tbroken", "4\t9\t10\t\twhy\t1"
    rows[4] |= {"question1": "", "label": 1}
    path.write_bytes("\n".join(lines).encode())
    snapshot(hub, "qqp", {"train": [rows[:2] + rows[3:6], rows[6:]]})
    least = PrepareSettings(min_rows={"train": 8, "dev": 10})
    one, facts = prepare(task("qqp"), original, least)
    other, hub_facts = prepare(task("qqp"), hub, least.model_copy(update={"source": "hub"}))
    assert one == other and facts["unquoted"] == hub_facts["unquoted"] == {"train": 4}
    assert facts["dropped"] == {"train": {"wrong column count": 1, "empty text": 1}}
    assert hub_facts["dropped"] == {"train": {"empty text": 1}}
    read = {row.guid: row.first for part in ("train", "select") for row in one[part]}
    assert {k: read[f"qqp/train/{k}"] for k in meant} == meant and len(read) == 8


def refused(name: str, hub: Path, split: str, revision: str | None = None) -> str:
    return refusal(task(name).read, Snapshot(task(name).hub, hub, revision or pin(name)), split)


@pytest.mark.parametrize("name", ["mnli", "snli", "rte", "cola"])
def test_labels_in_another_order_or_without_names_are_refused(name, tmp_path):
    _, hub = write(name, tmp_path)
    names = list(task(name).hub.labels.values())
    split = next(s for s in task(name).hub.files if s.startswith("dev"))
    path = next(hub.glob(task(name).hub.files[split][0]))
    put(path, [], features(task(name).hub, names[1:] + names[:1]))
    manifest(hub, name)
    said = refused(name, hub, split)
    assert f"labels 0, 1, .. are named {', '.join(names[1:] + names[:1])}, expected" in said
    parquet.write_table(parquet.read_table(path).replace_schema_metadata(None), path)
    manifest(hub, name)
    assert f"are named nothing, expected {', '.join(names)}" in refused(name, hub, split)


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ("qqp", "stsb", "found sentence1, sentence2, label, idx; delete the folder"),
        ("stsb", "rte", "'label' holds int64, a label of stsb is float"),
        ("rte", "stsb", "'label' holds float, a label of rte is int"),
        ("mrpc", "rte", "are named entailment, not_entailment, expected not_equivalent"),
    ],
)
def test_another_tasks_file_is_refused(one, other, said, tmp_path):
    _, hub = write(one, tmp_path / "one")
    _, wrong = write(other, tmp_path / "other")
    for path in hub.glob(f"{one}/validation-*.parquet"):
        path.write_bytes((wrong / other / path.name).read_bytes())
    manifest(hub, one)
    assert said in refused(one, hub, "dev")


def test_scitail_is_read_from_snli_format_alone(tmp_path):
    _, hub = write("scitail", tmp_path)
    (hub / "snli_format").rename(hub / "tsv_format")
    manifest(hub, "scitail")
    said = refused("scitail", hub, "train")
    assert "no file snli_format/train-*.parquet; tsv_format and dgem_format" in said
    assert "lost rows to quoting" in said
    (hub / "tsv_format").rename(hub / "snli_format")
    kinds = features(task("snli").hub)
    put(hub / "snli_format/train-00000-of-00001.parquet", [], kinds)
    manifest(hub, "scitail")
    said = refused("scitail", hub, "train")
    assert "found premise, hypothesis, label" in said and "lost rows to quoting" in said


@pytest.mark.parametrize(("text", "kind"), [("", "empty"), ("  ", "empty"), (None, "null")])
def test_an_empty_or_missing_text_is_refused(text, kind, tmp_path):
    _, hub = write("rte", tmp_path)
    path = hub / "rte/validation-00001-of-00002.parquet"
    row = {"sentence1": "a", "sentence2": text, "label": 0, "idx": 6}
    put(path, [row], features(task("rte").hub))
    manifest(hub, "rte")
    assert f"{path}:1: {kind} text; remove the row" in refused("rte", hub, "dev")


def test_files_that_are_not_those_of_the_manifest_are_refused(tmp_path):
    _, hub = write("rte", tmp_path)
    path = hub / "rte/train-00001-of-00002.parquet"
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    assert f"{path}: not the file that manifest.json describes" in refused("rte", hub, "train")
    manifest(hub, "rte")
    assert f"{path}: not a whole parquet file" in refused("rte", hub, "train")
    path.write_bytes(whole)
    manifest(hub, "rte")
    path.unlink()
    assert f"{path}: no such file" in refused("rte", hub, "train")


def test_another_commit_or_repository_is_refused(tmp_path):
    _, hub = write("rte", tmp_path)
    known = task("rte").hub.revision
    assert f"revision is {known!r}, expected {PIN!r}" in refused("rte", hub, "dev", PIN)
    manifest(hub, "rte", repo="someone/glue")
    assert "repo is 'someone/glue', expected 'nyu-mll/glue'" in refused("rte", hub, "dev")
    (hub / "manifest.json").unlink()
    assert "no manifest.json; fetch rte first" in refused("rte", hub, "dev")
    unpinned = Snapshot(task("dprd").hub, hub)
    assert "no commit of community-datasets" in refusal(task("dprd").read, unpinned, "test")
