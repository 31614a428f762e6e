"""Line by task: the share of the gain from pre-training that is lost, predicted cells framed.

As in the table, `?` means that the interval does not decide whether half or more is lost.
"""

import textwrap
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from workflow.analysis.figures import matrix, style
from workflow.analysis.studies.knockout import shares
from workflow.grid import StudyPlan

INSET = 0.06  # of the frame in its cell
FRAME: dict[str, Any] = {"fill": False, "edgecolor": style.VERMILLION, "linewidth": 2.5}


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
    matrix.draw(ax, 100 * lost, texts, [textwrap.fill(line, 26) for line in study.lines], titles)
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
