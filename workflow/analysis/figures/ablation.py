"""Table 5 as a picture: the variants on every task, with 95 % intervals and both baselines.

Hollow marks are the scores that the paper prints, where the task's rows are real.
"""

import pandas as pd
from matplotlib.figure import Figure

from workflow.analysis.figures import lines, style
from workflow.analysis.paper import EIGHT, FURTHER_VARIANTS
from workflow.grid import Grid


def draw(table: pd.DataFrame, grid: Grid) -> Figure:
    """Averages left, then the paper's eight tasks, then the others that were run."""
    table = printed_of_real(table, grid).rename(columns={"variant": "line"})
    return lines.marks(table, shown(table), places(grid))


def printed_of_real(table: pd.DataFrame, grid: Grid) -> pd.DataFrame:
    """The table with the paper's scores beside real rows alone; its mean is of eight such tasks."""
    made = {*grid.synthetic, *({"avg"} if {*EIGHT} & {*grid.synthetic} else ())}
    return table.assign(paper=table["paper"].mask(table["task"].isin(made)))


def places(grid: Grid) -> dict[str, float]:
    """Where each column stands: the means, the paper's eight tasks and the others, set apart."""
    eight = [task for task in EIGHT if task in grid.tasks]
    means = ["avg", "avg_all"] if len(eight) == len(EIGHT) else ["avg_all"]
    return lines.spaced(means, eight, [task for task in grid.tasks if task not in EIGHT])


def shown(table: pd.DataFrame) -> dict[str, style.Look]:
    """How the lines look that are drawn: all but those that the paper does not speak of."""
    further = [variant.title for variant in FURTHER_VARIANTS]
    return style.looks(line for line in table["line"].unique() if line not in further)
