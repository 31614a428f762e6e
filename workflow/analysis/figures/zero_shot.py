"""Figure 2 right: zero-shot scores along pre-training; solid transformer, dashed LSTM."""

from collections.abc import Callable

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
        place = style.updates_axis(ax, grid.updates)
        drawn = [
            _curve(ax, table, arch, task, place) for task in shown for arch in grid.arch
        ]
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
        look, metric = style.TASKS[task], markdown.METRICS[tasks.task(task).metric]
        title = f"{tasks.task(task).title} ({metric})"
        handles.append(Line2D([], [], color=look.colour, marker=look.marker, label=title))
    for arch in grid.arch:
        model = style.ARCHS[arch]
        handles.append(Line2D([], [], color="black", linestyle=model.dashes, label=model.label))
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure


def _curve(
    ax: Axes, table: pd.DataFrame, arch: str, task: str, place: Callable[[float], float]
) -> bool:
    """One curve, the untrained model left of it; False if nothing was run."""
    rows = table[(table["arch"] == arch) & (table["task"] == task)]
    look, model = style.TASKS[task], style.ARCHS[arch]
    line = {"color": look.colour, "marker": look.marker, "linewidth": 3 if task == "mean" else 2}
    line["markerfacecolor"] = "white" if model.hollow else look.colour
    trained, untrained = rows[rows["update"] > 0], rows[rows["update"] == 0]
    ax.plot(trained["update"], trained["relative"], linestyle=model.dashes, **line)
    ax.plot([place(0)] * len(untrained), untrained["relative"], **line)
    return bool(rows["relative"].notna().any())
