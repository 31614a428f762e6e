"""What the figures share: how each model and task looks, the axis of updates, stable bytes.

Colours are those of Okabe and Ito (2008), told apart under the common colour-blindnesses; line
style and marker repeat what colour says. Fonts and sizes are in `figures.mplstyle`.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter, FixedLocator, NullLocator

import tasks
from tasks.common.files import write_atomic
from workflow.grid import Grid

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILLION, PURPLE, GREY = "#F0E442", "#0072B2", "#D55E00", "#CC79A7", "#7F7F7F"


ARCHS: dict[str, dict[str, Any]] = {
    "transformer": {"color": BLUE, "marker": "o", "linestyle": "-", "label": "Transformer"},
    "lstm": {
        **{"color": GREEN, "marker": "^", "linestyle": (0, (3, 1.5)), "label": "LSTM"},
        "markerfacecolor": "white",
    },
}
MODELS = {  # by the name of the pre-trained model: each architecture, and the negative control
    **ARCHS,
    "transformer-shuffled": {
        **{"color": VERMILLION, "marker": "x", "linestyle": ":"},
        "label": "Transformer, shuffled books",
    },
}
VARIANTS: dict[tuple[str, str, bool], dict[str, Any]] = {  # by (arch, aux, is pre-trained)
    ("transformer", "on", True): {"color": ARCHS["transformer"]["color"], "marker": "o"},
    ("transformer", "on", False): {"color": VERMILLION, "marker": "s"},
    ("transformer", "off", True): {"color": ORANGE, "marker": "D"},
    ("lstm", "on", True): {"color": ARCHS["lstm"]["color"], "marker": "^"},
}
TASKS = {  # of the zero-shot figure
    "sst2": {"color": BLUE, "marker": "o"},
    "dprd": {"color": VERMILLION, "marker": "s"},
    "cola": {"color": GREEN, "marker": "^"},
    "race": {"color": ORANGE, "marker": "D"},
    "mean": {"color": BLACK, "marker": "o"},
}
BASELINES: dict[str, dict[str, Any]] = {
    "majority": {"color": GREY, "linestyle": "-"},
    "bag_of_words": {"color": BLACK, "linestyle": (0, (1.5, 1))},
}

# Hollow: what the paper printed, beside this run's mark of the same shape and colour.
PRINTED: dict[str, Any] = {
    **{"color": GREY, "marker": "o", "linestyle": ""},
    **{"markerfacecolor": "white", "markeredgewidth": 1.5, "markersize": 6.5},
}

STYLE = Path(__file__).with_name("figures.mplstyle")


def save(draw: Callable[[], Figure], path: Path) -> None:
    """Draw under the common style and write PNG and SVG, without dates and program versions."""
    with matplotlib.rc_context(fname=STYLE):
        figure = draw()
        with write_atomic(path.with_suffix(".png"), "wb") as file:
            figure.savefig(file, format="png", metadata={"Software": None})
        with write_atomic(path.with_suffix(".svg"), "wb") as file:
            figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})


def legend(figure: Figure, looks: Sequence[dict[str, Any]], **options: Any) -> None:
    """A legend above the panels, a mark or stroke for each look; in one row without `ncols`."""
    options = {"ncols": len(looks), **options}
    handles = [Line2D([], [], **look) for look in looks]
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


def with_intervals(
    ax: Axes, x: Sequence[float] | pd.Series, rows: pd.DataFrame, **look: Any
) -> None:
    """The means of `rows` at `x`, each with its 95 % interval where there is one."""
    ax.plot(x, rows["mean"], **look)
    ax.vlines(x, rows["ci_low"], rows["ci_high"], color=look["color"], linewidth=1.5)


def limit_to_scores(ax: Axes) -> None:
    """Cut the vertical axis at what a score can be: an interval of two seeds may be much longer."""
    low, high = ax.get_ylim()
    ax.set_ylim(max(low, -20.0), min(high, 103.0))


def note_missing(ax: Axes) -> None:
    """Where there is nothing to draw, say so instead of leaving an empty frame."""
    ax.text(0.5, 0.5, "not run", transform=ax.transAxes, ha="center", va="center", color=GREY)
    ax.set_yticks([])


def mean_over(seeds: Sequence[int]) -> str:
    """How many seeds are behind a point."""
    return "one seed" if len(seeds) == 1 else f"mean over {len(seeds)} seeds"


def draw_range(
    ax: Axes, x: pd.Series | pd.Index, low: pd.Series, high: pd.Series, colour: str
) -> None:
    """A band between the lowest and the highest seed; at a single point a bar."""
    x, low, high = (values[low.notna()] for values in (x, low, high))
    ax.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0)
    ax.vlines(x, low, high, color=colour, linewidth=1.5)


def updates_axis(ax: Axes, updates: Sequence[float], sparse: bool = False) -> None:
    """A log axis of updates, linear below the first one, so that 0 (untrained) is on it.

    `sparse` ticks are for small panels.
    """
    rising = sorted(update for update in updates if update > 0)
    ax.set_xscale("symlog", linthresh=rising[0], linscale=0.3)
    ax.set_xlim(-0.2 * rising[0] if 0 in updates else 0.8 * rising[0], rising[-1] * 1.3)
    log_ticks(ax.xaxis, rising[0], rising[-1], [0] if 0 in updates else [], sparse)


def log_ticks(
    axis: Axis, low: float, high: float, more: Sequence[float] = (), sparse: bool = False
) -> None:
    """Ticks at 1, 2, 5 times powers of ten (the powers alone if sparse or long), and `more`.

    A short axis, with one of these or none, has ticks at its ends as well.
    """
    steps = (1,) if sparse or high / low > 500 else (1, 2, 5)
    round_numbers = [s * 10**p for p in range(-2, 25) for s in steps]
    ticks = [t for t in round_numbers if low * 0.99 <= t <= high * 1.01]
    if len(ticks) < 2:
        inner = [tick for tick in ticks if low * 1.2 < tick < high / 1.2]
        ticks = sorted({float(f"{limit:.3g}") for limit in (low, *inner, high)})
    axis.set_major_locator(FixedLocator([*more, *ticks]))
    axis.set_major_formatter(lambda x, _: EngFormatter(sep="")(x) if x >= 1 else f"{x:g}")
    axis.set_minor_locator(NullLocator())
