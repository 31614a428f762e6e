"""Whatever stands in a task's files, as published or as the hub has them, is rows or one line."""

import pytest

from tasks import task
from tasks.hub import Snapshot
from tests.fuzz.mutations import fuzz, without_checksums
from tests.tasks import conftest
from tests.tasks.both_layouts import pin, write
from tests.tasks.hub_files import manifest

# One task for each way of reading: tables with and without a header, scores, JSON lines, tables
# without names, whole files of JSON, five lines to an item.
NAMES = ("cola", "stsb", "qqp", "snli", "scitail", "race", "dprd")


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
    conftest.write("story_cloze", tmp_path)
    fuzz(tmp_path, lambda: splits("story_cloze", tmp_path))
