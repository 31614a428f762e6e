"""Table 5 and Figure 2, left: the two studies of the paper, as the run has them."""

from gpt1.cell import Cell
from workflow.analysis.paper import EIGHT
from workflow.grid import Grid
from workflow.study_plan import StudyPlan


def ablation(grid: Grid) -> StudyPlan:
    """The lines of Table 5, on its eight tasks and then on the others of the run."""
    study = grid.studies["ablation"]
    tasks = list(dict.fromkeys([*EIGHT, *study.tasks]))
    points = [
        point.model_copy(update={"cells": [Cell(point.of.name, task) for task in tasks]})
        for point in study.points
    ]
    return study.model_copy(update={"tasks": tasks, "points": points})


def layer_transfer(grid: Grid) -> StudyPlan:
    """Each architecture with and without the auxiliary loss along the layers transferred."""
    return grid.studies["layer_transfer"]
