"""The figure of a study as differences: each task's, paired by row and seed, with its interval.

A panel for each value of the axis, a line for each task below the mean, zero in the middle.
"""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import tasks
from workflow.analysis.figures import style
from workflow.analysis.figures.differences import WIDEST
from workflow.analysis.studies.figure import LOOKS
from workflow.analysis.studies.table import compared_with, reference
from workflow.study_plan import StudyPlan

SPREAD = 0.18  # distance of two lines at a task


def draw(table: pd.DataFrame, study: StudyPlan) -> Figure:
    """The panels of a study, from the frame of its table."""
    compared = [p for p in study.points if reference(study, p) != (p.line, p.value)]
    names = [*(["mean"] if len(study.tasks) > 1 else []), *study.tasks]
    values = list(dict.fromkeys(point.value for point in compared))
    lines = list(dict.fromkeys(point.line for point in compared))
    size = (max(9.0, 4.6 * len(values)), 1.8 + 0.4 * len(names))
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(1, len(values), sharey=True, sharex=True, squeeze=False)[0]
    for ax, value in zip(axes, values, strict=True):
        rows = table[table["value"] == value]
        for i, line in enumerate(lines):
            apart = (i - (len(lines) - 1) / 2) * SPREAD
            of_line = rows[rows["line"] == line].set_index("task").reindex(names)
            _draw_line(ax, of_line, LOOKS[i % len(LOOKS)], apart)
        ax.axvline(0, color=style.BLACK, linewidth=1)
        ax.set_title(f"{study.axis} {value}" if value else "")
        ax.grid(visible=False, axis="y")
        ax.tick_params(axis="y", length=0)
    axes[0].set_yticks([-i for i in range(len(names))], [_title(name, study) for name in names])
    axes[0].set_ylim(0.5 - len(names), 0.5)
    low, high = axes[0].get_xlim()
    axes[0].set_xlim(max(low, -WIDEST), min(high, WIDEST))
    figure.supxlabel(f"points more or less than {compared_with(study)}", fontsize=13)
    handles = [
        Line2D([], [], color=colour, marker=marker, linestyle="", label=line)
        for line, (colour, marker) in zip(lines, LOOKS * len(lines), strict=False)
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3, title=study.title)
    return figure


def _draw_line(ax: Axes, rows: pd.DataFrame, look: tuple[str, str], apart: float) -> None:
    """One line's differences from the top down; one that was not run is left out."""
    colour, marker = look
    places = pd.Series([-float(i) - apart for i in range(len(rows))], index=rows.index)
    run, known = rows["diff"].notna(), rows["diff_low"].notna()
    if not run.any():
        ax.text(0.5, 0.5, "not run", transform=ax.transAxes, ha="center", color=style.GREY)
    ax.plot(rows["diff"][run], places[run], linestyle="", color=colour, marker=marker)
    low, high = rows["diff_low"][known], rows["diff_high"][known]
    ax.hlines(places[known], low, high, color=colour, linewidth=1.8)


def _title(name: str, study: StudyPlan) -> str:
    return f"mean of {len(study.tasks)} tasks" if name == "mean" else tasks.task(name).title
