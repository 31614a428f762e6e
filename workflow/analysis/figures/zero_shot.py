"""Figure 2 right: zero-shot scores along pre-training; solid transformer, dashed LSTM.

Lines are means over the pre-training seeds, bands reach from the lowest seed to the highest.
"""

import pandas as pd
from matplotlib.axes import Axes
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
    metrics = {name: markdown.METRICS[tasks.task(name).metric] for name in names}
    looks = [
        style.TASKS[name] | {"label": f"{tasks.task(name).title} ({metric})"}
        for name, metric in metrics.items()
    ]
    looks += [style.ARCHS[arch] | {"color": style.BLACK, "marker": ""} for arch in grid.arch]
    style.legend(figure, looks)
    return figure


def _curve(ax: Axes, table: pd.DataFrame, arch: str, task: str) -> bool:
    """One curve with its band, the untrained model apart from it; False if nothing was run."""
    rows = table[(table["arch"] == arch) & (table["task"] == task)]
    look = style.ARCHS[arch] | style.TASKS[task]
    for part in (rows[rows["update"] > 0], rows[rows["update"] == 0]):
        ax.plot(part["update"], part["relative"], linewidth=3 if task == "mean" else 2, **look)
        low, high = part["relative_low"], part["relative_high"]
        style.draw_range(ax, part["update"], low, high, look["color"])
    return bool(rows["relative"].notna().any())
