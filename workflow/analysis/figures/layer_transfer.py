"""Figure 2 left: the score against the number of layers transferred, reported split and training.

Above, large: MNLI and RACE, which the paper shows (or what there is instead), and the mean of all
tasks. Below, small: the others. `none` (nothing transferred) stands apart from 0 (the embeddings
alone).
"""

import math
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import tasks
from workflow.analysis import markdown
from workflow.analysis.figures import style
from workflow.grid import Grid

LARGE = ["mnli", "race"]

LINES = [  # arch, aux, training rows?, label, place among those at `none`, so that none hides one
    ("transformer", "on", False, "Transformer w/ aux LM", 1),
    ("transformer", "on", True, "Transformer w/ aux LM, training rows", 1),
    ("transformer", "off", False, "Transformer w/o aux LM", 0),
    ("lstm", "on", False, "LSTM w/ aux LM", -1),
]


def draw(table: pd.DataFrame, grid: Grid) -> Figure:
    """A panel per task; on dev, as in the paper, where dev is reported (RACE reports test too)."""
    first = sorted(grid.tasks, key=lambda name: LARGE.index(name) if name in LARGE else len(LARGE))
    large, small = [*first[:2], "mean"], first[2:]
    columns = 5 if len(small) > 8 else max(1, min(4, len(small)))
    rows = math.ceil(len(small) / columns)
    heights = [4.2, *([2.9 * rows] if rows else [])]
    figure = Figure(figsize=(15, 5.2 + 2.9 * rows), layout="constrained")
    top, *below = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
    for ax, name in zip(top.subplots(1, len(large), squeeze=False)[0], large, strict=True):
        _panel(ax, name, table, grid, large=True)
    for part in below:
        axes = style.panels(part, rows, columns, len(small))
        for ax, name in zip(axes, small, strict=True):
            _panel(ax, name, table, grid, large=False)
        part.supxlabel("layers transferred", fontsize=13)
    looks = [
        _look(arch, aux, train) | {"label": label}
        for arch, aux, train, label, _ in LINES
        if arch in grid.arch and aux in grid.aux
    ]
    style.legend(figure, looks, title=f"points: {style.mean_over(grid.seeds.finetune)}")
    return figure


def _panel(ax: Axes, name: str, table: pd.DataFrame, grid: Grid, large: bool) -> None:
    task_rows = table[table["task"] == name]
    deepest = max((int(n) for n in table["n_transfer"] if n != "none"), default=1)
    none = -deepest * (0.15 if large else 0.25)  # where the tick of `none` stands
    splits = [split for split in task_rows["split"].unique() if split != "train"]
    split = next((split for split in splits if split.startswith("dev")), splits[0])
    drawn = [_curve(ax, task_rows, split, line, none) for line in LINES]
    if not any(drawn):
        style.note_missing(ax)
    swept = table[table["arch"] == ("transformer" if "transformer" in grid.arch else "lstm")]
    layers = sorted({int(n) for n in swept["n_transfer"] if n != "none"}, reverse=True)
    ticks = sorted(layers[:: math.ceil(len(layers) / (7 if large else 4)) or 1])
    ax.set_xticks([none, *ticks], ["none", *map(str, ticks)])
    style.limit_to_scores(ax)
    ax.axvline(none * 0.4, color=style.GREY, linewidth=0.8, linestyle=":")
    ax.set_xlim(none * 1.5, deepest * 1.04)
    if large:
        ax.set_xlabel("layers transferred")
    if name == "mean":
        ax.set_title(style.title(name, grid))
        ax.set_ylabel("score")
    else:
        ax.set_title(f"{style.title(name, grid)} ({split.replace('_', ' ')})")
        ax.set_ylabel(markdown.METRICS[tasks.task(name).metric])


def _look(arch: str, aux: str, train: bool) -> dict[str, Any]:
    look = style.VARIANTS[arch, aux, True]
    if train:
        return {"color": look["color"], "linestyle": "--", "linewidth": 1.5}
    return {"linestyle": "-", **look}


def _curve(ax: Axes, mine: pd.DataFrame, split: str, line: tuple, none: float) -> bool:
    """One curve, its 95 % band where seeds allow, `none` beside it; False if nothing was run."""
    arch, aux, train, _, side = line
    rows = mine[(mine["arch"] == arch) & (mine["aux"] == aux)]
    rows = rows[rows["split"] == ("train" if train else split)]
    look = _look(arch, aux, train)
    for part in (rows[rows["n_transfer"] == "none"], rows[rows["n_transfer"] != "none"]):
        x = part["n_transfer"].replace("none", none * (1 + 0.2 * side)).astype(float)
        if train:
            lone = {"marker": "_", "markersize": 10} if len(part) == 1 else {}
            ax.plot(x, part["mean"], **look | lone)  # what was not run leaves a gap
        else:
            style.with_intervals(ax, x, part, **look)
            low, high = part["ci_low"], part["ci_high"]
            ax.fill_between(x, low, high, color=look["color"], alpha=0.12, linewidth=0)
    return bool(rows["mean"].notna().any())
