"""What the auxiliary loss adds, from the smallest training set to the largest.

The paper finds that larger sets gain from it and smaller ones do not (section 5). Points are the
gains of this run with their 95 % intervals. Hollow marks, shown only where the task's rows are
real, are the gains in the paper's Table 5.
"""

import pandas as pd
from matplotlib.figure import Figure

from workflow.analysis.figures import scales, style
from workflow.analysis.figures.ablation import printed_of_real
from workflow.analysis.paper import FULL, NO_AUX
from workflow.grid import Grid


def draw(table: pd.DataFrame, grid: Grid) -> Figure:
    """A line per task: the full transformer minus the one without the auxiliary loss."""
    wide = printed_of_real(table, grid).set_index("task").groupby("variant")
    full, without = (wide.get_group(of.title).loc[grid.tasks] for of in (FULL, NO_AUX))
    without = without.sort_values("train_rows", kind="stable")
    low, high = -without["diff_high"], -without["diff_low"]
    by_seed = without["diff_by_seed"].map(lambda seeds: tuple(-seed for seed in seeds))
    gains = pd.DataFrame({"gain": -without["diff"], "low": low, "high": high, "seeds": by_seed})
    paper = (full["paper"] - without["paper"])[without.index]
    figure = Figure(figsize=(10, 1.5 + 0.4 * max(6, len(gains))), layout="constrained")
    ax = figure.add_subplot()
    at = pd.Series(range(len(gains)), gains.index)
    style.dots(ax, at, gains, paper, **style.VARIANTS[NO_AUX.title])
    rows = without["train_rows"].map(lambda n: "?" if pd.isna(n) else f"{n:,.0f}")
    ax.set_yticks(at, [f"{grid.shown(n)} ({k})" for n, k in rows.items()])
    scales.limit_to_differences(ax.xaxis)
    ax.set_xlabel("gain by the auxiliary loss, in points")
    ax.set_ylabel("tasks (training rows)")
    style.legend_of_dots(figure, grid, has_paper=paper.notna().any())
    return figure
