"""The score against the number of layers transferred, for every task: Figure 2 left, in full.

The architecture is the one with the most layers; the table has the LSTM too. Scores are on dev,
as in the paper, where dev is reported (RACE reports test too). The first line also has its scores
on the training rows.
"""

import pandas as pd
from matplotlib.figure import Figure

from workflow.analysis.figures import lines
from workflow.grid import Grid, StudyPlan

LARGE = ["mnli", "race"]


def draw(table: pd.DataFrame, grid: Grid) -> Figure:
    """A panel for the mean and for each task, those of the paper's figure first."""
    study = swept(grid)
    return lines.curves(table[table["line"].isin(study.lines)], study)


def swept(grid: Grid) -> StudyPlan:
    """The study with only the architecture of most layers; the paper's tasks come first."""
    study = grid.studies["layer_transfer"]
    arch = max(grid.arch, key=lambda name: grid.n_layer[name])
    points = [point for point in study.points if point.of.arch == arch]
    names = [task for task in LARGE if task in study.tasks]
    own = {
        "points": points,
        "tasks": list(dict.fromkeys([*names, *study.tasks])),
    }
    return study.model_copy(update=own)
