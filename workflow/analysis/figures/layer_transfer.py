"""The score against the number of layers transferred, of every task: Figure 2 left, at length.

Above, large: MNLI and RACE, which the paper shows (or what there is instead), and the mean of all
tasks. Below, small: the others. `none` (nothing transferred) stands apart from 0 (the embeddings
alone). The model is the one with the most layers; the heat map has the LSTM too.
"""

import math
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import tasks
from workflow.analysis import markdown
from workflow.analysis.figures import style
from workflow.analysis.paper import FULL, LSTM, NO_AUX, Variant
from workflow.grid import Grid

LARGE = ["mnli", "race"]
CURVES = {FULL: 0.2, NO_AUX: -0.2, LSTM: 0.0}  # moved so much at `none`, so that none hides one
TRAIN: style.Look = {"linestyle": "--", "linewidth": 1.5, "marker": ""}


def draw(table: pd.DataFrame, grid: Grid) -> Figure:
    """A panel per task; on dev, as in the paper, where dev is reported (RACE reports test too)."""
    first = large_first(grid)
    large, small = [*first[:2], "mean"], first[2:]
    columns = 5 if len(small) > 8 else max(1, min(4, len(small)))
    rows = math.ceil(len(small) / columns)
    figure = Figure(figsize=(12, 4.4 + 2.5 * rows), layout="constrained")
    heights = [3.7, 2.5 * rows] if small else [3.7]
    top, *below = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
    for ax, name in zip(top.subplots(1, len(large)), large, strict=True):
        _panel(ax, name, table, grid, ticks=7)
        ax.set_xlabel("layers transferred")
    for part in below:
        for ax, name in zip(style.panels(part, rows, columns, len(small)), small, strict=True):
            _panel(ax, name, table, grid, ticks=3)
        part.supxlabel("layers transferred", fontsize=13)
    shown = {of.title.removesuffix(" (full)"): of for of in CURVES if _is_swept(of.arch, grid)}
    looks = [
        _look(of, grid) | {"label": label} for label, of in shown.items() if of.aux in grid.aux
    ]
    if FULL in shown.values() and "on" in grid.aux:
        looks.insert(1, style.VARIANTS[FULL.title] | TRAIN | {"label": "the same, training rows"})
    style.legend(figure, looks, title=f"marks: {style.mean_over(len(grid.seeds.finetune))}")
    return figure


def large_first(grid: Grid) -> list[str]:
    """The tasks, those of the paper's figure first."""
    return sorted(grid.tasks, key=lambda name: LARGE.index(name) if name in LARGE else len(LARGE))


def sweep(ax: Axes, rows: pd.DataFrame, aside: float = 0.0, **look: Any) -> None:
    """A curve over the layers, dashed of training rows; `none` stands apart, left of 0."""
    for is_none, part in rows.groupby(rows["layers"] < 0):
        x = part["layers"].where(part["layers"] >= 0, _none(ax) * (1 + aside))
        if (part["split"] == "train").all():
            lone: style.Look = {"marker": "_", "markersize": 10} if is_none else {}
            ax.plot(x, part["mean"], **look | TRAIN | lone)
        else:
            style.curve(ax, x, part[style.SCORE], **look)


def layers_axis(ax: Axes, table: pd.DataFrame, grid: Grid, ticks: int) -> pd.DataFrame:
    """The axis of the layers, from `none` on.

    Returns the rows of the model that has them, with `layers` as numbers, -1 for `none`.
    """
    rows = table[table["arch"].map(lambda arch: _is_swept(arch, grid))]
    rows = rows.assign(layers=rows["n_transfer"].replace("none", -1).astype(float))
    layers = sorted({int(n) for n in rows["layers"] if n >= 0})
    most = max(layers, default=1) or 1
    ax.set_xlim(-0.6 * most, 1.04 * most)
    shown = layers[:: -math.ceil(len(layers) / ticks) or -1]
    ax.set_xticks([_none(ax), *shown], ["none", *map(str, shown)])
    ax.axvline(0.4 * _none(ax), color=style.GREY, linewidth=0.8, linestyle=":")
    return rows.sort_values("layers")


def dev(rows: pd.DataFrame) -> str:
    """The split that is drawn: the first of dev, or what is reported instead."""
    splits = [split for split in rows["split"].unique() if split != "train"]
    return next((split for split in splits if split.startswith("dev")), splits[0])


def _none(ax: Axes) -> float:
    """Where `none` stands."""
    return ax.get_xlim()[0] * 2 / 3


def _is_swept(arch: str, grid: Grid) -> bool:
    return arch == max(grid.arch, key=lambda name: grid.n_layer[name])


def _look(of: Variant, grid: Grid) -> style.Look:
    """How a curve looks; of fewer layers than the others its points are not joined."""
    of_arch = (grid.sweep(of.arch, aux) for aux in grid.aux)
    is_whole = len(grid.sweep(of.arch, of.aux)) == max(map(len, of_arch))
    return style.VARIANTS[of.title] | {"linestyle": "-" if is_whole else ""}


def _panel(ax: Axes, name: str, table: pd.DataFrame, grid: Grid, ticks: int) -> None:
    rows = layers_axis(ax, table[table["task"] == name], grid, ticks)
    split = dev(rows)
    for of, aside in CURVES.items():
        mine = rows[(rows["arch"] == of.arch) & (rows["aux"] == of.aux)]
        look = _look(of, grid)
        sweep(ax, mine[mine["split"] == split], aside, **look)
        if of == FULL:
            sweep(ax, mine[mine["split"] == "train"], aside, **look)
    style.limit_to_scores(ax)
    title = style.title(name, grid)
    ax.set_title(title if name == "mean" else f"{title} ({split.replace('_', ' ')})")
    ax.set_ylabel("score" if name == "mean" else markdown.METRICS[tasks.task(name).metric])
