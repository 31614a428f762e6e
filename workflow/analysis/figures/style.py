"""What the figures share: how each model and task looks, the axis of updates, stable bytes.

Colours are those of Okabe and Ito (2008), told apart under the common colour-blindnesses; line
style and marker repeat what colour says. Sizes suit a page on which the figure is halved.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from tasks.common.files import write_atomic

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILLION, PURPLE, GREY = "#F0E442", "#0072B2", "#D55E00", "#CC79A7", "#7F7F7F"


@dataclass(frozen=True)
class Look:
    """Colour, marker and dashes of a line; `hollow` markers are white inside."""

    colour: str
    marker: str
    dashes: Any = "-"
    label: str = ""
    hollow: bool = False


DASHED = (0, (3, 1.5))
ARCHS = {
    "transformer": Look(BLUE, "o", label="Transformer"),
    "lstm": Look(GREEN, "^", DASHED, label="LSTM", hollow=True),
}
# Variants of Table 5 by (arch, aux, is pre-trained): those without one part have looks of their own.
VARIANTS = {
    ("transformer", "on", True): ARCHS["transformer"],
    ("transformer", "on", False): Look(VERMILLION, "s"),
    ("transformer", "off", True): Look(ORANGE, "D"),
    ("lstm", "on", True): ARCHS["lstm"],
}
BASELINES = {"majority": Look(GREY, "", "-"), "bag_of_words": Look(BLACK, "", (0, (1.5, 1)))}
TASKS = {  # of the zero-shot figure
    "sst2": Look(BLUE, "o"),
    "dprd": Look(VERMILLION, "s"),
    "cola": Look(GREEN, "^"),
    "race": Look(ORANGE, "D"),
    "mean": Look(BLACK, "o"),
}

RC = {
    **{"font.family": "DejaVu Sans", "font.size": 13, "axes.titlesize": 14, "axes.labelsize": 13},
    **{"legend.fontsize": 12, "legend.frameon": False, "lines.linewidth": 2, "lines.markersize": 6},
    **{"axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True},
    **{"axes.grid": True, "grid.color": "#E0E0E0", "grid.linewidth": 0.8},
    **{"figure.constrained_layout.w_pad": 0.1, "figure.constrained_layout.h_pad": 0.1},
    **{"figure.dpi": 100, "savefig.dpi": 150, "svg.hashsalt": "figure", "svg.fonttype": "path"},
}


def save(draw: Callable[[], Figure], path: Path) -> None:
    """Draw under the common style and write PNG and SVG, without dates and program versions."""
    with matplotlib.rc_context({**matplotlib.rcParamsDefault, **RC, "backend": "agg"}):
        figure = draw()
        with write_atomic(path.with_suffix(".png"), "wb") as file:
            figure.savefig(file, format="png", metadata={"Software": None})
        with write_atomic(path.with_suffix(".svg"), "wb") as file:
            figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})


def note_missing(ax: Axes) -> None:
    """Where there is nothing to draw, say so instead of leaving an empty frame."""
    ax.text(0.5, 0.5, "not run", transform=ax.transAxes, ha="center", va="center", color=GREY)
    ax.set_yticks([])


def updates_axis(ax: Axes, updates: list[int]) -> Callable[[float], float]:
    """A log axis of updates on which 0, the untrained model, has a place left of a break.

    Returns the function that places an update on the axis.
    """
    rising = sorted(u for u in updates if u > 0)
    ratio = max(1.5, (rising[-1] / rising[0]) ** 0.1)
    zero = rising[0] / ratio
    ax.set_xscale("log")
    ax.set_xlim(zero / ratio**0.4, rising[-1] * ratio**0.3)
    log_ticks(ax.xaxis, rising[0], rising[-1], [zero] if 0 in updates else [], ["0"])
    if 0 in updates:
        middle = zero * ratio**0.45
        ax.text(
            *(middle, 0, "//"),
            transform=ax.get_xaxis_transform(),
            **{"ha": "center", "va": "center", "fontsize": 12, "zorder": 5},
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
        )
    return lambda update: zero if update == 0 else update


def log_ticks(
    axis: Axis, low: float, high: float, more: Sequence[float] = (), names: Sequence[str] = ()
) -> None:
    """Ticks at 1, 2, 5 times powers of ten (the powers alone over long axes), and `more`."""
    steps = (1,) if high / low > 500 else (1, 2, 5)
    round_numbers = [s * 10**p for p in range(-2, 12) for s in steps]
    ticks = [t for t in round_numbers if low * 0.99 <= t <= high * 1.01] or [low, high]
    named = dict(zip(more, names, strict=False))
    axis.set_major_locator(FixedLocator([*more, *ticks]))
    axis.set_major_formatter(FuncFormatter(lambda x, _: named.get(x, short(x))))
    axis.set_minor_locator(NullLocator())


def short(number: float) -> str:
    """1500 as 1.5k, 2000000 as 2M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:g}{letter}"
    return f"{number:g}"
