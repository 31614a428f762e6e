"""The ablation as paired differences: each variant minus the full transformer, task by task.

Points are differences that are paired by row and seed, bars their 95 % interval. Hollow marks are
the paper's differences, where its Table 5 prints both scores and the task's rows are real.
"""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import tasks
from workflow.analysis.figures import style
from workflow.analysis.figures.ablation import LOOKS, printed_of_real
from workflow.analysis.tables.ablation import CONTROL, EIGHT, PAPER_VARIANTS
from workflow.grid import Grid

FULL = PAPER_VARIANTS[0][0]
WIDEST = 110.0  # points: an interval of two seeds may be much longer than any difference
APART = 0.16  # of ours and the paper's mark, in lines


def draw(table: pd.DataFrame, grid: Grid) -> Figure:
    """A panel per variant, a line per task; the means over the tasks stand on top."""
    table = printed_of_real(table, grid)
    eight = [task for task in EIGHT if task in grid.tasks]
    others = [task for task in grid.tasks if task not in EIGHT]
    means = (["avg"] if len(eight) == len(EIGHT) else []) + ["avg_all"]
    names = [*means, *eight, *others]
    gaps = [len(means), len(means) + len(eight)]  # after the means and after the paper's tasks
    places = {name: -i - 0.5 * sum(i >= gap for gap in gaps) for i, name in enumerate(names)}
    variants = [name for name in LOOKS if name != FULL and (name != CONTROL or grid.shuffled)]

    figure = Figure(figsize=(14, 0.8 + 0.4 * max(6, len(names))), layout="constrained")
    axes = figure.subplots(1, len(variants), sharey=True, sharex=True, squeeze=False)[0]
    full = table[table["variant"] == FULL].set_index("task")["paper"]
    for ax, variant in zip(axes, variants, strict=True):
        rows = table[table["variant"] == variant].set_index("task").reindex(names)
        _panel(ax, rows, rows["paper"] - full.reindex(names), places, variant)
    axes[0].set_yticks(list(places.values()), [_label(name, grid) for name in names])
    low, high = axes[0].get_xlim()
    axes[0].set_xlim(max(low, -WIDEST), min(high, WIDEST))
    figure.supxlabel("points more or less than the full transformer", fontsize=13)
    mark: dict[str, Any] = {"color": style.GREY, "marker": "o", "linestyle": ""}
    handles = [Line2D([], [], label=f"this run, {style.mean_over(grid.seeds.finetune)}", **mark)]
    if table["paper"].notna().any():
        handles.append(
            Line2D([], [], label="the paper (GLUE test server)", **mark, **style.PRINTED)
        )
    figure.legend(handles=handles, loc="outside upper center", ncols=2)
    return figure


def _panel(
    ax: Axes, rows: pd.DataFrame, paper: pd.Series, places: dict[str, float], variant: str
) -> None:
    colour, marker = LOOKS[variant]
    run = rows.dropna(subset="diff")
    y = [places[name] for name in run.index]
    known = run["diff_low"].notna()
    ax.plot(run["diff"], y, linestyle="", color=colour, marker=marker, markersize=7)
    ax.hlines(
        [places[name] for name in run.index[known]],
        run.loc[known, "diff_low"],
        run.loc[known, "diff_high"],
        color=colour,
        linewidth=1.8,
    )
    printed = paper.dropna()
    below = [places[name] - APART for name in printed.index]
    ax.plot(printed, below, linestyle="", color=colour, marker=marker, **style.PRINTED)
    if run.empty:
        ax.text(0.5, 0.5, "not run", transform=ax.transAxes, ha="center", color=style.GREY)
    ax.axvline(0, color=style.BLACK, linewidth=1)
    ax.grid(visible=False, axis="y")
    ax.tick_params(axis="y", length=0)
    ax.set_title(variant.replace(", ", ",\n").replace(" w/", "\nw/"), fontsize=12)


def _label(name: str, grid: Grid) -> str:
    if name in ("avg", "avg_all"):
        return f"mean of {len(EIGHT) if name == 'avg' else len(grid.tasks)} tasks"
    return tasks.task(name).title
