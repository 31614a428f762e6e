"""What the figures share: how models and tasks look, curves with intervals, axes, stable bytes.

Colours are those of Okabe and Ito (2008), which stay distinct under the common forms of colour
blindness, and a few more; line style and marker repeat what colour says. Fonts and sizes are in
`figures.mplstyle`.
"""

from collections.abc import Callable, Iterable, Sequence
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

from gpt1.cell import Arch, Corpus
from tasks.common.files import write_atomic
from workflow.analysis import markdown, paper

Look = dict[str, Any]
CurveEnd = tuple[str, pd.Series, pd.Series, Look]  # name, x and y of the curve, and its look

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILLION, PURPLE, GREY = "#0072B2", "#D55E00", "#CC79A7", "#7F7F7F"
BROWN, OLIVE = "#8C510A", "#7A7A00"

MODELS: dict[Arch, Look] = {
    "transformer": {"label": "Transformer", "color": BLUE, "marker": "o", "linestyle": "-"},
    "lstm": {
        "label": "LSTM",
        "color": GREEN,
        "marker": "^",
        "markerfacecolor": "none",  # what lies below stays in sight
        "markersize": 8,
        "linestyle": (0, (3, 1.5)),
        "linewidth": 1.5,
    },
}
CONTROLS: dict[Corpus, Look] = {  # a transformer of altered books; an LSTM keeps its colour
    "shuffled": {"color": PURPLE, "marker": "x", "linestyle": ":"},
    "sentences-shuffled": {"color": BLACK, "marker": "+", "linestyle": "-."},
}


def model(arch: Arch, corpus: Corpus) -> Look:
    """The look of a language model, by its architecture and what it was trained on."""
    own = MODELS[arch]
    if corpus == "books":
        return own
    look = CONTROLS[corpus] | {"label": f"{own['label']}, {markdown.CORPORA[corpus]}"}
    return look if arch == "transformer" else own | look | {"color": own["color"]}


VARIANTS: dict[str, Look] = {  # of Table 5, in their model's colour if no other variant has it
    paper.FULL.title: {"color": MODELS["transformer"]["color"], "marker": "o"},
    paper.NO_PRETRAINING.title: {"color": VERMILLION, "marker": "s"},
    paper.NO_AUX.title: {"color": ORANGE, "marker": "D"},
    paper.LSTM.title: {"color": MODELS["lstm"]["color"], "marker": "^"},
    paper.SHUFFLED.title: {"color": CONTROLS["shuffled"]["color"], "marker": "X"},
    paper.SENTENCES_SHUFFLED.title: {
        "color": CONTROLS["sentences-shuffled"]["color"],
        "marker": "P",
    },
    paper.PERMUTED.title: {"color": SKY, "marker": "*"},
    paper.FITTED.title: {"color": BROWN, "marker": "h"},
    paper.VECTORS.title: {"color": OLIVE, "marker": "p"},
}
COLOURS = [*(look["color"] for look in VARIANTS.values()), GREY]
MARKERS = [*(look["marker"] for look in VARIANTS.values()), "<"]
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
SEED: Look = {"linestyle": "", "marker": ".", "markersize": 5, "alpha": 0.6, "zorder": 1.5}
FEW = range(2, 5)  # numbers of seeds that are drawn, each as a dot
APART = 0.27  # distance of the seeds and the paper's mark from the mean, in lines
WIDEST = 110.0  # points of a difference
LABEL = 0.062  # height of a curve's name, as a fraction of its panel's

# Columns of tables: a value with its limits and the values by seed.
SCORE = ["mean", "ci_low", "ci_high", "by_seed"]
DIFFERENCE = ["diff", "diff_low", "diff_high", "diff_by_seed"]
RELATIVE = ["relative", "relative_low", "relative_high", "relative_by_seed"]
PERPLEXITY = ["mean", "low", "high", "by_seed"]
UNSTABLE = {  # metadata that would change the bytes of a picture, by format
    "png": ["Software"],
    "svg": ["Date", "Creator"],
    "pdf": ["CreationDate", "Creator", "Producer"],
}
STYLE = Path(__file__).with_name("figures.mplstyle")


def save(draw: Callable[[], Figure], path: Path) -> None:
    """Draw under the common style and write PNG, SVG and PDF, without dates and versions."""
    with matplotlib.rc_context(fname=STYLE):
        figure = draw()
        note_empty(figure)
        for form, unstable in UNSTABLE.items():
            with write_atomic(path.with_suffix(f".{form}"), "wb") as file:
                figure.savefig(file, format=form, metadata=dict.fromkeys(unstable))


def note_empty(figure: Figure) -> None:
    """Mark each panel whose lines have no points as not run."""
    for ax in figure.axes:
        if ax.lines and not np.isfinite(ax.dataLim.get_points()).all():
            note_missing(ax)


def note_missing(ax: Axes) -> None:
    """Mark a panel with nothing to draw as not run, instead of leaving an empty frame."""
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


def looks(lines: Iterable[str]) -> dict[str, Look]:
    """A look for each of up to 100 lines, no two the same; those of Table 5 keep theirs."""
    lines = list(lines)
    pairs = ((c, MARKERS[i - n]) for n in range(len(MARKERS)) for i, c in enumerate(COLOURS))
    every = ({"color": colour, "marker": marker} for colour, marker in pairs)
    free = (look for look in every if look not in [VARIANTS.get(one) for one in lines])
    return {line: VARIANTS.get(line) or next(free) for line in lines}


def mean_over(n: int) -> str:
    """How many seeds are behind a point, and whether each is drawn too, in words."""
    return "one seed" if n == 1 else f"mean over {n} seeds{' (dots)' if n in FEW else ''}"


def points(ax: Axes, x: Sequence[float], estimates: pd.DataFrame, **look: Any) -> None:
    """Values at `x`, with a dot for each of a few seeds.

    The columns of `estimates` are value, low and high limit, and the values by seed. Where the
    seeds have no dots, strokes reach from limit to limit.
    """
    value, low, high, by_seed = estimates.columns
    ax.plot(x, estimates[value], **look)
    seeds = _few(x, estimates[by_seed])
    ax.plot(*seeds, **SEED, color=look["color"])
    if not seeds[0]:
        ax.vlines(x, estimates[low], estimates[high], color=look["color"], linewidth=1.5)


def curve(ax: Axes, x: pd.Series, estimates: pd.DataFrame, **look: Any) -> None:
    """As `points`, with a band from the low to the high limits where the seeds have no dots."""
    points(ax, x, estimates, **look)
    _, low, high, by_seed = estimates.columns
    if not _few(x, estimates[by_seed])[0]:
        band: Look = {"color": look["color"], "alpha": 0.15, "linewidth": 0}
        ax.fill_between(x, estimates[low], estimates[high], **band)


def dots(ax: Axes, at: pd.Series, estimates: pd.DataFrame, printed: Any, **look: Any) -> None:
    """Differences on the lines `at`, with their intervals; the seeds below, the `printed` above.

    An arrow marks the end of an interval that goes beyond what `limit_to_differences` shows.
    """
    value, low, high, by_seed = estimates.columns
    ax.axvline(0, color=BLACK, linewidth=1)
    ax.plot(estimates[value], at, **look | MARKS | {"markersize": 6})
    ax.hlines(at, estimates[low], estimates[high], color=look["color"], linewidth=1.8)
    for end, edge, arrow in ((low, -WIDEST, "<"), (high, WIDEST, ">")):
        cut = at[(estimates[end] / edge).gt(1).to_numpy()]
        ax.plot([edge] * len(cut), cut, color=look["color"], linestyle="", marker=arrow)
    lines, seeds = _few(at + APART, estimates[by_seed])
    ax.plot(seeds, lines, **SEED, color=look["color"])
    ax.plot(printed, at - APART, **PRINTED | look, linestyle="")
    if estimates[value].isna().all():
        note_missing(ax)
    ax.grid(visible=False, axis="y")
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(at.max() + 0.6, at.min() - 0.6)


def _few(places: Iterable[float], by_seed: pd.Series) -> tuple[list[float], list[float]]:
    """The places and the values of the seeds to draw, if there are two to four; else nothing."""
    of_places = [one if isinstance(one, tuple) else () for one in by_seed]
    if max(map(len, of_places), default=0) not in FEW:
        return [], []
    found = [(at, value) for at, of in zip(places, of_places, strict=True) for value in of]
    return [at for at, _ in found], [value for _, value in found]


def label_ends(ax: Axes, ends: Sequence[CurveEnd]) -> None:
    """Name curves at their ends, beside a panel that is otherwise drawn; names do not overlap."""
    known = [
        (name, x[y.last_valid_index()], y[y.last_valid_index()], look["color"])
        for name, x, y, look in ends
        if y.notna().any()
    ]
    ax.set_ylim(ax.get_ylim())
    to_axes = ax.transScale + ax.transLimits
    known.sort(key=lambda end: end[2])
    heights = np.array([to_axes.transform(end[1:3])[1] for end in known])
    steps = LABEL * np.arange(len(known))
    up, down = heights - steps, (heights - steps)[::-1]
    apart = (np.maximum.accumulate(up) + np.minimum.accumulate(down)[::-1]) / 2 + steps
    apart -= max(0.0, apart.max(initial=0.0) - 1)
    for (name, *end, color), height in zip(known, apart, strict=True):
        stroke = {"arrowstyle": "-", "color": color, "shrinkA": 0, "shrinkB": 5}
        where: Look = {"xytext": (1.02, height), "textcoords": "axes fraction", "va": "center"}
        ax.annotate(name, tuple(end), arrowprops=stroke, fontsize=12, **where)


def along_updates(ax: Axes, x: pd.Series, estimates: pd.DataFrame, **look: Any) -> None:
    """A `curve` along pre-training, from which the untrained model, at 0, is set apart."""
    for _, part in estimates.groupby(x > 0):
        curve(ax, x[part.index], part, **look)


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
