"""Table 5 as a picture: the variants on every task, with 95 % intervals and both baselines.

Hollow marks are the scores that the paper prints, where the task's rows are real.
"""

from itertools import pairwise
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workflow.analysis import markdown
from workflow.analysis.figures import style
from workflow.analysis.paper import EIGHT, PAPER_VARIANTS, SHUFFLED
from workflow.analysis.stats.samples import official_sets
from workflow.grid import Grid

LOOKS: dict[str, dict[str, Any]] = {
    of.title: {"linestyle": "", **style.VARIANTS[of.arch, of.aux, of.n_transfer == "all"]}
    for of in PAPER_VARIANTS
} | {SHUFFLED.title: {"linestyle": "", "color": style.PURPLE, "marker": "X"}}
SPREAD = 0.15  # distance of two variants within a group


def printed_of_real(table: pd.DataFrame, grid: Grid) -> pd.DataFrame:
    """The table with the paper's scores beside real rows alone; its mean is of eight such tasks."""
    made = {*grid.synthetic, *({"avg"} if {*EIGHT} & {*grid.synthetic} else ())}
    return table.assign(paper=table["paper"].mask(table["task"].isin(made)))


def places(grid: Grid) -> dict[str, float]:
    """Where each column stands: the means, the paper's eight tasks and the others, set apart."""
    eight = [task for task in EIGHT if task in grid.tasks]
    means = [*(["avg"] if len(eight) == len(EIGHT) else []), "avg_all"]
    others = [task for task in grid.tasks if task not in EIGHT]
    found: dict[str, float] = {}
    for names in filter(None, (means, eight, others)):
        start = max(found.values()) + 1.5 if found else 0.0
        found |= {name: start + i for i, name in enumerate(names)}
    return found


def draw(table: pd.DataFrame, grid: Grid) -> Figure:
    """Averages left, then the paper's eight tasks, then the others that were run."""
    table, at = printed_of_real(table, grid), places(grid)
    figure = Figure(figsize=(14, 6), layout="constrained")
    ax = figure.add_subplot()
    for task, place in at.items():
        _group(ax, place, table[table["task"] == task])
    for before, place in pairwise(at.values()):
        if place - before > 1:
            ax.axvline(place - 0.75, color=style.GREY, linewidth=0.8)
    style.limit_to_scores(ax)
    ax.grid(visible=False, axis="x")
    ax.set_xticks([*at.values()], [_label(task, table, grid) for task in at], fontsize=12)
    ax.set_xlim(-0.6, max(at.values()) + 0.6)
    ax.tick_params(axis="x", length=0)
    ax.set_ylabel(f"score (0 to 100), {style.mean_over(grid.seeds.finetune)}")
    names = [name for name in LOOKS if name != SHUFFLED.title or grid.shuffled]
    looks = [LOOKS[name] | {"label": name} for name in names]
    looks += [look | {"label": markdown.BASELINES[name]} for name, look in style.BASELINES.items()]
    if table["paper"].notna().any():
        looks.append(style.PRINTED | {"label": "hollow: the paper (GLUE test server)"})
    style.legend(figure, looks, ncols=3)
    return figure


def _group(ax: Axes, place: float, rows: pd.DataFrame) -> None:
    """One task: a dot with its interval per variant, a stroke per baseline."""
    for column, look in style.BASELINES.items():
        ax.hlines(rows[column].dropna()[:1], place - 0.4, place + 0.4, **look)
    for i, (name, look) in enumerate(LOOKS.items()):
        row = rows[rows["variant"] == name]
        x = [place + (i - 2) * SPREAD] * len(row)
        ax.plot(x, row["paper"], **style.PRINTED | look)
        style.with_intervals(ax, x, row, markersize=8, **look)


def _label(task: str, table: pd.DataFrame, grid: Grid) -> str:
    title = style.title(task, grid)
    if task in ("avg", "avg_all"):
        return title.replace("of ", "of\n")
    row = table[table["task"] == task].iloc[0]
    return f"{title}\n{markdown.METRICS[row['metric']]}\n{official_sets(row['split'])}"
