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
from workflow.analysis.figures.ablation import LOOKS
from workflow.analysis.paper import EIGHT, FULL, NO_AUX
from workflow.grid import Grid

GAP = 0.06  # of the axis, between the names of two tasks


def draw(table: pd.DataFrame, grid: Grid) -> Figure:
    """A point per task: the full transformer minus the one without the auxiliary loss."""
    real = [name for name in EIGHT if not grid.is_synthetic(name)]
    figure = Figure(figsize=(13, 5.2), layout="constrained")
    left, *right = figure.subplots(1, 2 if real else 1, squeeze=False)[0]
    by_variant = {name: rows.set_index("task") for name, rows in table.groupby("variant")}
    without = by_variant[NO_AUX.title].reindex(grid.tasks)
    gains = pd.DataFrame({"rows": without["train_rows"], "gain": -without["diff"]})
    gains = gains.assign(low=-without["diff_high"], high=-without["diff_low"])
    _panel(left, gains.dropna(subset=["rows", "gain"]), **LOOKS[NO_AUX.title])
    left.set_xlabel(f"training rows of this run (log; {style.mean_over(grid.seeds.finetune)})")
    left.set_ylabel("gain by the auxiliary loss, in points")
    printed = (by_variant[FULL.title]["paper"] - by_variant[NO_AUX.title]["paper"]).reindex(real)
    sizes = [tasks.task(name).rows["train"] for name in real]
    published = pd.DataFrame({"rows": sizes, "gain": printed, "low": np.nan, "high": np.nan})
    for ax in right:
        _panel(ax, published, **style.PRINTED | LOOKS[NO_AUX.title])
        ax.set_xlabel("training rows of the published sets (log; the paper's scores)")
    return figure


def _panel(ax: Axes, gains: pd.DataFrame, **look: Any) -> None:
    """One panel: the tasks' names in a row on top, so that none hides another."""
    ax.axhline(0, color=style.BLACK, linewidth=1)
    if gains.empty:
        style.note_missing(ax)
        return
    gains = gains.sort_values("rows", kind="stable")
    ax.vlines(gains["rows"], gains["low"], gains["high"], color=look["color"])
    ax.plot(gains["rows"], gains["gain"], **look)
    ax.set_xscale("log")
    low, high = gains["rows"].min(), gains["rows"].max()
    ax.set_xlim(low / 1.15, high * 1.15)
    style.log_ticks(ax.xaxis, low, high)
    style.limit_to_scores(ax)
    tops = gains["high"].fillna(gains["gain"]).clip(upper=ax.get_ylim()[1])
    shares = _apart(np.log(gains["rows"] * 1.15 / low) / np.log(1.15**2 * high / low))
    stroke = {"arrowstyle": "-", "color": style.GREY, "linewidth": 0.7, "relpos": (0.5, 0)}
    for name, x, y, share in zip(gains.index, gains["rows"], tops, shares, strict=True):
        ax.annotate(
            tasks.task(str(name)).title,
            (x, y),
            xytext=(share, 1.08),
            textcoords="axes fraction",
            arrowprops=stroke | {"shrinkB": 4},
            rotation=90,
            ha="center",
            va="bottom",
            fontsize=11,
        )


def _apart(shares: pd.Series) -> np.ndarray:
    """Rising places on an axis, moved as little to either side as makes neighbours GAP apart."""
    steps = GAP * np.arange(len(shares))
    loose = shares.to_numpy() - steps
    right = np.maximum.accumulate(loose)
    left = np.minimum.accumulate(loose[::-1])[::-1]
    return np.clip((left + right) / 2, 0, 1 - steps[-1]) + steps
