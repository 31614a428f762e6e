"""The ablation as paired differences: each variant minus the full transformer, task by task.

Points are differences that are paired by row and seed, bars their 95 % interval. Hollow marks are
the paper's differences, where its Table 5 prints both scores and the task's rows are real.
"""

import pandas as pd
from matplotlib.figure import Figure

from workflow.analysis.figures import style
from workflow.analysis.figures.ablation import places, printed_of_real
from workflow.analysis.paper import FULL, variants
from workflow.grid import Grid

APART = 0.16  # of ours and the paper's mark, in lines


def draw(table: pd.DataFrame, grid: Grid) -> Figure:
    """A panel per variant, a line per task; the means over the tasks stand on top."""
    table, at = printed_of_real(table, grid), pd.Series(places(grid))
    titles = [of.title for of in variants(grid) if of.title in style.VARIANTS and of != FULL]
    looks = {title: style.VARIANTS[title] for title in titles}
    figure = Figure(figsize=(14, 0.8 + 0.4 * max(6, len(at))), layout="constrained")
    axes = figure.subplots(1, len(looks), sharey=True, sharex=True, squeeze=False)[0]
    wide = {n: r.set_index("task").reindex(at.index) for n, r in table.groupby("variant")}
    for ax, (variant, look) in zip(axes, looks.items(), strict=True):
        rows, paper = wide[variant], wide[variant]["paper"] - wide[FULL.title]["paper"]
        ax.plot(rows["diff"], at, **look, linestyle="", markersize=7)
        ax.hlines(at, rows["diff_low"], rows["diff_high"], color=look["color"], linewidth=1.8)
        ax.plot(paper, at + APART, **style.PRINTED | look, linestyle="")
        if rows["diff"].isna().all():
            style.note_missing(ax)
        ax.axvline(0, color=style.BLACK, linewidth=1)
        ax.grid(visible=False, axis="y")
        ax.tick_params(axis="y", length=0)
        ax.set_title(variant.replace(", ", ",\n").replace(" w/", "\nw/"), fontsize=12)
    axes[0].set_yticks(at, [style.title(name, grid) for name in at.index])
    axes[0].set_ylim(at.max() + 0.6, -0.6)
    style.limit_to_differences(axes[0].xaxis)
    figure.supxlabel("points more or less than the full transformer", fontsize=13)
    ours = {"color": style.GREY, "marker": "o"}
    handles = [ours | {"label": f"this run, {style.mean_over(grid.seeds.finetune)}"}]
    if table["paper"].notna().any():
        handles.append(style.PRINTED | {"label": "the paper (GLUE test server)"})
    style.legend(figure, [handle | {"linestyle": ""} for handle in handles])
    return figure
