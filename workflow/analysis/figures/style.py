"""What the figures share: how each model and task looks, curves with intervals, axes, stable bytes.

Colours are those of Okabe and Ito (2008), told apart under the common colour-blindnesses; line
style and marker repeat what colour says. Fonts and sizes are in `figures.mplstyle`.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis, XAxis, YAxis
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from matplotlib.ticker import (
    EngFormatter,
    FixedLocator,
    Locator,
    LogLocator,
    MaxNLocator,
    NullLocator,
)

import tasks
from tasks.common.files import write_atomic
from workflow.analysis.paper import (
    FULL,
    LSTM,
    NO_AUX,
    NO_PRETRAINING,
    SENTENCES_SHUFFLED,
    SHUFFLED,
)
from workflow.grid import Grid

Look = dict[str, Any]

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILLION, PURPLE, GREY = "#0072B2", "#D55E00", "#CC79A7", "#7F7F7F"

MODELS: dict[str, Look] = {  # by the name of the pre-trained model
    "transformer": {"label": "Transformer", "color": BLUE, "marker": "o", "linestyle": "-"},
    "lstm": {
        "label": "LSTM",
        "color": GREEN,
        "marker": "^",
        "markerfacecolor": "white",
        "linestyle": (0, (3, 1.5)),
    },
    "transformer-shuffled": {
        "label": "Transformer, shuffled words",
        "color": VERMILLION,
        "marker": "x",
        "linestyle": ":",
    },
    "transformer-sentences-shuffled": {
        "label": "Transformer, shuffled sentences",
        "color": PURPLE,
        "marker": "d",
        "linestyle": "-.",
    },
}
VARIANTS: dict[str, Look] = {  # of Table 5
    FULL.title: {"color": BLUE, "marker": "o"},
    NO_PRETRAINING.title: {"color": VERMILLION, "marker": "s"},
    NO_AUX.title: {"color": ORANGE, "marker": "D"},
    LSTM.title: {"color": GREEN, "marker": "^"},
    SHUFFLED.title: {"color": PURPLE, "marker": "X"},
    SENTENCES_SHUFFLED.title: {"color": BLACK, "marker": "P"},
}
TASKS: dict[str, Look] = {  # of the zero-shot figure
    "sst2": {"color": BLUE, "marker": "o"},
    "dprd": {"color": VERMILLION, "marker": "s"},
    "cola": {"color": GREEN, "marker": "^"},
    "race": {"color": ORANGE, "marker": "D"},
    "mean": {"color": BLACK, "marker": "o", "linewidth": 3},
}
BASELINES: dict[str, Look] = {
    "majority": {"color": GREY, "linestyle": "-"},
    "bag_of_words": {"color": BLACK, "linestyle": (0, (1.5, 1))},
}
# What the paper printed: hollow, beside this run's mark of the same shape and colour.
PRINTED: Look = {
    "color": GREY,
    "marker": "o",
    "markerfacecolor": "white",
    "markeredgewidth": 1.5,
    "markersize": 6.5,
}
MARKS: Look = {"linestyle": "", "markersize": 8}

# Columns of tables: a value with its limits.
SCORE = ["mean", "ci_low", "ci_high"]
RELATIVE = ["relative", "relative_low", "relative_high"]
WIDEST = 110.0
STYLE = Path(__file__).with_name("figures.mplstyle")


def save(draw: Callable[[], Figure], path: Path) -> None:
    """Draw under the common style and write PNG and SVG, without dates and program versions."""
    with matplotlib.rc_context(fname=STYLE):
        figure = draw()
        note_empty(figure)
        with write_atomic(path.with_suffix(".png"), "wb") as file:
            figure.savefig(file, format="png", metadata={"Software": None})
        with write_atomic(path.with_suffix(".svg"), "wb") as file:
            figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})


def note_empty(figure: Figure) -> None:
    """Say of each panel whose lines have no point that it was not run."""
    for ax in figure.axes:
        if ax.lines and not np.isfinite(ax.dataLim.get_points()).all():
            note_missing(ax)


def note_missing(ax: Axes) -> None:
    """Where there is nothing to draw, say so instead of leaving an empty frame."""
    ax.text(0.5, 0.5, "not run", transform=ax.transAxes, ha="center", va="center", color=GREY)


def legend(figure: Figure, looks: Sequence[Look], **options: Any) -> None:
    """A legend above the panels, a mark or stroke for each look; in one row without `ncols`."""
    handles = [Line2D([], [], **look) for look in looks]
    options = {"ncols": len(looks), **options}
    figure.legend(handles=handles, loc="outside upper center", **options)


def panels(figure: Figure | SubFigure, rows: int, columns: int, n: int, **options: Any) -> list:
    """The first `n` axes of a grid of panels; the others are not shown."""
    axes = [*figure.subplots(rows, columns, squeeze=False, **options).ravel()]
    for ax in axes[n:]:
        ax.set_axis_off()
    return axes[:n]


def title(name: str, grid: Grid) -> str:
    """A task's title; of a mean how many tasks it is over (`avg` the paper's eight)."""
    if name in ("avg", "avg_all", "mean"):
        return f"mean of {8 if name == 'avg' else len(grid.tasks)} tasks"
    return tasks.task(name).title


def mean_over(seeds: Sequence[int]) -> str:
    """How many seeds are behind a point."""
    return "one seed" if len(seeds) == 1 else f"mean over {len(seeds)} seeds"


def points(ax: Axes, x: pd.Series | list[float], estimates: pd.DataFrame, **look: Any) -> None:
    """Values at `x` with their intervals; the columns of `estimates` are value, low and high."""
    value, low, high = estimates.columns
    ax.plot(x, estimates[value], **look)
    ax.vlines(x, estimates[low], estimates[high], color=look["color"], linewidth=1.5)


def curve(ax: Axes, x: pd.Series, estimates: pd.DataFrame, **look: Any) -> None:
    """As `points`, with a band from the low to the high limits."""
    points(ax, x, estimates, **look)
    _, low, high = estimates.columns
    ax.fill_between(
        x, estimates[low], estimates[high], color=look["color"], alpha=0.15, linewidth=0
    )


def along_updates(ax: Axes, x: pd.Series, estimates: pd.DataFrame, **look: Any) -> None:
    """A `curve` along pre-training, in which the untrained model, at 0, stands apart."""
    for _, part in estimates.groupby(x > 0):
        curve(ax, x[part.index], part, **look)


def limit_to_scores(ax: Axes) -> None:
    """Cut the vertical axis at what a score can be: an interval of two seeds may be much longer."""
    low, high = ax.get_ylim()
    ax.set_ylim(max(low, -20.0), min(high, 103.0))


def limit_to_differences(axis: XAxis | YAxis) -> None:
    """Cut an axis of differences likewise, in points."""
    low, high = axis.get_view_interval()
    axis.axes.set(**{f"{axis.axis_name}lim": (max(low, -WIDEST), min(high, WIDEST))})


def log_axis(axis: XAxis | YAxis, margin: float = 1.15, sparse: bool = False) -> None:
    """Make an axis logarithmic over what is drawn, if anything is."""
    low, high = axis.get_data_interval()
    if np.isfinite([low, high]).all():
        limits = low / margin, high * margin
        name = axis.axis_name
        axis.axes.set(**{f"{name}scale": "log", f"{name}lim": limits})
        _log_ticks(axis, *limits, sparse=sparse)


def updates_axis(ax: Axes, updates: Sequence[float], sparse: bool = False) -> None:
    """A log axis of updates, linear below the first one, so that 0 (untrained) is on it.

    `sparse` ticks are for small panels.
    """
    first, last = min(update for update in updates if update > 0), max(updates)
    ax.set_xscale("symlog", linthresh=first, linscale=0.3)
    ax.set_xlim(-0.2 * first if 0 in updates else 0.8 * first, last * 1.3)
    _log_ticks(ax.xaxis, first, last, [0] if 0 in updates else [], sparse)


def _log_ticks(
    axis: Axis, low: float, high: float, more: Sequence[float] = (), sparse: bool = False
) -> None:
    """Ticks at 1, 2, 5 times powers of ten (the powers alone if sparse or long), and `more`.

    On a short axis, which has hardly any of these, they are at even distances.
    """
    is_long = high / low > (50 if sparse else 500)
    locator: Locator = LogLocator(subs=(1,) if is_long else (1, 2, 5))
    if high / low < 5:
        locator = MaxNLocator(5, steps=[1, 2, 5, 10])
    ticks = np.asarray(locator.tick_values(low, high) if high > low else [low])
    axis.set_major_locator(FixedLocator([*more, *ticks[ticks >= low * 0.99]]))
    axis.set_major_formatter(lambda x, _: EngFormatter(sep="")(x) if x >= 1 else f"{x:g}")
    axis.set_minor_locator(NullLocator())
