"""Table 5 as a picture: each of its lines on every task, with 95 % intervals and both baselines.

Hollow marks are the scores that the paper prints, where the task's rows are real.
"""

import pandas as pd
from matplotlib.figure import Figure

from workflow.analysis.figures import lines, style
from workflow.analysis.paper import EIGHT
from workflow.grid import Grid


def draw(table: pd.DataFrame, grid: Grid) -> Figure:
    """Averages left, then the paper's eight tasks, then the others that were run."""
    table = printed_of_real(table, grid).rename(columns={"variant": "line"})
    return lines.marks(table, style.looks(table["line"].unique()), columns(grid), grid)


def printed_of_real(table: pd.DataFrame, grid: Grid) -> pd.DataFrame:
    """The table with the paper's scores only for real rows; its mean only if all eight are real."""
    made = {*grid.synthetic, *({"avg"} if {*EIGHT} & {*grid.synthetic} else ())}
    return table.assign(paper=table["paper"].mask(table["task"].isin(made)))


def columns(grid: Grid) -> dict[str, float]:
    """Where each column stands: the means, the paper's eight tasks and the others, set apart."""
    eight = [task for task in EIGHT if task in grid.tasks]
    means = ["avg"] * (len(eight) == len(EIGHT)) + ["avg_all"] * (len(grid.tasks) > 1)
    return lines.spaced(means, eight, [task for task in grid.tasks if task not in EIGHT])
