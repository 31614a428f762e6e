"""Task by layers: the score of every task for every number of transferred layers, in colour.

The columns are those of Figure 2, left: `none` transfers nothing, 0 the embeddings alone.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import tasks
from workflow.analysis import markdown
from workflow.analysis.figures import style
from workflow.grid import Grid

COLOURS, LOWEST = "Blues", -20.0  # so light that black can be read best up to DARK, then white
DARK = 66.0
TITLES = {"transformer": "Transformer w/ aux LM", "lstm": "LSTM w/ aux LM"}


def draw(table: pd.DataFrame, grid: Grid) -> Figure:
    """A panel per architecture, with the auxiliary loss; a line per task, the mean at the end."""
    names = [*grid.tasks, "mean"]
    rows = table[(table["aux"] == "on") & (table["split"] != "train")]
    rows = rows.drop_duplicates(["arch", "n_transfer", "task"])  # the main split comes first
    figure = Figure(figsize=(12, 0.9 + 0.42 * len(names)), layout="constrained")
    wide = {
        arch: _scores(of_arch, names)
        for arch in grid.arch
        if len(of_arch := rows[rows["arch"] == arch])
    }
    if not wide:
        style.note_missing(figure.add_subplot())
        return figure
    widths = [scores.shape[1] for scores in wide.values()]
    axes = figure.subplots(1, len(wide), width_ratios=widths, sharey=True, squeeze=False)[0]
    for ax, (arch, scores) in zip(axes, wide.items(), strict=True):
        cells(ax, scores.to_numpy(), scores.map(markdown.value).to_numpy().tolist())
        ax.axhline(len(scores) - 1, color=style.BLACK, linewidth=1)
        ax.set_xticks(np.arange(scores.shape[1]) + 0.5, list(scores.columns))
        ax.set_title(TITLES[arch])
    axes[0].set_yticks(np.arange(len(names)) + 0.5, [_label(name, rows, grid) for name in names])
    axes[0].invert_yaxis()
    figure.supxlabel("layers transferred", fontsize=13)
    return figure


def _scores(rows: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Mean scores, tasks down and layers across; NaN where nothing was run."""
    wide = rows.pivot(index="task", columns="n_transfer", values="mean")
    order = sorted(wide.columns, key=lambda n: -1 if n == "none" else int(n))
    return wide.reindex(index=names, columns=order)


def cells(ax: Axes, values: np.ndarray, texts: Sequence[Sequence[str]]) -> None:
    """Values from 0 to 100 [lines, columns] in colour, NaN without any, each with its text."""
    ax.pcolormesh(values, cmap=COLOURS, vmin=LOWEST, vmax=100, edgecolors="white", linewidth=1.5)
    for (i, j), value in np.ndenumerate(values):
        ink = style.GREY if np.isnan(value) else "white" if value > DARK else "black"
        where = (j + 0.5, i + 0.5)
        ax.text(*where, texts[i][j], color=ink, ha="center", va="center", fontsize=11.5)
    ax.grid(visible=False)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def _label(name: str, rows: pd.DataFrame, grid: Grid) -> str:
    if name == "mean":
        return style.title(name, grid)
    metric = markdown.METRICS[tasks.task(name).metric]
    split = rows.loc[rows["task"] == name, "split"].iloc[0].replace("_", " ")
    return f"{tasks.task(name).title} ({metric}, {split})"
