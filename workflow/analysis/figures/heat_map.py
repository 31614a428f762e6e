"""Task by layers: the score of every task for every number of transferred layers, in colour.

The columns are those of Figure 2, left: `none` transfers nothing, 0 the embeddings alone.
"""

import pandas as pd
from matplotlib.figure import Figure

from workflow.analysis import markdown
from workflow.analysis.figures import lines, matrix, style
from workflow.grid import Grid


def draw(table: pd.DataFrame, grid: Grid) -> Figure:
    """A panel per architecture, with the auxiliary loss; a line per task, the mean at the end."""
    rows = table[(table["aux"] == "on") & (table["split"] != "train")]
    rows = rows.drop_duplicates(["line", "value", "task"])  # the main split comes first
    names = [*(name for name in grid.tasks if name in set(rows["task"])), "mean"]
    figure = Figure(figsize=(12, 0.9 + 0.42 * len(names)), layout="constrained")
    wide = {line: _scores(mine, names) for line, mine in rows.groupby("line", sort=False)}
    if not wide:
        style.note_missing(figure.add_subplot())
        return figure
    widths = [scores.shape[1] for scores in wide.values()]
    axes = figure.subplots(1, len(wide), width_ratios=widths, sharey=True, squeeze=False)[0]
    labels = [lines.title(name, rows, grid) for name in names]
    for ax, (line, scores) in zip(axes, wide.items(), strict=True):
        matrix.draw(ax, scores, scores.map(markdown.value), labels, list(scores.columns))
        ax.axhline(len(scores) - 1, color=style.BLACK, linewidth=1)
        ax.set_title(style.short(line))
    axes[0].invert_yaxis()
    figure.supxlabel("layers transferred", fontsize=13)
    return figure


def _scores(rows: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Mean scores, tasks down and layers across; NaN where nothing was run."""
    wide = rows.pivot(index="task", columns="value", values="mean")
    layers = sorted(wide, key=lambda n: -1 if n == "none" else int(n))
    return wide.reindex(index=names, columns=layers)
