"""Line by task: the share of the gain by pre-training that is lost, predicted cells framed.

As in the table, `?` stands where the interval does not decide whether it is half or more.
"""

import textwrap
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

import tasks
from workflow.analysis.figures import style
from workflow.study_plan import StudyPlan

COLOURS = "Blues"
LIGHT, DARK = 0.02, 0.98  # places on that scale, of the text on dark and on light cells
INSET = 0.06  # of the frame in its cell
UNDECIDED = "?"
UNSURE: dict[str, Any] = {"markersize": 9, "color": style.BLACK, "linestyle": ""}


def draw(table: pd.DataFrame, study: StudyPlan) -> Figure:
    """The matrix of a study with a prediction, from the frame of its table."""
    figure = Figure(figsize=(13, 1.9 + 0.7 * len(study.lines)), layout="constrained")
    ax = figure.add_subplot()
    rows = table[table["line"].isin(study.lines) & table["task"].isin(study.tasks)]
    if "lost" not in rows or rows["lost"].isna().all():
        style.note_missing(ax)
        return figure
    lost, decided = (
        rows.pivot(index="line", columns="task", values=name).reindex(
            index=study.lines, columns=study.tasks
        )
        for name in ("lost", "decided")
    )
    _cells(ax, lost.to_numpy(dtype=float), (decided == "yes").to_numpy())
    for i, line in enumerate(study.lines):
        for j, task in enumerate(study.tasks):
            if task in study.predicted[line]:
                _frame(ax, i, j)
    names = [textwrap.fill(line, 26) for line in study.lines]
    ax.set_yticks(np.arange(len(study.lines)) + 0.5, names)
    ax.set_xticks(
        np.arange(len(study.tasks)) + 0.5, [tasks.task(name).title for name in study.tasks]
    )
    ax.tick_params(length=0, axis="both")
    ax.tick_params(axis="x", labelrotation=30)
    ax.invert_yaxis()
    ax.set_title(f"{study.title}: share of the gain by pre-training that is lost, %")
    look: dict[str, Any] = {"marker": "s", "markersize": 14, "markerfacecolor": "none"}
    look |= {"markeredgecolor": style.VERMILLION, "markeredgewidth": 2.5, "linestyle": ""}
    mark = Line2D([], [], label="predicted: half or more", **look)
    unsure = Line2D([], [], label="undecided: the interval holds half", marker="$?$", **UNSURE)
    figure.legend(handles=[mark, unsure], loc="outside lower right", ncols=2)
    return figure


def _cells(ax: Axes, lost: np.ndarray, decided: np.ndarray) -> None:
    """Colours and numbers of the shares [lines, tasks]; a dash where there was no gain."""
    colours = matplotlib.colormaps[COLOURS]
    shown = 100 * lost
    ax.pcolormesh(shown, cmap=colours, vmin=0, vmax=100, edgecolors="white", linewidth=1.5)
    for (i, j), share in np.ndenumerate(shown):
        known = not np.isnan(share)
        colour = colours(LIGHT if share > 55 else DARK) if known else style.GREY
        place: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 11.5}
        text = f"{round(share)}{'' if decided[i, j] else UNDECIDED}" if known else "–"
        ax.text(j + 0.5, i + 0.5, text, color=colour, **place)
    ax.grid(visible=False)
    for spine in ax.spines.values():
        spine.set_visible(False)


def _frame(ax: Axes, i: int, j: int) -> None:
    size = 1 - 2 * INSET
    look: dict[str, Any] = {"fill": False, "edgecolor": style.VERMILLION, "linewidth": 2.5}
    ax.add_patch(Rectangle((j + INSET, i + INSET), size, size, **look))
