"""The published files, where they lie beside the project: places that are easily misread."""

import pytest

from tasks import task
from tasks.prepare import prepare
from tasks.settings import PrepareSettings
from tasks.spec import Example
from tests.support.realdata import realdata


def read(name: str, split: str) -> list[Example]:
    return task(name).read(realdata(task(name).folder), split)


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
