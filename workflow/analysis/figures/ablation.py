"""Table 5 as a picture: the variants on every task, with 95 % intervals and both baselines.

Hollow marks are the scores that the paper prints, where the task's rows are real.
"""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import tasks
from workflow.analysis import markdown
from workflow.analysis.figures import style
from workflow.analysis.statistics import official_sets
from workflow.analysis.tables.ablation import CONTROL, EIGHT, PAPER_VARIANTS
from workflow.grid import Grid

LOOKS = {
    name: style.VARIANTS[arch, aux, pretrained] for name, arch, aux, pretrained in PAPER_VARIANTS
} | {CONTROL: (style.PURPLE, "X")}
SPREAD = 0.15  # distance of two variants within a group


def printed_of_real(table: pd.DataFrame, grid: Grid) -> pd.DataFrame:
    """The table with the paper's scores beside real rows alone; its mean is of eight such tasks."""
    made = {*grid.synthetic, *({"avg"} if {*EIGHT} & {*grid.synthetic} else ())}
    return table.assign(paper=table["paper"].mask(table["task"].isin(made)))


def draw(table: pd.DataFrame, grid: Grid) -> Figure:
    """Averages left, then the paper's eight tasks, then the others that were run."""
    table = printed_of_real(table, grid)
    others = [task for task in grid.tasks if task not in EIGHT]
    eight = [task for task in EIGHT if task in grid.tasks]
    averages = (["avg"] if len(eight) == len(EIGHT) else []) + ["avg_all"]
    groups = [*averages, *eight, *others]
    gaps = [len(averages), len(averages) + len(eight)]
    places = [i + 0.5 * sum(i >= gap for gap in gaps) for i in range(len(groups))]

    figure = Figure(figsize=(14, 6), layout="constrained")
    ax = figure.add_subplot()
    for place, task in zip(places, groups, strict=True):
        _group(ax, place, table[table["task"] == task])
    for gap in gaps:
        if gap < len(places):
            ax.axvline(places[gap] - 0.75, color=style.GREY, linewidth=0.8)
    style.limit_to_scores(ax)
    ax.grid(visible=False, axis="x")
    labels = [_label(task, table, len(grid.tasks)) for task in groups]
    ax.set_xticks(places, labels, fontsize=12)
    ax.set_xlim(places[0] - 0.6, places[-1] + 0.6)
    ax.tick_params(axis="x", length=0)
    ax.set_ylabel(f"score (0 to 100), {style.mean_over(grid.seeds.finetune)}")
    handles = [
        Line2D([], [], color=colour, marker=marker, linestyle="", label=name)
        for name, (colour, marker) in LOOKS.items()
        if name != CONTROL or grid.shuffled
    ]
    handles += [
        Line2D([], [], label=markdown.BASELINES[name], **look)
        for name, look in style.BASELINES.items()
    ]
    if table["paper"].notna().any():
        hollow = {"color": style.GREY, "marker": "o", "linestyle": "", **style.PRINTED}
        handles.append(Line2D([], [], label="hollow: the paper (GLUE test server)", **hollow))
    figure.legend(handles=handles, loc="outside upper center", ncols=3)
    return figure


def _group(ax: Axes, place: float, rows: pd.DataFrame) -> None:
    """One task: a dot with its interval per variant, a stroke per baseline."""
    for column, look in style.BASELINES.items():
        ax.hlines(rows[column].dropna()[:1], place - 0.4, place + 0.4, **look)
    for i, (name, (colour, marker)) in enumerate(LOOKS.items()):
        x, row = place + (i - 2) * SPREAD, rows[rows["variant"] == name].dropna(subset="mean")
        if len(row):
            half = row["ci_high"] - row["mean"] if row["ci_high"].notna().all() else None
            bars: dict[str, Any] = {"capsize": 3, "elinewidth": 1.5, "markersize": 8}
            ax.errorbar([x], row["mean"], half, fmt=marker, color=colour, **bars)
        printed = rows.loc[rows["variant"] == name, "paper"].dropna()
        hollow = {"color": colour, "marker": marker, "linestyle": "", **style.PRINTED}
        ax.plot([x] * len(printed), printed, **hollow)


def _label(task: str, table: pd.DataFrame, n_tasks: int) -> str:
    if task in ("avg", "avg_all"):
        return f"mean of\n{len(EIGHT) if task == 'avg' else n_tasks} tasks"
    row = table[table["task"] == task].iloc[0]
    metric = markdown.METRICS[row["metric"]]
    return f"{tasks.task(task).title}\n{metric}\n{official_sets(row['split'])}"
