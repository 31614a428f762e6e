"""Figure 2 left: the score against the number of layers transferred, reported split and training.

Above, large: MNLI and RACE, which the paper shows (or what there is instead), and the mean of all
tasks. Below, small: the others. `none` (nothing transferred) stands apart from 0 (the embeddings
alone).
"""

import math

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import tasks
from workflow.analysis import markdown
from workflow.analysis.figures import style
from workflow.analysis.paper import FULL, LSTM, NO_AUX
from workflow.grid import Grid

LARGE = ["mnli", "race"]
CURVES = {FULL: 0.2, NO_AUX: 0.0, LSTM: -0.2}  # moved so much at `none`, so that none hides one
TRAIN: style.Look = {"color": style.BLUE, "linestyle": "--", "linewidth": 1.5}


def draw(table: pd.DataFrame, grid: Grid) -> Figure:
    """A panel per task; on dev, as in the paper, where dev is reported (RACE reports test too)."""
    first = sorted(grid.tasks, key=lambda name: LARGE.index(name) if name in LARGE else len(LARGE))
    large, small = [*first[:2], "mean"], first[2:]
    columns = 5 if len(small) > 8 else max(1, min(4, len(small)))
    rows = math.ceil(len(small) / columns)
    figure = Figure(figsize=(15, 5.2 + 2.9 * rows), layout="constrained")
    heights = [4.2, 2.9 * rows] if small else [4.2]
    top, *below = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
    for ax, name in zip(top.subplots(1, len(large)), large, strict=True):
        _panel(ax, name, table, grid, large=True)
        ax.set_xlabel("layers transferred")
    for part in below:
        for ax, name in zip(style.panels(part, rows, columns, len(small)), small, strict=True):
            _panel(ax, name, table, grid, large=False)
        part.supxlabel("layers transferred", fontsize=13)
    shown = {of.title.removesuffix(" (full)"): of for of in CURVES}
    looks = [
        style.VARIANTS[of.title] | {"linestyle": "-", "label": label}
        for label, of in shown.items()
        if of.arch in grid.arch and of.aux in grid.aux
    ]
    if "transformer" in grid.arch and "on" in grid.aux:
        looks.insert(1, TRAIN | {"label": "Transformer w/ aux LM, training rows"})
    style.legend(figure, looks, title=f"points: {style.mean_over(grid.seeds.finetune)}")
    return figure


def _panel(ax: Axes, name: str, table: pd.DataFrame, grid: Grid, large: bool) -> None:
    rows = table[table["task"] == name]
    swept = table[table["arch"] == max(grid.arch, key=lambda arch: grid.n_layer[arch])]
    layers = sorted({int(n) for n in swept["n_transfer"] if n != "none"})
    none = -max(layers, default=1) * (0.15 if large else 0.25)  # where `none` stands
    splits = [split for split in rows["split"].unique() if split != "train"]
    split = next((split for split in splits if split.startswith("dev")), splits[0])
    for of, aside in CURVES.items():
        mine = rows[(rows["arch"] == of.arch) & (rows["aux"] == of.aux)]
        x = mine["n_transfer"].replace("none", none * (1 + aside)).astype(float)
        for _, part in mine[mine["split"] == split].groupby(x < 0):
            look = style.VARIANTS[of.title] | {"linestyle": "-"}
            style.curve(ax, x[part.index], part[style.SCORE], **look)
        if of == FULL:
            for is_none, part in mine[mine["split"] == "train"].groupby(x < 0):
                lone: style.Look = {"marker": "_", "markersize": 10} if is_none else {}
                ax.plot(x[part.index], part["mean"], **TRAIN, **lone)
    shown = layers[:: -math.ceil(len(layers) / (7 if large else 4)) or -1]
    ax.set_xticks([none, *shown], ["none", *map(str, shown)])
    ax.axvline(none * 0.4, color=style.GREY, linewidth=0.8, linestyle=":")
    ax.set_xlim(none * 1.5, max(layers, default=1) * 1.04)
    style.limit_to_scores(ax)
    if name == "mean":
        ax.set_title(style.title(name, grid))
        ax.set_ylabel("score")
    else:
        ax.set_title(f"{style.title(name, grid)} ({split.replace('_', ' ')})")
        ax.set_ylabel(markdown.METRICS[tasks.task(name).metric])
