"""A matrix of numbers from 0 to 100 in colour, each written into its cell."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from workflow.analysis.figures import style

COLOURS, LOWEST = "Blues", -20.0  # so light that text reads best in black up to DARK, then white
DARK = 66.0


def draw(
    ax: Axes, values: pd.DataFrame, texts: pd.DataFrame, rows: Sequence[str], columns: Sequence[str]
) -> None:
    """Draw `values`, without colour if NaN, each with its text; label the rows and columns."""
    numbers = values.to_numpy(dtype=float)
    ax.pcolormesh(numbers, cmap=COLOURS, vmin=LOWEST, vmax=100, edgecolors="white", linewidth=1.5)
    for (i, j), value in np.ndenumerate(numbers):
        ink = style.GREY if np.isnan(value) else "white" if value > DARK else "black"
        where = (j + 0.5, i + 0.5)
        ax.text(*where, texts.iat[i, j], color=ink, ha="center", va="center", fontsize=11.5)
    ax.set_xticks(np.arange(len(columns)) + 0.5, columns)
    ax.set_yticks(np.arange(len(rows)) + 0.5, rows)
    ax.grid(visible=False)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
