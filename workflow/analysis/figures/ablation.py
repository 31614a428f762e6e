"""Table 5 as a picture: the variants on every task, with 95 % intervals and both baselines.

Hollow marks are the scores that the paper prints, where the task's rows are real.
"""

from itertools import pairwise

import pandas as pd
from matplotlib.figure import Figure

from workflow.analysis import markdown
from workflow.analysis.figures import style
from workflow.analysis.paper import EIGHT
from workflow.analysis.stats.samples import official_sets
from workflow.grid import Grid

WIDTH = 0.8  # of a group of variants
GAP = 0.5  # between the means, the paper's eight tasks and the others


def printed_of_real(table: pd.DataFrame, grid: Grid) -> pd.DataFrame:
    """The table with the paper's scores beside real rows alone; its mean is of eight such tasks."""
    made = {*grid.synthetic, *({"avg"} if {*EIGHT} & {*grid.synthetic} else ())}
    return table.assign(paper=table["paper"].mask(table["task"].isin(made)))


def places(grid: Grid) -> dict[str, float]:
    """Where each column stands: the means, the paper's eight tasks and the others, set apart."""
    eight = [task for task in EIGHT if task in grid.tasks]
    means = ["avg", "avg_all"] if len(eight) == len(EIGHT) else ["avg_all"]
    found: dict[str, float] = {}
    for i, group in enumerate([means, eight, [t for t in grid.tasks if t not in EIGHT]]):
        found |= {name: len(found) + j + i * GAP for j, name in enumerate(group)}
    return found


def shown(table: pd.DataFrame) -> dict[str, style.Look]:
    """How the variants look that are drawn: the paper's, and the controls that were run."""
    there = {*table["variant"]}
    return {name: look for name, look in style.VARIANTS.items() if name in there}


def draw(table: pd.DataFrame, grid: Grid) -> Figure:
    """Averages left, then the paper's eight tasks, then the others that were run."""
    table, at = printed_of_real(table, grid), pd.Series(places(grid))
    figure = Figure(figsize=(12, 6), layout="constrained")
    ax = figure.add_subplot()
    baselines = table.groupby("task").first().reindex(at.index)
    for column, look in style.BASELINES.items():
        ax.hlines(baselines[column], at - 0.4, at + 0.4, **look)
    looks = shown(table)
    for i, (name, look) in enumerate(looks.items()):
        rows = table[table["variant"] == name].set_index("task").reindex(at.index)
        x = at + WIDTH * ((i + 0.5) / len(looks) - 0.5)
        ax.plot(x, rows["paper"], **style.PRINTED | look, linestyle="")
        style.points(ax, x, rows[style.SCORE], **look, **style.MARKS)
    for before, place in pairwise(at):
        if place - before > 1:
            ax.axvline(place - (1 + GAP) / 2, color=style.GREY, linewidth=0.8)
    style.limit_to_scores(ax)
    ax.grid(visible=False, axis="x")
    ax.set_xticks(at, [_label(name, table, grid) for name in at.index], fontsize=12)
    ax.set_xlim(-0.6, at.max() + 0.6)
    ax.tick_params(axis="x", length=0)
    ax.set_ylabel(f"score (0 to 100), {style.mean_over(len(grid.seeds.finetune))}")
    handles = [look | style.MARKS | {"label": name} for name, look in looks.items()]
    handles += style.baselines()
    if table["paper"].notna().any():
        handles.append(
            style.PRINTED | {"linestyle": "", "label": "hollow: the paper (GLUE test server)"}
        )
    style.legend(figure, handles, ncols=3)
    return figure


def _label(task: str, table: pd.DataFrame, grid: Grid) -> str:
    title = style.title(task, grid)
    if task in ("avg", "avg_all"):
        return title.replace("of ", "of\n")
    title = title.replace(" ", "\n")
    row = table[table["task"] == task].iloc[0]
    metric = "" if row["metric"] == "accuracy" else f"{markdown.METRICS[row['metric']]}\n"
    return f"{title}\n{metric}{official_sets(row['split'])}"
