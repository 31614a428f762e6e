"""The ablation as paired differences: each variant minus the full transformer, task by task.

Points are differences that are paired by row and seed, bars their 95 % interval. Hollow marks are
the paper's differences, where its Table 5 prints both scores and the task's rows are real.
"""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workflow.analysis.figures import style
from workflow.analysis.figures.ablation import LOOKS, places, printed_of_real
from workflow.analysis.paper import FULL, SHUFFLED
from workflow.grid import Grid

WIDEST = 110.0  # points: an interval of two seeds may be much longer than any difference
APART = 0.16  # of ours and the paper's mark, in lines


def draw(table: pd.DataFrame, grid: Grid) -> Figure:
    """A panel per variant, a line per task; the means over the tasks stand on top."""
    table = printed_of_real(table, grid)
    at = pd.Series(places(grid))
    left_out = {FULL.title} if grid.shuffled else {FULL.title, SHUFFLED.title}
    variants = [name for name in LOOKS if name not in left_out]
    figure = Figure(figsize=(14, 0.8 + 0.4 * max(6, len(at))), layout="constrained")
    axes = figure.subplots(1, len(variants), sharey=True, sharex=True, squeeze=False)[0]
    full = table[table["variant"] == FULL.title].set_index("task")["paper"].reindex(at.index)
    for ax, variant in zip(axes, variants, strict=True):
        rows = table[table["variant"] == variant].set_index("task").reindex(at.index)
        _panel(ax, rows, rows["paper"] - full, at, variant)
    axes[0].set_yticks(at, [style.title(name, grid) for name in at.index])
    axes[0].set_ylim(at.max() + 0.6, -0.6)
    low, high = axes[0].get_xlim()
    axes[0].set_xlim(max(low, -WIDEST), min(high, WIDEST))
    figure.supxlabel("points more or less than the full transformer", fontsize=13)
    ours = {"color": style.GREY, "marker": "o", "linestyle": ""}
    looks = [ours | {"label": f"this run, {style.mean_over(grid.seeds.finetune)}"}]
    if table["paper"].notna().any():
        looks.append(style.PRINTED | {"label": "the paper (GLUE test server)"})
    style.legend(figure, looks, ncols=2)
    return figure


def _panel(ax: Axes, rows: pd.DataFrame, paper: pd.Series, at: pd.Series, variant: str) -> None:
    look = LOOKS[variant]
    ax.plot(rows["diff"], at, markersize=7, **look)
    ax.hlines(at, rows["diff_low"], rows["diff_high"], color=look["color"], linewidth=1.8)
    ax.plot(paper, at + APART, **style.PRINTED | look)
    if rows["diff"].isna().all():
        style.note_missing(ax)
    ax.axvline(0, color=style.BLACK, linewidth=1)
    ax.grid(visible=False, axis="y")
    ax.tick_params(axis="y", length=0)
    ax.set_title(variant.replace(", ", ",\n").replace(" w/", "\nw/"), fontsize=12)
