"""Where the time of a run goes: by stage, inside and outside the training loops; and by task."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import tasks
from workflow.analysis.figures import style
from workflow.grid import Grid

LOOKS = {"transformer": style.BLUE, "lstm": style.GREEN}


def draw(table: pd.DataFrame, grid: Grid) -> Figure:
    """Left the stages; right the tasks' fine-tuning, one bar for each architecture."""
    figure = Figure(figsize=(13, 5), layout="constrained")
    left, right = figure.subplots(1, 2)
    _stages(left, table)
    _tasks(right, table, grid)
    return figure


def _stages(ax: Axes, table: pd.DataFrame) -> None:
    sums = table.groupby("stage", sort=False)[["train_seconds", "job_seconds"]].sum()
    if sums.empty:
        style.note_missing(ax)
        return
    inside = sums["train_seconds"] / 60
    outside = (sums["job_seconds"] / 60 - inside).clip(lower=0)
    places = range(len(sums))[::-1]
    ax.barh(places, inside, color=style.BLUE, label="in training loops")
    ax.barh(places, outside, left=inside, color=style.GREY, label="the rest of the jobs")
    ax.set_yticks(places, sums.index)
    ax.grid(visible=False, axis="y")
    ax.set_xlabel("minutes")
    ax.legend()


def _tasks(ax: Axes, table: pd.DataFrame, grid: Grid) -> None:
    cells = table[table["stage"] == "fine-tuning"]
    minutes = cells.groupby(["arch", "task"])["train_seconds"].sum() / 60
    if minutes.empty:
        style.note_missing(ax)
        return
    height = 0.8 / len(grid.arch)
    for i, arch in enumerate(grid.arch):
        values = [minutes.get((arch, task), 0.0) for task in grid.tasks]
        places = [len(grid.tasks) - 1 - k - i * height for k in range(len(grid.tasks))]
        label = style.ARCHS[arch]["label"]
        ax.barh(places, values, height=height, color=LOOKS[arch], label=label)
    centre = height * (len(grid.arch) - 1) / 2
    ticks = [len(grid.tasks) - 1 - k - centre for k in range(len(grid.tasks))]
    ax.set_yticks(ticks, [tasks.task(name).title for name in grid.tasks])
    ax.grid(visible=False, axis="y")
    ax.set_xlabel("minutes of fine-tuning, all cells and seeds")
    ax.legend()
