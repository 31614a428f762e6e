"""What the figures draw is what their tables say, in the look that the legend gives its name."""

import importlib

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import tasks
from tests.analysis.conftest import make_grid, write_all, write_tables
from workflow.analysis.figures import style
from workflow.analysis.table import read_csv
from workflow.grid import Grid

TABLES = ("ablation", "layer_transfer", "zero_shot", "pretraining", "cost_pretraining", "probes")
Points = set[tuple[float, float]]


@pytest.fixture(scope="module")
def grid() -> Grid:
    layers = {"transformer": ["none", 0, 6, 12], "lstm": ["none", 0, 1]}
    return make_grid("mnli", "race", "rte", layers=layers, shuffled=["words"])


@pytest.fixture(scope="module")
def tables(tmp_path_factory, grid) -> dict[str, pd.DataFrame]:
    """The tables as they are written and read, with intervals of other widths in every row."""
    results = tmp_path_factory.mktemp("drawn")
    write_all(results, grid)
    write_tables(results, grid, TABLES)
    found = {name: read_csv(results / f"{name}.csv") for name in TABLES}
    for name in ("ablation", "layer_transfer"):
        half = 1 + np.arange(len(found[name])) / 100
        mean = found[name]["mean"]
        found[name] = found[name].assign(ci_low=mean - half, ci_high=mean + half, sd=half / 3)
    return found


def drawn(name: str, grid: Grid, *shown: pd.DataFrame) -> Figure:
    module = importlib.import_module(f"workflow.analysis.figures.{name}")
    with matplotlib.rc_context(fname=style.STYLE):
        return module.draw(*shown, grid)


def legend(figure: Figure) -> dict[str, Line2D]:
    """The line that the legend shows for each name."""
    (box,) = figure.legends
    names = [text.get_text() for text in box.get_texts()]
    return dict(zip(names, box.legend_handles, strict=True))


def look(line: Line2D) -> tuple[str, str]:
    return to_hex(line.get_color()), line.get_linestyle()


def pairs(x: pd.Series, y: pd.Series) -> Points:
    """The points that have a value, rounded."""
    both = zip(map(float, x), map(float, y), strict=True)
    return {(round(a, 5), round(b, 5)) for a, b in both if not np.isnan([a, b]).any()}


def curve(ax: Axes, wanted: Line2D) -> Points:
    """The points of all lines that look as one of the legend does."""
    lines = [line for line in ax.lines if look(line) == look(wanted)]
    return set().union(*(pairs(*line.get_data()) for line in lines))


def corners(ax: Axes, line: Line2D) -> Points:
    """The corners of the bands of a line's colour."""
    bands = [c for c in ax.collections if isinstance(c, PolyCollection)]
    bands = [band for band in bands if to_hex(band.get_facecolor()[0]) == to_hex(line.get_color())]
    return {
        point for band in bands for path in band.get_paths() for point in pairs(*path.vertices.T)
    }


def strokes(ax: Axes, line: Line2D) -> list[tuple]:
    """The strokes of a line's colour, as pairs of ends."""
    found = [c for c in ax.collections if isinstance(c, LineCollection)]
    found = [c for c in found if to_hex(c.get_color()[0]) == to_hex(line.get_color())]
    return [tuple(map(tuple, ends)) for one in found for ends in one.get_segments()]


def test_ablation_draws_each_variant_and_baseline_as_its_legend_says(tables, grid):
    table = tables["ablation"]
    figure = drawn("ablation", grid, table)
    (ax,) = figure.axes
    titles = {tasks.task(name).title: name for name in grid.tasks} | {"mean of": "avg_all"}
    heads = [label.get_text().splitlines()[0] for label in ax.get_xticklabels()]
    at = {titles[head]: x for head, x in zip(heads, ax.get_xticks(), strict=True)}
    shown = legend(figure)
    variants = sorted({*shown} & {*table["variant"]})
    assert len(variants) == 5 and [*at] == ["avg_all", "mnli", "rte", "race"]
    for name in variants:
        rows = table[table["variant"] == name].set_index("task").loc[[*at]]
        filled = [line for line in ax.lines if look(line) == look(shown[name])]
        (dots,) = [line for line in filled if line.get_markerfacecolor() != "white"]
        assert list(dots.get_ydata()) == pytest.approx(list(rows["mean"]), nan_ok=True)
        assert np.abs(dots.get_xdata() - [*at.values()]).max() < 0.4
        bars = [(low[1], high[1]) for low, high in strokes(ax, shown[name])]
        assert sorted(bars) == sorted(map(tuple, rows[["ci_low", "ci_high"]].dropna().to_numpy()))
    for label, column in (("constant answer", "majority"), ("bag of words", "bag_of_words")):
        (name,) = [name for name in shown if name.startswith(label)]
        ends = strokes(ax, shown[name])
        expected = table.groupby("task")[column].first()
        drawn_at = {((left[0] + right[0]) / 2, left[1]) for left, right in ends}
        assert drawn_at == {(x, expected[task]) for task, x in at.items()}


CURVES = {  # of the legend: architecture, auxiliary loss, split
    "Transformer w/ aux LM": ("transformer", "on", "dev"),
    "Transformer w/ aux LM, training rows": ("transformer", "on", "train"),
    "Transformer w/o aux LM": ("transformer", "off", "dev"),
    "LSTM w/ aux LM": ("lstm", "on", "dev"),
}


@pytest.mark.parametrize(
    ("title", "task", "dev"),
    [
        ("RTE (dev)", "rte", "dev"),
        ("RACE (dev)", "race", "dev"),
        ("MNLI (dev matched)", "mnli", "dev_matched"),
        ("mean of 3 tasks", "mean", "reported"),
    ],
)
def test_layer_transfer_draws_each_curve_as_its_legend_says(title, task, dev, tables, grid):
    figure = drawn("layer_transfer", grid, tables["layer_transfer"])
    (ax,) = [ax for part in figure.subfigs for ax in part.axes if ax.get_title() == title]
    shown = legend(figure)
    assert shown.keys() == CURVES.keys()
    assert "mean over 3 seeds" in figure.legends[0].get_title().get_text()
    of_task = tables["layer_transfer"].set_index(["task", "arch", "aux", "split"])
    for name, (arch, aux, split) in CURVES.items():
        rows = of_task.loc[task, arch, aux, dev if split == "dev" else split]
        is_none = rows["n_transfer"] == "none"
        layers, none = rows[~is_none], rows[is_none]
        points = curve(ax, shown[name])
        expected = pairs(layers["n_transfer"], layers["mean"])
        assert {point for point in points if point[0] >= 0} == expected
        assert [y for x, y in points if x < 0] == [pytest.approx(none["mean"].item(), abs=1e-5)]
        if split == "dev":
            limits = [pairs(layers["n_transfer"], layers[end]) for end in ("ci_low", "ci_high")]
            assert set().union(*limits) <= corners(ax, shown[name])


def test_zero_shot_draws_each_task_and_model_as_its_legend_says(tables, grid):
    table = tables["zero_shot"]
    figure = drawn("zero_shot", grid, table)
    left, right = figure.axes
    shown = {name.split(" (")[0]: line for name, line in legend(figure).items()}
    for arch, label in (("transformer", "Transformer"), ("lstm", "LSTM")):
        for name in (*grid.zero_shot.tasks, "mean"):
            rows = table[(table["arch"] == arch) & (table["task"] == name)]
            ax, of_task = (right, None) if name == "mean" else (left, shown[tasks.task(name).title])
            colour = of_task.get_color() if of_task else style.BLACK
            wanted = Line2D([], [], color=colour, linestyle=shown[label].get_linestyle())
            assert curve(ax, wanted) == pairs(rows["update"], rows["relative"]), (name, arch)
            later = rows[rows["update"] > 0]
            for end in ("relative_low", "relative_high"):
                assert pairs(later["update"], later[end]) <= corners(ax, wanted)
    for ax in (left, right):  # a random guess
        chance = [line for line in ax.lines if to_hex(line.get_color()) == style.GREY.lower()]
        assert [list(line.get_ydata()) for line in chance] == [[0, 0]]


def test_pretraining_draws_each_model_as_its_legend_says(tables, grid):
    table, costs = tables["pretraining"], tables["cost_pretraining"]
    figure = drawn("pretraining", grid, table, costs)
    left, right = figure.axes[:2]
    for name, line in legend(figure).items():
        rows = table[table["arch"] == name.lower()]
        assert curve(left, line) == pairs(rows["update"], rows["mean"]), name
        later = rows[rows["update"] > 0]
        seconds = costs[costs["arch"] == name.lower()].groupby("update")["train_seconds"].mean()
        times = later["update"].map(seconds)
        assert curve(right, line) == pairs(times, later["mean"]), name
        for end in ("low", "high"):
            assert pairs(later["update"], later[end]) <= corners(left, line)


def test_probes_draw_each_model_as_its_legend_says_and_each_skills_own_chance(tables, grid):
    table = tables["probes"]
    figure = drawn("probes", grid, table)
    shown = legend(figure)
    models = {
        "Transformer": ("transformer", "books"),
        "LSTM": ("lstm", "books"),
        "Transformer, shuffled words": ("transformer", "shuffled"),
    }
    assert shown.keys() == {*models, "chance"}
    for ax in figure.axes:
        of_skill = table[table["skill"] == ax.get_title()]
        for name, (arch, corpus) in models.items():
            rows = of_skill[(of_skill["arch"] == arch) & (of_skill["corpus"] == corpus)]
            means = rows.groupby("tokens", as_index=False)["accuracy"].mean()
            assert curve(ax, shown[name]) == pairs(means["tokens"], means["accuracy"]), name
        (chance,) = [x for x in ax.lines if to_hex(x.get_color()) == style.GREY.lower()]
        assert list(chance.get_ydata()) == [25.0 if ax.get_title() == "reading" else 50.0] * 2


@pytest.mark.parametrize("shuffled", [["words"], []])
def test_a_control_is_in_the_figures_where_it_was_run(shuffled, tables, grid):
    grid = grid.model_copy(update={"shuffled": shuffled})
    name = "Transformer w/ aux LM, shuffled words"
    assert (name in legend(drawn("ablation", grid, tables["ablation"]))) == bool(shuffled)
    panels = drawn("differences", grid, tables["ablation"]).axes
    assert (name in [ax.get_title().replace("\n", " ") for ax in panels]) == bool(shuffled)
    assert len(panels) == 3 + len(shuffled)


def test_tokens_stand_above_the_updates_where_all_models_see_as_many(tables, grid):
    table, costs = tables["pretraining"], tables["cost_pretraining"]
    left, _, above = drawn("pretraining", grid, table, costs).axes
    assert above.get_xlim() == pytest.approx([2560 * x for x in left.get_xlim()])
    others = table["train_tokens"].where(table["arch"] == "lstm", 1.5 * table["train_tokens"])
    assert len(drawn("pretraining", grid, table.assign(train_tokens=others), costs).axes) == 2


def test_probes_are_drawn_against_updates_where_the_tokens_are_not_known(tables, grid):
    table = tables["probes"].assign(tokens=np.nan)
    curves = [line for line in drawn("probes", grid, table).axes[0].lines]
    later = sorted({*table["update"]} - {0})
    assert [list(line.get_xdata()) for line in curves].count(later) == 3
