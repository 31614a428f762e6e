"""Which reported rows a search of the books marks, and how many of the planted ones it finds.

Two detectors, both from the longest run of words that a row shares with the books
(`gpt1.contamination`): 13 words in a row, and all of the row's longest text.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import tasks
from gpt1.text.ngrams import N
from workflow.analysis import markdown
from workflow.analysis.records import Marks, Record, check_examples
from workflow.analysis.tables.probes import interval as wilson

DETECTORS = {"words": f"{N} words in a row", "whole": "longest match: a whole text"}
SHARES = [f"share_{name}" for name in DETECTORS]
LEGEND = (
    "Recall: of the planted rows those that are marked; precision: of the marked rows those "
    "that were planted; in percent, with Wilson's 95 % interval over rows. The rows of each count "
    "are other rows."
)


class PlantedRows(Record):
    """The rows of a task that were planted: their places in the split, by how often."""

    split: str
    examples: str
    rows: dict[str, list[int]]


class Manifest(Record):
    """`variants/NAME/world/manifest.json` of planted books."""

    counts: list[int]
    planted: dict[str, PlantedRows]


def marked_rows(folder: Path, task: str, manifest: Manifest) -> pd.DataFrame:
    """Of each row of the task's main split how often it was planted and which detectors mark it.

    `folder` is that of the books. Raises InputError where files are not of the same examples.
    """
    of, path = manifest.planted[task], folder / "contamination" / f"{task}.json"
    marks = Marks.read(path, task=task)
    known = {of.split: of.examples}
    check_examples(
        path, {of.split: marks.examples[of.split]}, folder / "world" / "manifest.json", known
    )
    split = marks.splits[of.split]
    length, match = np.array(split.words), np.array(split.match)
    frame = pd.DataFrame(
        {"count": 0, "words": match >= N, "whole": match >= length, "short": length < N}
    )
    for count, places in of.rows.items():
        frame.loc[places, "count"] = int(count)
    return frame


def shares(rows: pd.DataFrame, count: int | str) -> dict[str, Any]:
    """Of the rows planted so often their number, and the percentages that are marked."""
    mine = rows[rows["count"] == int(count)]
    marked = {f"share_{name}": 100.0 * mine[name].mean() for name in DETECTORS}
    return {"rows": len(mine), **marked, "short": 100.0 * mine["short"].mean()}


def detection(found: pd.DataFrame) -> pd.DataFrame:
    """Recall and precision of each detector by task, and over all tasks, as text.

    `found` has a row of `shares` for each task and number of times (`value`) in the books.
    """
    groups = [(tasks.task(str(name)).title, of) for name, of in found.groupby("task", sort=False)]
    lines = []
    for title, rows in [*groups, ("all", found)]:
        is_planted = rows["value"] != "0"
        for detector, head in DETECTORS.items():
            marked = (rows["rows"] * rows[f"share_{detector}"] / 100).round()
            hits = int(marked[is_planted].sum())
            recall = _ratio(hits, int(rows["rows"][is_planted].sum()))
            precision = _ratio(hits, int(marked.sum()))
            lines.append((title, head, recall, precision))
    columns = ["task", "detector", "recall", "precision"]
    return pd.DataFrame(lines, columns=columns).set_index("task")


def _ratio(hits: int, n: int) -> str:
    """A percentage with Wilson's interval, and of how many rows it is."""
    if not n:
        return markdown.NONE
    return f"{markdown.interval(100 * hits / n, *wilson(hits, n), decimals=0)} of {n}"
