"""Figure 2 right: zero-shot scores along pre-training; solid transformer, dashed LSTM."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import tasks
from workflow.analysis import output
from workflow.analysis.figures import style

COLOURS = {
    "sst2": (style.BLUE, "o"),
    "dprd": (style.VERMILLION, "s"),
    "cola": (style.GREEN, "^"),
    "race": (style.ORANGE, "D"),
    "mean": (style.BLACK, "o"),
}
DASHES = {"transformer": "-", "lstm": (0, (3, 1.5))}
ARCHS = {"transformer": "Transformer", "lstm": "LSTM"}


def draw(table: pd.DataFrame, settings: dict[str, Any]) -> Figure:
    """Left every task, right their mean; 0 is a random guess and 1 the state of the art."""
    names = settings["zero_shot"]["tasks"]
    figure = Figure(figsize=(13, 6), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1.5, 1], sharey=True)
    for ax, shown in ((left, names), (right, ["mean"])):
        place = style.updates_axis(ax, settings["updates"])
        drawn = [
            _curve(ax, table, arch, task, place) for task in shown for arch in settings["arch"]
        ]
        if not any(drawn):
            style.say_missing(ax)
        ax.axhline(0, color=style.GREY, linewidth=1)
        zero = "; 0 = untrained" if 0 in settings["updates"] else ""
        ax.set_xlabel(f"pre-training updates (log{zero})")
    left.set_ylabel("relative score (0 = random, 1 = state of the art)")
    left.set_title("each task")
    right.set_title(f"mean of the {len(names)} tasks")
    handles = []
    for task in names:
        colour, marker = COLOURS[task]
        title = f"{tasks.task(task).title} ({output.METRICS[tasks.task(task).metric]})"
        handles.append(Line2D([], [], color=colour, marker=marker, label=title))
    for arch in settings["arch"]:
        handles.append(Line2D([], [], color="black", linestyle=DASHES[arch], label=ARCHS[arch]))
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure


def _curve(ax: Axes, table: pd.DataFrame, arch: str, task: str, place: Any) -> bool:
    rows = table[(table["arch"] == arch) & (table["task"] == task)]
    colour, marker = COLOURS[task]
    face = colour if arch == "transformer" else "white"
    width = 3 if task == "mean" else 2
    look = {"color": colour, "marker": marker, "markerfacecolor": face, "linewidth": width}
    trained = rows[rows["update"] > 0]
    ax.plot(trained["update"], trained["relative"], linestyle=DASHES[arch], **look)
    untrained = rows[rows["update"] == 0]
    ax.plot([place(0)] * len(untrained), untrained["relative"], **look)
    return bool(rows["relative"].notna().any())
