"""The hub's files and the original layout, written from the same rows, give equal examples."""

import json

import pytest

from tasks import TASKS, task
from tasks.common.errors import InputError
from tasks.hub import Snapshot
from tasks.prepare import prepare
from tasks.settings import PrepareSettings
from tasks.task import Tally
from tests.tasks.both_layouts import glue_hub, pin, write
from tests.tasks.hub_files import snapshot

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
    with pytest.raises(InputError, match="story_cloze is not on the hub; fill in the form"):
        task("story_cloze").read(Snapshot(task("story_cloze").hub, "anywhere"), "val")


def test_rows_that_upstream_left_out_leave_a_gap_in_the_guids(tmp_path):
    """QQP: a line with too few columns is in neither layout, an empty question is dropped."""
    original, hub = write("qqp", tmp_path)
    path = original / "train.tsv"
    lines = path.read_bytes().split(b"\n")
    lines[3] = b"2\tbroken"
    lines[5] = b"4\t\twhy\t1"
    path.write_bytes(b"\n".join(lines))
    first, second = glue_hub("qqp", "train")
    first[4] |= {"question1": "", "label": 1}
    del first[2]
    snapshot(hub, "qqp", {"train": [first, second]})
    tallies = [Tally(), Tally()]
    one = task("qqp").read(original, "train", tallies[0])
    other = task("qqp").read(Snapshot(task("qqp").hub, hub), "train", tallies[1])
    assert one == other and len(one) == 8
    assert [tally.dropped for tally in tallies] == [
        {"wrong column count": 1, "empty text": 1},
        {"empty text": 1},
    ]


def test_questions_of_qqp_that_are_published_as_csv_quotes_them_are_read_as_meant(tmp_path):
    """As in the `train.tsv` of GLUE; the hub's rows were made of it without another reading."""
    original, hub = write("qqp", tmp_path)
    meant = ['What is "love"?', '"Emma"', 'Why "a" or "b', 'a "b" c ""d""', "no quotation mark"]
    quoted = ['"' + text.replace('"', '""') + '"' for text in meant[:4]] + meant[4:]
    path = original / "train.tsv"
    lines = path.read_bytes().decode().split("\n")
    first, second = glue_hub("qqp", "train")
    for k, text in enumerate(quoted):
        lines[k + 1] = f"{k}\t{text}\twhy {k}?\t1"
        first[k] |= {"question1": text, "question2": f"why {k}?", "label": 1}
    path.write_bytes("\n".join(lines).encode())
    snapshot(hub, "qqp", {"train": [first, second], "dev": glue_hub("qqp", "dev")})
    least = PrepareSettings(min_rows={"train": 10, "dev": 10})
    one, facts = prepare(task("qqp"), original, least)
    other, hub_facts = prepare(task("qqp"), hub, least.model_copy(update={"source": "hub"}))
    assert one["train"] == other["train"] and facts["unquoted"] == {"train": 4}
    assert hub_facts["unquoted"] == {"train": 4}
    read = {row.guid: row.first for part in ("train", "select") for row in one[part]}
    assert [read[f"qqp/train/{k}"] for k in range(5)] == meant
