"""Small published data sets in every original layout, written as the world writes its own."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tasks import task
from tasks.world.draw import Row
from tasks.world.tasks import WORLD_TASKS
from tests.tasks.both_layouts import glue_original, tsv, write_original

# Labels in turn, and what the two texts of a row begin with.
PAIRS = {
    "snli": (["neutral", "-", "entailment", "contradiction"], "premise", "guess"),
    "mnli": (["entailment", "neutral", "contradiction"], "premise", "guess"),
    "qnli": (["entailment", "not_entailment"], "who", "he"),
    "rte": (["not_entailment", "entailment"], "fact", "guess"),
    "scitail": (["neutral", "entails"], '"premise', "guess"),
    "mrpc": (["0", "1"], "one", "other"),
    "qqp": (["0", "1"], "how", "why"),
    "stsb": ([f"{k / 2:.3f}" for k in range(10)], "one", "other"),
    "sst2": (["0", "1"], "film", ""),
    "cola": (["0", "1"], '"word', ""),
}


def rows(name: str, split: str) -> list[Row]:
    """Four rows of SNLI and SciTail, twelve of RACE, three of DPRD, ten of each other task."""
    if name == "race":
        return [
            Row(
                f"{split} {group} story {number}\nwith two lines",
                f"why {k} ?",
                "BDA"[k],
                tuple(f"{word} {k}" for word in "abcd"),
                group,
            )
            for group in ("high", "middle")
            for number in range(2)
            for k in range(3)
        ]
    if name == "story_cloze":
        endings = ('She said "ow".', "She flew.")
        story = "Ann woke.\nShe ate, then ran.\nIt rained.\nShe fell {}."
        return [Row(story.format(k), label=str(k % 2 + 1), choices=endings) for k in range(10)]
    if name == "dprd":
        saw = "The cat saw the dog {} because it was big."
        return [Row(saw.format(k), "it", "0", ("The cat", f"the dog {k}")) for k in range(3)]
    labels, one, other = PAIRS[name]
    return [
        Row(f"{split} {one} {k}", f"{other} {k}" if other else "", labels[k % len(labels)])
        for k in range(4 if name in ("snli", "scitail") else 10)
    ]


def write(name: str, folder: Path) -> Path:
    """The data set of a task; `snli_txt` and `scitail_snli` are in the other layout."""
    own, _, other = name.partition("_") if name != "story_cloze" else (name, "", "")
    each = task(own)
    if own not in WORLD_TASKS:  # a further task of GLUE
        for split in each.rows:
            glue_original(folder, own, split)
        return folder
    splits = {split: rows(own, split) for split in each.rows}
    write_original(folder, own, splits)
    if own == "scitail":
        shutil.rmtree(folder / ("tsv_format" if other else "snli_format"))
    if other == "txt":
        for split in each.rows:
            (folder / f"snli_1.0_{split}.jsonl").unlink()
            header = ["gold_label", "sentence1_binary_parse", "sentence1", "sentence2", "captionID"]
            lines = [[row.label, "( parse )", row.first, row.second, "x"] for row in splits[split]]
            tsv(folder / f"snli_1.0_{split}.txt", [header, *lines])
    return folder


@pytest.fixture
def published(tmp_path: Path) -> Callable[[str], Path]:
    """Writes the data set of a task and returns its folder."""
    return lambda name: write(name, tmp_path / name)
