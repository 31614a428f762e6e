"""A run whose figures are drawn, and what a panel shows, by colour and stroke."""

from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tests.analysis.conftest import make_grid, write_all, write_answers, write_tables
from workflow.analysis.figures import run, style
from workflow.analysis.table import read_csv
from workflow.grid import Grid

TABLES = ["ablation", "layer_transfer", "zero_shot", "pretraining", "cloze"]
Points = set[tuple[float, float]]


@pytest.fixture(scope="session")
def grid() -> Grid:
    layers = {"transformer": ["none", 0, 6, 12], "lstm": ["none", 0, 1]}
    return make_grid(
        "mnli",
        "race",
        "rte",
        "cola",
        layers=layers,
        controls=("shuffled", "sentences-shuffled", "permuted-embeddings"),
    )


@pytest.fixture(scope="session")
def results(tmp_path_factory, grid) -> Path:
    """A small run with predictions, so with intervals, and its tables."""
    folder = tmp_path_factory.mktemp("drawn")
    write_all(folder, grid)
    write_answers(folder, grid)
    write_tables(folder, grid, [*TABLES, "cost_pretraining"])
    return folder


@pytest.fixture(scope="session")
def tables(results) -> dict[str, pd.DataFrame]:
    found = {name: read_csv(results / f"{name}.csv") for name in [*TABLES, "cost_pretraining"]}
    of_colours = found["ablation"]["variant"].isin(style.VARIANTS)  # so that no two share one
    return found | {"ablation": found["ablation"][of_colours]}


def drawn(name: str, grid: Grid, *shown: pd.DataFrame) -> Figure:
    with matplotlib.rc_context(fname=style.STYLE):
        figure = getattr(run, name)(*shown, grid)
        style.note_empty(figure)
        return figure


def legend(figure: Figure) -> dict[str, Line2D]:
    """The line that the legend shows for each name."""
    (box,) = figure.legends
    names = [text.get_text() for text in box.get_texts()]
    return dict(zip(names, box.legend_handles, strict=True))


def pairs(x: pd.Series, y: pd.Series) -> Points:
    """The points that have a value, rounded."""
    both = zip(map(float, x), map(float, y), strict=True)
    return {(round(a, 4), round(b, 4)) for a, b in both if not np.isnan([a, b]).any()}


def curve(ax: Axes, color: str, linestyle: str = "-") -> Points:
    """The points of all lines of that colour and stroke."""
    wanted = to_hex(color), Line2D([], [], linestyle=linestyle).get_linestyle()
    lines = [ln for ln in ax.lines if (to_hex(ln.get_color()), ln.get_linestyle()) == wanted]
    return set().union(*(pairs(*line.get_data()) for line in lines))


def marks(ax: Axes, color: str, hollow: bool = False) -> Points:
    """The marks of that colour that no line joins, but for the seeds."""
    lines = [line for line in ax.lines if line.get_linestyle() == "None"]
    others = style.SEED["marker"], "<", ">"  # arrows are of intervals
    lines = [line for line in lines if line.get_marker() not in others]
    lines = [line for line in lines if (line.get_markerfacecolor() == "white") == hollow]
    lines = [line for line in lines if to_hex(line.get_color()) == to_hex(color)]
    return set().union(*(pairs(*line.get_data()) for line in lines))


def seeds(ax: Axes, color: str) -> Points:
    """The dots of the seeds of that colour."""
    lines = [line for line in ax.lines if line.get_marker() == style.SEED["marker"]]
    lines = [line for line in lines if to_hex(line.get_color()) == to_hex(color)]
    return set().union(*(pairs(*line.get_data()) for line in lines))


def each_seed(x: pd.Series, by_seed: pd.Series) -> Points:
    return {p for a, of in zip(x, by_seed, strict=True) for p in pairs([a] * len(of), of)}


def strokes(ax: Axes, color: str) -> list[tuple]:
    """The strokes of a colour, as pairs of ends."""
    found = [c for c in ax.collections if isinstance(c, LineCollection)]
    found = [c for c in found if to_hex(c.get_color()[0]) == to_hex(color)]
    return [tuple(map(tuple, ends)) for one in found for ends in one.get_segments()]


def band(ax: Axes, color: str) -> Points:
    """The corners of the bands of a colour."""
    found = [of for of in ax.collections if isinstance(of, PolyCollection)]
    found = [of for of in found if to_hex(of.get_facecolor()[0]) == to_hex(color)]
    return set().union(*(pairs(*path.vertices.T) for of in found for path in of.get_paths()))


def rows_of(table: pd.DataFrame, **wanted: str) -> pd.DataFrame:
    """The rows whose columns have these values."""
    return table[(table[list(wanted)] == pd.Series(wanted)).all(axis=1)]
