"""The catalogue of the hub fits the tasks, and what it cannot pin is refused."""

import re
from dataclasses import replace

import pytest

from tasks import TASKS, catalogue, task
from tasks.common.errors import InputError

SHA = "0123456789abcdef0123456789abcdef01234567"


def test_every_task_and_dprd_has_an_entry_and_no_name_stands_twice():
    names = [each.name for each in (*catalogue.ENTRIES, *catalogue.CORPORA)]
    assert len(names) == len(set(names))
    assert {each.name for each in catalogue.ENTRIES} == {t.name for t in TASKS} | {"dprd"}


@pytest.mark.parametrize("entry", catalogue.ENTRIES, ids=lambda entry: entry.name)
def test_splits_rows_and_labels_are_the_tasks_own(entry):
    of = task(entry.name)
    without_label = {"train": 785, "dev": 158, "test": 176} if entry.name == "snli" else {}
    assert {s: entry.rows[s] - without_label.get(s, 0) for s in of.rows} == of.rows
    if entry.labels:
        assert set(entry.labels.values()) == set(of.labels)
    else:
        assert entry.name == "stsb" or entry.by_hand


@pytest.mark.parametrize(
    "entry", [*catalogue.ENTRIES, *catalogue.CORPORA], ids=lambda entry: entry.name
)
def test_an_entry_has_a_repository_with_files_for_every_split_or_a_way_to_ask_for_it(entry):
    # The lines of a text mirror are counted nowhere.
    counted = set(entry.files) if entry.text != "line" else set()
    assert entry.licence and (entry.rows or entry.text == "line")
    if entry.repo:
        assert re.fullmatch(r"[\w-]+/[\w-]+", entry.repo)
        assert counted == set(entry.rows) and set(entry.hidden) <= set(entry.files)
        assert entry.revision is None or catalogue.COMMIT.fullmatch(entry.revision)
        assert entry.text or entry.label in entry.columns
    else:
        assert entry.by_hand and entry.folder == task(entry.name).folder


def test_a_pin_of_the_config_takes_the_place_of_the_catalogues():
    assert catalogue.pinned("cola").startswith("bcdcba79")
    assert catalogue.pinned("cola", SHA) == catalogue.pinned("dprd", SHA) == SHA


@pytest.mark.parametrize(
    ("name", "revision", "told"),
    [
        ("cola", "main", "'main' is no commit"),
        ("cola", "bcdcba7", "'bcdcba7' is no commit"),
        ("cola", SHA.upper(), "is no commit"),
        ("dprd", None, "begins with 0fdf659); look it up on the hub and give revision:"),
        ("story_cloze", SHA, "fill in the form at cs.rochester.edu/nlp/rocstories"),
        ("wnli", None, "no data set 'wnli' in the catalogue; it has snli mnli"),
    ],
)
def test_what_is_no_pin_is_refused_with_the_remedy(name, revision, told):
    with pytest.raises(InputError) as error:
        catalogue.pinned(name, revision)
    assert told in str(error.value)


def test_entries_are_not_changed_by_whoever_reads_them():
    with pytest.raises(AttributeError):
        catalogue.entry("cola").revision = "main"
    assert replace(catalogue.entry("cola"), revision=SHA).revision == SHA
