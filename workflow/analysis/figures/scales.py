"""Limits and ticks of the figures' axes."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis, XAxis, YAxis
from matplotlib.ticker import (
    EngFormatter,
    FixedLocator,
    Locator,
    LogLocator,
    MaxNLocator,
    NullLocator,
)

WIDEST = 110.0  # points of a difference


def limit_to_scores(ax: Axes) -> None:
    """Cut the vertical axis at what a score can be: an interval of two seeds may be much longer."""
    low, high = ax.get_ylim()
    ax.set_ylim(max(low, -20.0), min(high, 103.0))


def limit_to_differences(axis: XAxis | YAxis) -> None:
    """Cut an axis of differences, in points, in the same way."""
    low, high = axis.get_view_interval()
    axis.axes.set(**{f"{axis.axis_name}lim": (max(low, -WIDEST), min(high, WIDEST))})


def log_axis(axis: XAxis | YAxis) -> None:
    """Make an axis logarithmic over what is drawn, if anything is."""
    low, high = axis.get_data_interval()
    if np.isfinite([low, high]).all():
        limits = low / 1.15, high * 1.15
        name = axis.axis_name
        axis.axes.set(**{f"{name}scale": "log", f"{name}lim": limits})
        _log_ticks(axis, *limits, sparse=False)


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

    On a short axis, which has hardly any of these, the ticks are evenly spaced.
    """
    is_long = high / low > (50 if sparse else 500)
    locator: Locator = LogLocator(subs=(1,) if is_long else (1, 2, 5))
    if high / low < 5:
        locator = MaxNLocator(5, steps=[1, 2, 5, 10])
    ticks = np.asarray(locator.tick_values(low, high) if high > low else [low])
    axis.set_major_locator(FixedLocator([*more, *ticks[ticks >= low * 0.99]]))
    axis.set_major_formatter(lambda x, _: EngFormatter(sep="")(x) if x >= 1 else f"{x:g}")
    axis.set_minor_locator(NullLocator())
