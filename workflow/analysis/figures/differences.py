"""The ablation as paired differences: each variant minus the full transformer, task by task.

Points are differences paired by row and seed, bars their 95 % intervals. Hollow marks are the
paper's differences, shown where its Table 5 prints both scores and the task's rows are real.
"""

import math
from textwrap import fill

import pandas as pd
from matplotlib.figure import Figure

from workflow.analysis.figures import scales, style
from workflow.analysis.figures.ablation import columns, printed_of_real
from workflow.analysis.paper import FULL
from workflow.grid import Grid

ACROSS = 6  # the most panels side by side: in narrower ones titles and ticks would run together


def draw(table: pd.DataFrame, grid: Grid) -> Figure:
    """A panel per variant, a line per task; the means over tasks come first."""
    table = printed_of_real(table, grid).rename(columns={"variant": "line"})
    at = pd.Series(columns(grid))
    looks = style.looks(table["line"].unique())
    del looks[FULL.title]
    n_rows = math.ceil(len(looks) / ACROSS)
    height = 1.2 + n_rows * (0.4 * max(6, len(at)) + 1.2 * (n_rows > 1))
    figure = Figure(figsize=(12, height), layout="constrained")
    axes = style.panels(
        figure, n_rows, math.ceil(len(looks) / n_rows), len(looks), sharey=True, sharex=True
    )
    wide = {n: r.set_index("task").reindex(at.index) for n, r in table.groupby("line")}
    for ax, (variant, look) in zip(axes, looks.items(), strict=True):
        paper = wide[variant]["paper"] - wide[FULL.title]["paper"]
        style.dots(ax, at, wide[variant][style.DIFFERENCE], paper, **look)
        lines = variant.replace(", ", ",\n").replace(" w/", "\nw/").splitlines()
        title = "\n".join(fill(line, 16, break_on_hyphens=False) for line in lines)
        ax.set_title(title, fontsize=12)
    axes[0].set_yticks(at, [grid.shown(name) for name in at.index])
    scales.limit_to_differences(axes[0].xaxis)
    figure.supxlabel("points more or less than the full transformer", fontsize=13)
    style.legend_of_dots(figure, grid, has_paper=table["paper"].notna().any())
    return figure
