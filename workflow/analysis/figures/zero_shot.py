"""Figure 2 right, at length: zero-shot scores along pre-training, each task and their mean."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import tasks
from workflow.analysis.figures import scales, style
from workflow.grid import Grid


def draw(table: pd.DataFrame, grid: Grid) -> Figure:
    """Left every task, right their mean; 0 is a random guess and 1 the state of the art."""
    names = grid.zero_shot.tasks
    figure = Figure(figsize=(12, 5.5), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1.5, 1], sharey=True)
    left.set_title("each task")
    right.set_title(f"mean of the {len(names)} tasks")
    curves(right, table, ["mean"], grid)
    style.label_ends(left, curves(left, table, names, grid))
    left.set_ylabel("relative score (0 = random, 1 = best)")
    style.legend(figure, models(grid))
    return figure


def models(grid: Grid) -> list[style.Look]:
    """How the strokes of the models look in a legend."""
    return [style.MODELS[arch] | {"color": style.BLACK, "marker": ""} for arch in grid.arch]


def curves(ax: Axes, table: pd.DataFrame, names: Sequence[str], grid: Grid) -> list[style.CurveEnd]:
    """Each task's curves, solid of the transformer and dashed of the LSTM. Returns the first's."""
    ends = []
    for task in names:
        for arch in grid.arch:
            rows = table[(table["arch"] == arch) & (table["task"] == task)]
            look = style.MODELS[arch] | style.TASKS[task]
            style.along_updates(ax, rows["update"], rows[style.RELATIVE], **look)
            if arch == grid.arch[0]:
                title = task if task == "mean" else tasks.task(task).title
                ends.append((title, rows["update"], rows["relative"], look))
    scales.updates_axis(ax, grid.updates)
    ax.axhline(0, color=style.GREY, linewidth=1)
    zero = "; 0 = untrained" if 0 in grid.updates else ""
    ax.set_xlabel(f"pre-training updates (log{zero})")
    return ends
