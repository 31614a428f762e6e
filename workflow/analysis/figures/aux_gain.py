"""What the auxiliary loss adds, from the smallest training set to the largest.

The paper finds that larger sets gain from it and smaller ones do not (section 5). Left this run's
gains with their 95 % intervals; right, where rows are real, the gains of the paper's Table 5, which
has no intervals, by the published sizes.
"""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import tasks
from workflow.analysis.figures import style
from workflow.analysis.paper import EIGHT, FULL, NO_AUX
from workflow.grid import Grid


def draw(table: pd.DataFrame, grid: Grid) -> Figure:
    """A line per task: the full transformer minus the one without the auxiliary loss."""
    real = [name for name in EIGHT if not grid.is_synthetic(name)]
    figure = Figure(figsize=(13, 1 + 0.4 * max(6, len(grid.tasks))), layout="constrained")
    left, *right = figure.subplots(1, 2 if real else 1, squeeze=False)[0]
    without = table[table["variant"] == NO_AUX.title].set_index("task").reindex(grid.tasks)
    _panel(left, without["train_rows"], -without[["diff", "diff_high", "diff_low"]])
    left.set_title(f"this run, {style.mean_over(grid.seeds.finetune)}")
    for ax in right:
        sizes = pd.Series({name: tasks.task(name).rows["train"] for name in real})
        scores = table.pivot(index="task", columns="variant", values="paper").reindex(real)
        gain = scores[FULL.title] - scores[NO_AUX.title]
        printed = pd.DataFrame({"gain": gain, "low": np.nan, "high": np.nan})
        _panel(ax, sizes, printed, **style.PRINTED)
        ax.set_title("the paper's scores and training sets")
    figure.supxlabel("gain by the auxiliary loss, in points", fontsize=13)
    figure.supylabel("tasks (training rows)", fontsize=13)
    return figure


def _panel(ax: Axes, sizes: pd.Series, gains: pd.DataFrame, **look: Any) -> None:
    """The gains, a line each, with the smallest training set on top."""
    gain, low, high = gains.columns
    gains = gains.assign(rows=sizes).dropna(subset=[gain, "rows"]).sort_values("rows")
    look |= style.VARIANTS[NO_AUX.title]
    at = range(len(gains))
    ax.axvline(0, color=style.BLACK, linewidth=1)
    ax.plot(gains[gain], at, **look, linestyle="")
    ax.hlines(at, gains[low], gains[high], color=look["color"], linewidth=1.8)
    titles = (tasks.task(name).title for name in gains.index)
    ax.set_yticks(at, [f"{t} ({n:,.0f})" for t, n in zip(titles, gains["rows"], strict=True)])
    ax.invert_yaxis()
    ax.grid(visible=False, axis="y")
    ax.tick_params(axis="y", length=0)
    style.limit_to_differences(ax.xaxis)
