"""Scores by degree of difficulty, for the rows of the synthetic world.

Many rows are lexical (`workflow.analysis.stats.degrees`), so a high score alone does not show more
than knowledge of words. Each score is the task's own metric on the rows of one degree.
"""

from functools import partial
from pathlib import Path

import pandas as pd

import tasks
from workflow.analysis import markdown
from workflow.analysis.lines import Lines
from workflow.analysis.notes import Notes
from workflow.analysis.paper import FULL
from workflow.analysis.stats.degrees import DEGREES
from workflow.analysis.stats.samples import Samples
from workflow.analysis.table import Table
from workflow.grid import Grid

INPUTS = ("ablation",)
MEAN = "avg_all"


def build(results: Path, grid: Grid) -> Table:
    """One row per variant, task (and their mean) and degree; nothing of cells that were not run."""
    samples = Samples.of_grid(results, grid, INPUTS)
    study = grid.studies["ablation"]
    run = Lines(study, grid, samples, Notes({}), {MEAN: study.tasks})
    frames = [
        run.frame(partial(samples.headline, degree=degree)).assign(degree=degree)
        for degree in DEGREES
    ]
    table = pd.concat(frames).dropna(subset="mean").rename(columns={"line": "variant"})
    return Table(table.drop(columns=["value", "note"]), _wide(table, len(study.tasks)))


def _wide(table: pd.DataFrame, n_tasks: int) -> list[str | pd.DataFrame]:
    text = table.assign(shown=markdown.intervals(table, "mean", "ci_low", "ci_high"))
    means, full = text[text["task"] == MEAN], text[(text["variant"] == FULL.title)]
    titles = {name: tasks.task(name).title for name in full["task"].unique() if name != MEAN}
    full = full.assign(task=full["task"].replace({**titles, MEAN: f"mean of {n_tasks}"}))
    return [
        "# Scores by degree of difficulty",
        f"Mean of {n_tasks} tasks, each by its own metric on the rows of one degree.",
        markdown.pivot(means, "variant", "degree", "shown"),
        f"## {FULL.title}, task by task",
        markdown.pivot(full, "task", "degree", "shown"),
        "Lexical: a class of words settles the row, a third or more of whose words no training row "
        "has. Relational: two clauses stand against each other, and one counts. Compositional: a "
        f"word reverses another, as a negation does. `a [b, c]`: {markdown.INTERVAL}.",
    ]
