"""Figure 2 right: zero-shot scores along pre-training; solid transformer, dashed LSTM.

Lines are means over the pre-training seeds, bands reach from the lowest seed to the highest.
"""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

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
        style.updates_axis(ax, grid.updates)
        drawn = [_curve(ax, table, arch, task) for task in shown for arch in grid.arch]
        if not any(drawn):
            style.note_missing(ax)
        ax.axhline(0, color=style.GREY, linewidth=1)
        zero = "; 0 = untrained" if 0 in grid.updates else ""
        ax.set_xlabel(f"pre-training updates (log{zero})")
    left.set_ylabel("relative score (0 = random, 1 = state of the art)")
    left.set_title("each task")
    right.set_title(f"mean of the {len(names)} tasks")
    handles = []
    for task in names:
        (colour, marker), metric = style.TASKS[task], markdown.METRICS[tasks.task(task).metric]
        title = f"{tasks.task(task).title} ({metric})"
        handles.append(Line2D([], [], color=colour, marker=marker, label=title))
    for arch in grid.arch:
        look = style.ARCHS[arch] | {"color": "black", "marker": ""}
        handles.append(Line2D([], [], **look))
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure


def _curve(ax: Axes, table: pd.DataFrame, arch: str, task: str) -> bool:
    """One curve with its band, the untrained model apart from it; False if nothing was run."""
    rows = table[(table["arch"] == arch) & (table["task"] == task)]
    colour, marker = style.TASKS[task]
    look = style.ARCHS[arch] | {"color": colour, "marker": marker}
    for part in (rows[rows["update"] > 0], rows[rows["update"] == 0]):
        ax.plot(part["update"], part["relative"], linewidth=3 if task == "mean" else 2, **look)
        style.draw_range(ax, part["update"], part["relative_low"], part["relative_high"], colour)
    return bool(rows["relative"].notna().any())
