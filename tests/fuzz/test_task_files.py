"""Whatever stands in a task's files, as published or as the hub has them, is rows or one line."""

import pytest

from tasks import task
from tasks.hub import Snapshot
from tests.fuzz.mutations import fuzz, without_checksums
from tests.tasks.both_layouts import pin, write
from tests.tasks.hub_files import manifest

# One task for each way of reading: tables with and without a header, scores, JSON lines, tables
# without names, whole files of JSON, five lines to an item.
NAMES = ("cola", "stsb", "qqp", "snli", "scitail", "race", "dprd")
STORIES = [
    ["InputStoryid", *(f"InputSentence{k}" for k in (1, 2, 3, 4))],
    ["RandomFifthSentenceQuiz1", "RandomFifthSentenceQuiz2", "AnswerRightEnding"],
]


def splits(name, source):
    for split in task(name).rows:
        task(name).read(source, split)


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_as_published(tmp_path, name):
    original, _ = write(name, tmp_path)
    fuzz(original, lambda: splits(name, original))


@pytest.mark.parametrize("name", ["rte", "race"])
def test_damaged_files_of_the_hub(tmp_path, name):
    _, hub = write(name, tmp_path)
    snapshot = Snapshot(task(name).hub, hub, pin(name))

    def recorded():
        manifest(hub, name)

    fuzz(hub, lambda: splits(name, snapshot), "*.parquet", recorded)


def test_a_damaged_manifest(tmp_path):
    _, hub = write("rte", tmp_path)
    without_checksums(hub)
    snapshot = Snapshot(task("rte").hub, hub, pin("rte"))
    fuzz(hub, lambda: splits("rte", snapshot), "manifest.json")


def test_damaged_stories(tmp_path):
    header = ",".join(name for names in STORIES for name in names)
    rows = [f'{k},One,"Two, ""2""",Three,"Li\nne",good {k},bad {k},{k % 2 + 1}' for k in range(9)]
    for split in ("val", "test"):
        path = tmp_path / f"cloze_test_{split}__spring2016 - cloze_test_ALL_{split}.csv"
        path.write_text("\n".join([header, *rows, ""]))
    fuzz(tmp_path, lambda: splits("story_cloze", tmp_path))
