"""The hub's sources fit the tasks, and what cannot be pinned is refused."""

import re

import pytest

from tasks import TASKS, task
from tasks.common.errors import InputError
from tasks.fetch import source_named
from tasks.hub import COMMIT, CORPORA, corpus, fault, pinned

SHA = "0123456789abcdef0123456789abcdef01234567"
TASKS_AND_DPRD = [*TASKS, task("dprd")]
SOURCES = [*(each.hub for each in TASKS_AND_DPRD), *CORPORA]


def test_no_two_sources_have_the_same_name_and_a_tasks_is_its_own():
    assert len({source.name for source in SOURCES}) == len(SOURCES)
    assert all(each.hub.name == each.name for each in TASKS_AND_DPRD)
    assert [source_named(source.name) for source in SOURCES] == SOURCES


@pytest.mark.parametrize("of", TASKS_AND_DPRD, ids=lambda of: of.name)
def test_splits_rows_and_labels_are_the_tasks_own(of):
    assert set(of.hub.files) == {*of.rows, *of.unlabelled} or of.hub.by_hand
    if of.hub.labels:
        assert set(of.hub.labels.values()) == set(of.labels)
    else:
        assert of.name == "stsb" or of.hub.by_hand
    assert len(of.shares) == len(of.labels)
    assert sum(of.shares) == pytest.approx(1, abs=0.011)


@pytest.mark.parametrize("source", CORPORA, ids=lambda source: source.name)
def test_the_rows_of_every_split_of_a_corpus_are_known_but_for_the_lines_of_a_text_mirror(source):
    assert set(source.rows) == (set() if source.lines else set(source.files))


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_a_source_has_a_repository_with_files_for_every_split_or_a_way_to_obtain_it(source):
    assert source.licence
    if source.repo:
        assert re.fullmatch(r"[\w-]+/[\w-]+", source.repo)
        assert set(source.unlabelled) <= set(source.files)
        assert source.revision is None or COMMIT.fullmatch(source.revision)
        assert source.lines or source.texts
    else:
        assert f"set {{folder: {task(source.name).folder}}}" in source.by_hand


def test_a_pin_of_the_config_takes_the_place_of_the_sources_own():
    assert pinned(task("cola").hub).startswith("bcdcba79") and fault(task("cola").hub) is None
    assert pinned(task("cola").hub, SHA) == pinned(task("dprd").hub, SHA) == SHA


@pytest.mark.parametrize(
    ("name", "revision", "message"),
    [
        ("cola", SHA.upper(), "is not a commit"),
        ("dprd", None, "begins with 0fdf659); look it up on the hub and give revision:"),
        ("story_cloze", SHA, "fill in the form at cs.rochester.edu/nlp/rocstories"),
    ],
)
def test_what_is_no_pin_is_refused_with_the_remedy(name, revision, message):
    assert message in (fault(task(name).hub, revision) or "")
    with pytest.raises(InputError) as error:
        pinned(task(name).hub, revision)
    assert message in str(error.value)


def test_unknown_names_are_refused_with_the_known_ones():
    with pytest.raises(InputError, match="no data set 'glue' to fetch; there are snli mnli"):
        source_named("glue")
    with pytest.raises(InputError, match="no corpus 'pile' of the hub; the corpora are bookcorpus"):
        corpus("pile")
