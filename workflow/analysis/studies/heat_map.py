"""Line by task: the share of the gain from pre-training that is lost, predicted cells framed.

As in the table, `?` means that the interval does not decide whether half or more is lost.
"""

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from workflow.analysis.figures import style
from workflow.analysis.studies.knockout import shares
from workflow.study_plan import StudyPlan

INSET = 0.06  # of the frame in its cell
FRAME: dict[str, Any] = {"fill": False, "edgecolor": style.VERMILLION, "linewidth": 2.5}
COLOURS, LOWEST = "Blues", -20.0  # so light that text reads best in black up to DARK, then white
DARK = 66.0


def draw(table: pd.DataFrame, study: StudyPlan) -> Figure:
    """The matrix of a study with a prediction, from the frame of its table."""
    figure = Figure(figsize=(13, 1.9 + 0.7 * len(study.lines)), layout="constrained")
    ax = figure.add_subplot()
    if "lost" not in table or table["lost"].isna().all():
        style.note_missing(ax)
        return figure
    rows = table.assign(shown=shares(table))
    lost, texts = (
        rows.pivot(index="line", columns="task", values=name).loc[study.lines, study.tasks]
        for name in ("lost", "shown")
    )
    titles = [study.shown(name) for name in study.tasks]
    matrix(ax, 100 * lost, texts, [textwrap.fill(line, 26) for line in study.lines], titles)
    ax.tick_params(axis="x", labelrotation=30)
    for i, line in enumerate(study.lines):
        for j, task in enumerate(study.tasks):
            if task in study.predicted[line]:
                ax.add_patch(Rectangle((j + INSET, i + INSET), *2 * [1 - 2 * INSET], **FRAME))
    ax.invert_yaxis()
    ax.set_title(
        f"{study.title}: share of the gain by pre-training that is lost, %\n"
        "framed: half or more was predicted; ?: the interval holds half",
        fontsize=12,
    )
    return figure


def matrix(
    ax: Axes, values: pd.DataFrame, texts: pd.DataFrame, rows: Sequence[str], columns: Sequence[str]
) -> None:
    """Draw `values` from 0 to 100, without colour if NaN, each with its text."""
    numbers = values.to_numpy(dtype=float)
    ax.pcolormesh(numbers, cmap=COLOURS, vmin=LOWEST, vmax=100, edgecolors="white", linewidth=1.5)
    for (i, j), value in np.ndenumerate(numbers):
        ink = style.GREY if np.isnan(value) else "white" if value > DARK else "black"
        where = (j + 0.5, i + 0.5)
        ax.text(*where, texts.iat[i, j], color=ink, ha="center", va="center", fontsize=11.5)
    ax.set_xticks(np.arange(len(columns)) + 0.5, columns)
    ax.set_yticks(np.arange(len(rows)) + 0.5, rows)
    ax.grid(visible=False)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
