"""The figure of a study: curves over the values of its axis, or dots where it has none.

A panel for the mean and for each task; bars are 95 % intervals. The values stand at even distances,
for they are chosen by the study. What stands beside the axis is a line across the panel. Along
pre-training the zero-shot scores of the same checkpoints are a second curve.
"""

import itertools
import math
from typing import Any, Literal

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import tasks
from workflow.analysis import markdown
from workflow.analysis.figures import style
from workflow.study_plan import StudyPlan

Dashes = Literal["-", "--", ":", "-.", ""]
LOOKS = [  # of the lines in their order
    (style.BLUE, "o"),
    (style.VERMILLION, "s"),
    (style.ORANGE, "D"),
    (style.GREEN, "^"),
    (style.PURPLE, "X"),
    (style.SKY, "v"),
    (style.BLACK, "P"),
    (style.GREY, "<"),
]
BESIDE: list[tuple[str, Dashes]] = [(style.BLACK, "--"), (style.GREY, ":"), (style.PURPLE, "-.")]
ZERO_SHOT: dict[str, Any] = {
    **{"color": style.GREEN, "marker": "^", "linestyle": "--"},
    "label": "zero-shot, by the paper's heuristic",
}
COLUMNS = 3
CROWDED = 7  # values of an axis whose names stand beside each other
SPREAD = 0.08  # distance of two lines at a value


def draw(table: pd.DataFrame, study: StudyPlan) -> Figure:
    """The panels of a study, from the frame of its table."""
    names = [*(["mean"] if len(study.tasks) > 1 else []), *study.tasks]
    columns = min(COLUMNS, len(names))
    rows = math.ceil(len(names) / columns)
    figure = Figure(figsize=(max(9.0, 4.6 * columns), 3.6 * rows + 1), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax, name in zip(axes, names, strict=False):
        _panel(ax, table[table["task"] == name], study)
        ax.set_title(_title(name, len(study.tasks)))
    for ax in axes[len(names) :]:
        ax.set_axis_off()
    figure.supylabel("score (0 to 100)", fontsize=13)
    if study.axis:
        figure.supxlabel(study.axis, fontsize=13)
    handles, ncols = _handles(study, has_zero_shot(table)), min(3, columns + 1)
    figure.legend(handles=handles, loc="outside upper center", ncols=ncols, title=study.title)
    return figure


def has_zero_shot(table: pd.DataFrame) -> bool:
    """Whether there are zero-shot scores to draw."""
    return "zero_shot" in table and bool(table["zero_shot"].notna().any())


def _title(name: str, n_tasks: int) -> str:
    if name == "mean":
        return f"mean of {n_tasks} tasks"
    return f"{tasks.task(name).title} ({markdown.METRICS[tasks.task(name).metric]})"


def _panel(ax: Axes, rows: pd.DataFrame, study: StudyPlan) -> None:
    if rows["mean"].isna().all():
        style.note_missing(ax)
        return
    for i, line in enumerate(study.references):
        colour, dashes = BESIDE[i % len(BESIDE)]
        of_line = rows[rows["line"] == line]
        for row in of_line.dropna(subset="mean").itertuples():
            ax.axhline(row.mean, color=colour, linestyle=dashes)
            if pd.notna(row.ci_low):
                ax.axhspan(row.ci_low, row.ci_high, color=colour, alpha=0.08, linewidth=0)
    for name, look in style.BASELINES.items():
        for value in rows[name].dropna().unique()[:1]:
            ax.axhline(value, linewidth=1, **look)
    values = list(dict.fromkeys(point.value for point in study.points if point.value))
    for i, line in enumerate(study.lines):
        of_line = rows[rows["line"] == line]
        if study.axis:
            places = [values.index(value) for value in of_line["value"]]
            x = [place + (i - (len(study.lines) - 1) / 2) * SPREAD for place in places]
        else:
            x = [float(i)]
        _curve(ax, x, of_line, i, joined=bool(study.axis))
    if has_zero_shot(rows):  # of the checkpoint, so of all lines
        of_line = rows[rows["line"] == study.lines[0]]
        ax.plot(
            [values.index(value) for value in of_line["value"]], of_line["zero_shot"], **ZERO_SHOT
        )
    ticks = values if study.axis else study.lines
    ax.set_xticks(range(len(ticks)), ticks)
    if not study.axis or len(ticks) > CROWDED:
        ax.tick_params(axis="x", labelrotation=30)
    ax.set_xlim(-0.5, len(ticks) - 0.5)
    style.limit_to_scores(ax)


def _curve(ax: Axes, x: list[float], rows: pd.DataFrame, i: int, joined: bool) -> None:
    """One line's points, each with its interval where seeds allow one."""
    colour, marker = LOOKS[i % len(LOOKS)]
    ax.plot(x, rows["mean"], color=colour, marker=marker, linestyle="-" if joined else "")
    known = rows["ci_low"].notna()
    bars: dict[str, Any] = {"ecolor": colour, "elinewidth": 1.5, "capsize": 3, "fmt": "none"}
    places = [place for place, is_known in zip(x, known, strict=True) if is_known]
    sides = [(rows["mean"] - rows["ci_low"])[known], (rows["ci_high"] - rows["mean"])[known]]
    ax.errorbar(places, rows["mean"][known], sides, **bars)


def _handles(study: StudyPlan, zero_shot: bool) -> list[Line2D]:
    """Of the lines, unless the ticks name them, of what stands beside, and of the baselines."""
    lines = [
        Line2D([], [], color=colour, marker=marker, label=line)
        for line, (colour, marker) in zip(study.lines, LOOKS * len(study.lines), strict=False)
    ]
    references = [
        Line2D([], [], color=colour, linestyle=dashes, label=line)
        for line, (colour, dashes) in zip(study.references, itertools.cycle(BESIDE), strict=False)
    ]
    baselines = [
        Line2D([], [], label=markdown.BASELINES[name], **look)
        for name, look in style.BASELINES.items()
    ]
    second = [Line2D([], [], **ZERO_SHOT)] if zero_shot else []
    return [*(lines if study.axis else []), *second, *references, *baselines]
