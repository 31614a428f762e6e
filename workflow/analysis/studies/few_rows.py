"""The number of rows in a share of the training rows, and the bag of words fitted to so few.

So a model trained on 64 rows is compared with a bag of words fitted to the same 64.
"""

from functools import cache
from pathlib import Path

import numpy as np

import tasks
from gpt1.cell import Cell
from gpt1.streams import drawn_rows
from tasks import baselines
from tasks.common.records import Scores
from tasks.examples import ExamplesFacts, facts_of
from workflow.grid import StudyPlan


def shares(study: StudyPlan) -> dict[Cell, float]:
    """Each cell's share of the training rows, if below 1, in a study along `train_share`."""
    if study.axis != "train_share":
        return {}
    values = {point.of.name: point.value for point in study.points if point.value}
    found = {Cell(name, t): float(of) for name, of in values.items() for t in study.tasks}
    return {cell: share for cell, share in found.items() if share < 1}


def train_rows(results: Path, study: StudyPlan) -> dict[tuple[str, str], int]:
    """The number of fine-tuning rows, by task and value of a study along `train_share`.

    The mean has a number if it is the same for all tasks. Raises InputError for a damaged file.
    """
    facts = {
        task: ExamplesFacts.read(results / "examples" / f"{task}.json") for task in study.tasks
    }
    found: dict[tuple[str, str], int] = {}
    for value in study.values:
        counts = {
            task: len(drawn_rows(of.rows["train"], float(value), 0)) for task, of in facts.items()
        }
        found |= {(task, value): count for task, count in counts.items()}
        if len({*counts.values()}) == 1:
            found["mean", value] = max(counts.values())
    return found


@cache
def bag_of_words(folder: Path, task: str, share: float, seeds: tuple[int, ...]) -> Scores:
    """The bag of words' scores by split and metric, averaged over the seeds that draw the rows.

    `folder` has the task's examples. Raises InputError if it is not what `tasks.prepare` wrote.
    """
    spec = tasks.task(task, facts_of(task, folder).settings.own)
    splits = baselines.labelled(spec, folder)
    train = splits.pop("train")
    rows = [row for split in splits.values() for row in split]
    found = []
    for seed in seeds:
        few = [train[i] for i in drawn_rows(len(train), share, seed)]
        answers = baselines.bag_of_words(spec, few, rows)
        found.append(baselines.scores(spec, splits, answers, {}))
    return {
        split: {m: float(np.mean([one[split][m] for one in found])) for m in scores}
        for split, scores in found[0].items()
    }
