"""What each task says of its published data set: rows, labels, splits, told here once more.

Rows as in the papers and read-me files of the sets (GLUE's as its hub counts them); labels as they
were counted in the files.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from tasks import TASKS, task
from tasks.task import Task


class Published(NamedTuple):
    """Rows by split; those of the splits without public labels; labels in the splits counted."""

    labelled: dict[str, int]
    unlabelled: dict[str, int] = {}
    counted: dict[str, tuple[int, ...]] = {}


SETS = {
    "snli": Published(
        {"train": 549_367, "dev": 9_842, "test": 9_824}, {}, {"dev": (3_329, 3_235, 3_278)}
    ),
    "mnli": Published(
        {"train": 392_702, "dev_matched": 9_815, "dev_mismatched": 9_832},
        {"test_matched": 9_796, "test_mismatched": 9_847, "ax": 1_104},
        {"dev_matched": (3_479, 3_123, 3_213)},
    ),
    "qnli": Published({"train": 104_743, "dev": 5_463}, {"test": 5_463}, {"dev": (2_702, 2_761)}),
    "rte": Published(
        {"train": 2_490, "dev": 277}, {"test": 3_000}, {"train": (1_249, 1_241), "dev": (146, 131)}
    ),
    "scitail": Published(
        {"train": 23_596, "dev": 1_304, "test": 2_126}, {}, {"test": (1_284, 842)}
    ),
    "race": Published({"train": 87_866, "dev": 4_887, "test": 4_934}),
    "story_cloze": Published(
        {"val": 1_871, "test": 1_871}, {}, {"val": (962, 909), "test": (960, 911)}
    ),
    "mrpc": Published(
        {"train": 3_668, "dev": 408},
        {"test": 1_725},
        {"train": (1_194, 2_474), "dev": (129, 279)},
    ),
    "qqp": Published({"train": 363_846, "dev": 40_430}, {"test": 390_965}),
    "stsb": Published({"train": 5_749, "dev": 1_500}, {"test": 1_379}),
    "sst2": Published(
        {"train": 67_349, "dev": 872},
        {"test": 1_821},
        {"train": (29_780, 37_569), "dev": (428, 444)},
    ),
    "cola": Published(
        {"train": 8_551, "dev": 1_043},
        {"test": 1_063},
        {"train": (2_528, 6_023), "dev": (322, 721)},
    ),
    "dprd": Published({"train": 1_322, "test": 564}, {}, {"train": (661, 661), "test": (282, 282)}),
}
WITHOUT_GOLD_LABEL = {"snli": {"train": 785, "dev": 158, "test": 176}}
UNCOUNTED = {  # label shares where no split's labels were counted
    "race": (0.23, 0.25, 0.26, 0.26),
    "qqp": (0.63, 0.37),
    "stsb": (0.12, 0.15, 0.16, 0.24, 0.23, 0.1),
}
WRONG_COUNTS = {"qnli": {108_436}, "scitail": {23_097, 23_088}}


@pytest.mark.parametrize("name", SETS)
def test_a_task_has_the_rows_and_labels_that_were_published(name):
    of, published = task(name), SETS[name]
    assert of.rows == published.labelled and of.unlabelled_rows == published.unlabelled
    assert of.label_counts == published.counted
    dropped = WITHOUT_GOLD_LABEL.get(name, {})
    labelled = {split: n + dropped.get(split, 0) for split, n in published.labelled.items()}
    assert of.hub.rows == labelled | published.unlabelled
    assert all(sum(counts) == of.rows[split] for split, counts in of.label_counts.items())
    assert of.wrong_counts.keys() == WRONG_COUNTS.get(name, set())


@pytest.mark.parametrize("name", SETS)
def test_the_shares_of_labels_are_about_those_that_were_counted(name):
    of = task(name)
    assert sum(of.label_shares) == pytest.approx(1, abs=0.011)
    for counts in of.label_counts.values():
        n = sum(counts)
        assert of.label_shares == pytest.approx([count / n for count in counts], abs=0.06)
    if not of.label_counts:
        assert of.label_shares == UNCOUNTED[name]


GLUE = ("mnli", "qnli", "rte", "mrpc", "qqp", "stsb", "sst2", "cola")
FACTS: dict[str, tuple[Callable[[Task], Any], dict[str, Any], Any]] = {
    # what is told: how, of which tasks, and of all others
    "classes": (
        lambda of: len(of.labels),
        {**dict.fromkeys(("snli", "mnli"), 3), "race": 4, "stsb": 6},
        2,
    ),
    "metrics": (
        lambda of: of.metrics,
        {
            **dict.fromkeys(("mrpc", "qqp"), ("f1", "accuracy")),
            **{"stsb": ("pearson", "spearman"), "cola": ("matthews", "accuracy")},
        },
        ("accuracy",),
    ),
    "trains on": (lambda of: of.train, {"story_cloze": "val"}, "train"),
    "selects on": (lambda of: of.select, dict.fromkeys(("snli", "scitail"), "dev"), None),
    "share that selects": (
        lambda of: of.select_fraction,
        {"story_cloze": 0.2, "dprd": 0.0},
        None,
    ),
    "reports": (
        lambda of: of.report,
        {
            **dict.fromkeys(GLUE, ("dev",)),
            **{"mnli": ("dev_matched", "dev_mismatched"), "race": ("test", "dev")},
        },
        ("test",),
    ),
    "several rows a text": (lambda of: of.several_rows_a_text, {"race": True}, False),
    "flawed rows that are tolerated": (
        lambda of: of.tolerated,
        dict.fromkeys(("race", "qqp"), 0.001),
        0.0,
    ),
    "groups": (lambda of: of.groups, {"race": ("middle", "high")}, ()),
}


@pytest.mark.parametrize("fact", FACTS)
def test_a_task_is_divided_and_scored_as_the_paper_and_the_sets_have_it(fact):
    told, some, others = FACTS[fact]
    assert {name: told(task(name)) for name in SETS} == {n: some.get(n, others) for n in SETS}


def test_every_task_is_told_of():
    assert list(SETS) == [*(of.name for of in TASKS), "dprd"]
