"""What the auxiliary loss adds, against the size of the training set.

The paper finds that larger sets gain from it and smaller ones do not (section 5). Left this run's
gains with their 95 % intervals; right, where rows are real, the gains of the paper's Table 5, which
has no intervals, at the published sizes.
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

GAP = 0.06  # of the axis, between the names of two tasks


def draw(table: pd.DataFrame, grid: Grid) -> Figure:
    """A point per task: the full transformer minus the one without the auxiliary loss."""
    real = [name for name in EIGHT if not grid.is_synthetic(name)]
    figure = Figure(figsize=(13, 5.2), layout="constrained")
    left, *right = figure.subplots(1, 2 if real else 1, squeeze=False)[0]
    without = table[table["variant"] == NO_AUX.title].set_index("task").reindex(grid.tasks)
    gains = -without[["diff", "diff_high", "diff_low"]]
    _panel(left, without["train_rows"], gains)
    left.set_xlabel(f"training rows of this run (log; {style.mean_over(grid.seeds.finetune)})")
    left.set_ylabel("gain by the auxiliary loss, in points")
    sizes = pd.Series({name: tasks.task(name).rows["train"] for name in real})
    gain = {name: FULL.printed(name) - NO_AUX.printed(name) for name in real}
    printed = pd.DataFrame({"gain": gain, "low": np.nan, "high": np.nan})
    for ax in right:
        _panel(ax, sizes, printed, **style.PRINTED)
        ax.set_xlabel("training rows of the published sets (log; the paper's scores)")
    return figure


def _panel(ax: Axes, sizes: pd.Series, gains: pd.DataFrame, **look: Any) -> None:
    """The gains by size; the tasks' names stand in a row on top, so that none hides another."""
    gain, _, top = gains.columns
    sizes = sizes[gains[gain].notna()].dropna().sort_values(kind="stable")
    gains = gains.loc[sizes.index]
    ax.axhline(0, color=style.BLACK, linewidth=1)
    style.points(ax, sizes, gains, **look | style.VARIANTS[NO_AUX.title], linestyle="")
    if sizes.empty:
        return
    style.log_axis(ax.xaxis)
    style.limit_to_scores(ax)
    tops = gains[top].fillna(gains[gain]).clip(upper=ax.get_ylim()[1])
    low, high = np.log(ax.get_xlim())
    shares = _apart((np.log(sizes.to_numpy()) - low) / (high - low))
    stroke = {"arrowstyle": "-", "color": style.GREY, "linewidth": 0.7, "relpos": (0.5, 0)}
    for name, share in zip(sizes.index, shares, strict=True):
        ax.annotate(
            tasks.task(name).title,
            (sizes[name], tops[name]),
            xytext=(share, 1.08),
            textcoords="axes fraction",
            arrowprops=stroke | {"shrinkB": 4},
            rotation=90,
            ha="center",
            va="bottom",
            fontsize=11,
        )


def _apart(shares: np.ndarray) -> np.ndarray:
    """Rising places on an axis, moved as little to either side as makes neighbours GAP apart."""
    steps = GAP * np.arange(len(shares))
    loose = shares - steps
    right = np.maximum.accumulate(loose)
    left = np.minimum.accumulate(loose[::-1])[::-1]
    return np.clip((left + right) / 2, 0, 1 - GAP * (len(shares) - 1)) + steps
