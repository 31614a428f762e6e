"""Figure 2 right, in full: zero-shot scores along pre-training, by heuristics and by prompts."""

import math
from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tasks.prompt import Scoring
from workflow.analysis.figures import scales, style
from workflow.grid import Grid

FAMILIES = {
    "entailment": "natural language inference and other pairs",
    "multiple_choice": "question answering and stories",
    "similarity": "similarity",
    "classification": "classification",
}
LOWEST = -0.5  # by F1, a model that always says no is far below this


def draw(table: pd.DataFrame, grid: Grid) -> Figure:
    """The paper's four heuristics and their mean; below, the tasks by their prompts, by family.

    0 is a random guess and 1 the state of the art, or all rows.
    """
    names, families = grid.zero_shot.of("heuristic"), _families(grid)
    columns = 2 if names else min(2, len(families))
    n_rows = bool(names) + math.ceil(len(families) / columns)
    figure = Figure(figsize=(12, 5.5 * n_rows), layout="constrained")
    rows = [*figure.subplots(n_rows, columns, sharey="row", squeeze=False)]
    if names:
        left, right = rows.pop(0)
        left.set_title("the paper's heuristics")
        right.set_title(f"mean of the {len(names)} tasks")
        curves(right, table, ["mean"], grid)
        style.label_ends(left, curves(left, table, names, grid))
    figure.supylabel("relative score (0 = random, 1 = best)")
    axes = [ax for row in rows for ax in row]
    ends: list[list[style.CurveEnd]] = []
    for ax, (family, of_family) in zip(axes[: len(families)], families.items(), strict=True):
        ax.set_title(f"prompts: {FAMILIES[family]}")
        ends.append(curves(ax, table, of_family, grid, "prompt"))
    for ax in axes[: len(families)]:  # once its row is drawn
        if ax.dataLim.y0 < LOWEST:
            ax.set_ylim(bottom=LOWEST)
            ax.text(0.02, 0.02, f"cut at {LOWEST:g}", transform=ax.transAxes, color=style.GREY)
    for ax, of_panel in zip(axes[: len(families)], ends, strict=True):
        style.label_ends(ax, of_panel)
    for ax in axes[len(families) :]:
        ax.set_axis_off()
    style.legend(figure, models(grid))
    return figure


def _families(grid: Grid) -> dict[str, list[str]]:
    """The tasks that have a prompt, by family."""
    found: dict[str, list[str]] = {}
    for name in grid.zero_shot.of("prompt"):
        found.setdefault(grid.task(name).family, []).append(name)
    return found


def models(grid: Grid) -> list[style.Look]:
    """The legend entries of the models' line styles."""
    return [style.MODELS[arch] | {"color": style.BLACK, "marker": ""} for arch in grid.arch]


def curves(
    ax: Axes,
    table: pd.DataFrame,
    names: Sequence[str],
    grid: Grid,
    scoring: Scoring = "heuristic",
) -> list[style.CurveEnd]:
    """Draw each task's curves, solid for the transformer and dashed for the LSTM.

    Returns the first architecture's curves, for `style.label_ends`.
    """
    ends, table = [], table[table["scoring"] == scoring]
    for task, other in zip(names, style.looks(names).values(), strict=True):
        for arch in grid.arch:
            rows = table[(table["arch"] == arch) & (table["task"] == task)]
            look = style.MODELS[arch] | style.TASKS.get(task, other)
            style.along_updates(ax, rows["update"], rows[style.RELATIVE], **look)
            if arch == grid.arch[0]:
                title = task if task == "mean" else grid.task(task).title
                ends.append((title, rows["update"], rows["relative"], look))
    scales.updates_axis(ax, grid.updates)
    ax.axhline(0, color=style.GREY, linewidth=1)
    zero = "; 0 = untrained" if 0 in grid.updates else ""
    ax.set_xlabel(f"pre-training updates (log{zero})")
    return ends
