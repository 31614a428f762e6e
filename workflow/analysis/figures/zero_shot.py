"""Figure 2 right: zero-shot scores along pre-training; solid transformer, dashed LSTM.

Lines are means over the pre-training seeds, bands reach from the lowest seed to the highest.
"""

import pandas as pd
from matplotlib.figure import Figure

import tasks
from workflow.analysis import markdown
from workflow.analysis.figures import style
from workflow.grid import Grid


def draw(table: pd.DataFrame, grid: Grid) -> Figure:
    """Left every task, right their mean; 0 is a random guess and 1 the state of the art."""
    names = grid.zero_shot.tasks
    figure = Figure(figsize=(13, 6), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1.5, 1], sharey=True)
    for ax, shown in ((left, names), (right, ["mean"])):
        for task in shown:
            for arch in grid.arch:
                rows = table[(table["arch"] == arch) & (table["task"] == task)]
                look = style.MODELS[arch] | style.TASKS[task]
                style.along_updates(ax, rows["update"], rows[style.RELATIVE], **look)
        style.updates_axis(ax, grid.updates)
        ax.axhline(0, color=style.GREY, linewidth=1)
        zero = "; 0 = untrained" if 0 in grid.updates else ""
        ax.set_xlabel(f"pre-training updates (log{zero})")
    left.set_ylabel("relative score (0 = random, 1 = state of the art)")
    left.set_title("each task")
    right.set_title(f"mean of the {len(names)} tasks")
    looks = [
        style.TASKS[task.name] | {"label": f"{task.title} ({markdown.METRICS[task.metric]})"}
        for task in map(tasks.task, names)
    ]
    looks += [style.MODELS[arch] | {"color": style.BLACK, "marker": ""} for arch in grid.arch]
    style.legend(figure, looks)
    return figure
