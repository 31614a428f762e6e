"""What the figures share: how each model and task looks, curves with intervals, stable bytes.

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
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D

from gpt1.cell import Arch, Corpus
from tasks.common.files import write_atomic
from workflow.analysis import markdown
from workflow.analysis.figures import scales
from workflow.analysis.paper import (
    FITTED,
    FULL,
    LSTM,
    NO_AUX,
    NO_PRETRAINING,
    PERMUTED,
    SENTENCES_SHUFFLED,
    SHUFFLED,
    VECTORS,
)
from workflow.grid import Grid

Look = dict[str, Any]
CurveEnd = tuple[str, pd.Series, pd.Series, Look]  # name, x and y of the curve, and its look

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILLION, PURPLE, GREY = "#0072B2", "#D55E00", "#CC79A7", "#7F7F7F"
BROWN, OLIVE = "#8C510A", "#7A7A00"

MODELS: dict[str, Look] = {  # ARCH, or transformer-CORPUS
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
    "transformer-shuffled": {
        "label": "Transformer, shuffled words",
        "color": PURPLE,
        "marker": "x",
        "linestyle": ":",
    },
    "transformer-sentences-shuffled": {
        "label": "Transformer, shuffled sentences",
        "color": BLACK,
        "marker": "+",
        "linestyle": "-.",
    },
}


def model(arch: Arch, corpus: Corpus) -> Look:
    """The look of a language model, by its architecture and what it was trained on.

    An LSTM of shuffled books has the LSTM's colour, and the stroke and marker of the transformer
    that read them.
    """
    own = MODELS[arch]
    if corpus == "books":
        return own
    control = MODELS[f"transformer-{corpus}"]
    if arch == "transformer":
        return control
    label = control["label"].replace("Transformer", own["label"])
    return own | {"label": label, "linestyle": control["linestyle"], "marker": control["marker"]}


VARIANTS: dict[str, Look] = {  # of Table 5, in their model's colour if no other variant has it
    FULL.title: {"color": MODELS["transformer"]["color"], "marker": "o"},
    NO_PRETRAINING.title: {"color": VERMILLION, "marker": "s"},
    NO_AUX.title: {"color": ORANGE, "marker": "D"},
    LSTM.title: {"color": MODELS["lstm"]["color"], "marker": "^"},
    SHUFFLED.title: {"color": MODELS["transformer-shuffled"]["color"], "marker": "X"},
    SENTENCES_SHUFFLED.title: {
        "color": MODELS["transformer-sentences-shuffled"]["color"],
        "marker": "P",
    },
    PERMUTED.title: {"color": SKY, "marker": "*"},
    FITTED.title: {"color": BROWN, "marker": "h"},
    VECTORS.title: {"color": OLIVE, "marker": "p"},
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


def baselines() -> list[Look]:
    """The legend entries of the baselines."""
    return [look | {"label": markdown.BASELINES[name]} for name, look in BASELINES.items()]


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


def short(line: str) -> str:
    """A line's name as it is written beside a curve."""
    return line.removesuffix(" (full)")


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
    ax.plot(*seeds, **_seeds(look))
    if not seeds[0]:
        ax.vlines(x, estimates[low], estimates[high], color=look["color"], linewidth=1.5)


def curve(ax: Axes, x: pd.Series, estimates: pd.DataFrame, **look: Any) -> None:
    """As `points`, with a band from the low to the high limits where the seeds have no dots."""
    points(ax, x, estimates, **look)
    _, low, high, by_seed = estimates.columns
    if not _few(x, estimates[by_seed])[0]:
        band: Look = {"color": look["color"], "alpha": 0.15, "linewidth": 0}
        ax.fill_between(x, estimates[low], estimates[high], **band)


def dots(ax: Axes, at: pd.Series, estimates: pd.DataFrame, paper: pd.Series, **look: Any) -> None:
    """Differences on the lines `at`, with their intervals; the seeds below, the paper's above.

    An arrow marks the end of an interval that goes beyond what `limit_to_differences` shows.
    """
    value, low, high, by_seed = estimates.columns
    ax.axvline(0, color=BLACK, linewidth=1)
    ax.plot(estimates[value], at, **look | MARKS | {"markersize": 6})
    ax.hlines(at, estimates[low], estimates[high], color=look["color"], linewidth=1.8)
    for end, edge, arrow in ((low, -scales.WIDEST, "<"), (high, scales.WIDEST, ">")):
        cut = at[(estimates[end] / edge).gt(1).to_numpy()]
        ax.plot([edge] * len(cut), cut, color=look["color"], linestyle="", marker=arrow)
    lines, seeds = _few(at + APART, estimates[by_seed])
    ax.plot(seeds, lines, **_seeds(look))
    ax.plot(paper, at - APART, **PRINTED | look, linestyle="")
    if estimates[value].isna().all():
        note_missing(ax)
    ax.grid(visible=False, axis="y")
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(at.max() + 0.6, at.min() - 0.6)


def legend_of_dots(figure: Figure, grid: Grid, has_paper: bool) -> None:
    """A legend for the marks of `dots`."""
    n = len(grid.seeds.finetune)
    ours = mean_over(n) + ", 95 % interval" * (n > 1)  # one seed has none
    looks: list[Look] = [{"marker": "o", "color": GREY, "label": ours}]
    if has_paper:
        looks.append(PRINTED | {"label": "the paper (GLUE test server)"})
    legend(figure, [{"linestyle": ""} | look for look in looks])


def _few(places: Iterable[float], by_seed: pd.Series) -> tuple[list[float], list[float]]:
    """The places and the values of the seeds to draw, if there are two to four; else nothing."""
    of_places = [one if isinstance(one, tuple) else () for one in by_seed]
    if max(map(len, of_places), default=0) not in FEW:
        return [], []
    found = [(at, value) for at, of in zip(places, of_places, strict=True) for value in of]
    return [at for at, _ in found], [value for _, value in found]


def _seeds(look: Look) -> Look:
    """The look of the seeds behind a mean with this `look`."""
    return {"color": look["color"], **SEED}


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
