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
Points = list[tuple[float, float]]


@pytest.fixture(scope="module")
def grid() -> Grid:
    layers = {"transformer": ["none", 0, 6, 12], "lstm": ["none", 0, 1]}
    return make_grid("mnli", "race", "rte", layers=layers, shuffled=True)


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


def curve(ax: Axes, wanted: tuple[str, str]) -> Points:
    """The points of all lines of a look."""
    lines = [line for line in ax.lines if look(line) == wanted]
    pairs = [zip(*line.get_data(), strict=True) for line in lines]
    return [tuple(map(float, pair)) for each in pairs for pair in each]


def corners(ax: Axes, colour: str) -> set[tuple[float, float]]:
    """The corners of the bands of a colour."""
    bands = [c for c in ax.collections if isinstance(c, PolyCollection)]
    bands = [band for band in bands if to_hex(band.get_facecolor()[0]) == colour]
    vertices = [path.vertices for band in bands for path in band.get_paths()]
    return {(round(x, 6), round(y, 6)) for part in vertices for x, y in part.tolist()}


def upright(ax: Axes) -> list[tuple[float, tuple[float, float]]]:
    """The upright strokes of a panel: where they stand, and their ends."""
    strokes = [one for one in ax.collections if isinstance(one, LineCollection)]
    ends = [end for one in strokes for end in one.get_segments()]
    return [(x0, (y0, y1)) for (x0, y0), (x1, y1) in ends if x0 == x1 and y0 != y1]


def limits(x: pd.Series, low: pd.Series, high: pd.Series) -> set[tuple[float, float]]:
    return {(round(a, 6), round(b, 6)) for y in (low, high) for a, b in zip(x, y, strict=True)}


def close(found: Points, x: pd.Series, y: pd.Series) -> bool:
    expected = sorted(zip(x.astype(float), y, strict=True))
    return len(found) == len(expected) and np.allclose(sorted(found), expected)


def test_ablation_draws_each_variant_and_baseline_as_its_legend_says(tables, grid):
    table = tables["ablation"]
    figure = drawn("ablation", grid, table)
    (ax,) = figure.axes
    titles = {tasks.task(name).title: name for name in grid.tasks} | {"mean of": "avg_all"}
    heads = [label.get_text().splitlines()[0] for label in ax.get_xticklabels()]
    groups = dict(zip(ax.get_xticks(), (titles[head] for head in heads), strict=True))
    names = {
        (to_hex(line.get_color()), line.get_marker()): name
        for name, line in legend(figure).items()
        if line.get_marker() != "None"
    }
    rows = table.set_index(["variant", "task"])
    seen = set()
    dots = [line for line in ax.lines if line.get_marker() != "None" and len(line.get_xdata())]
    for dot in (line for line in dots if line.get_markerfacecolor() != "white"):
        ((x, y),) = zip(*dot.get_data(), strict=True)
        if np.isnan(y):  # not run
            continue
        nearest = np.abs(np.array(list(groups)) - x).argmin()
        name = names[to_hex(dot.get_color()), dot.get_marker()], list(groups.values())[nearest]
        expected = rows.loc[name, ["mean", "ci_low", "ci_high"]].astype(float)
        ((low, high),) = [ends for at, ends in upright(ax) if at == x]
        assert [y, low, high] == pytest.approx(list(expected)), name
        seen.add(name)
    ran = rows.index[rows["mean"].notna()]
    assert seen == {(v, t) for v, t in ran if v in names.values() and t in groups.values()}
    assert len(seen) == 4 * 4 + 4  # the control's cells as well


def test_ablation_draws_each_baseline_at_its_own_score(tables, grid):
    table = tables["ablation"]
    figure = drawn("ablation", grid, table)
    (ax,) = figure.axes
    looks = {
        to_hex(line.get_color()): name
        for name, line in legend(figure).items()
        if line.get_marker() == "None"
    }
    strokes: dict[str, set[float]] = {}
    for stroke in (c for c in ax.collections if isinstance(c, LineCollection)):
        for (x0, y0), (x1, y1) in stroke.get_segments():
            if y0 == y1 and x0 != x1:
                strokes.setdefault(to_hex(stroke.get_color()[0]), set()).add(round(y0, 4))
    named = {looks[colour]: values for colour, values in strokes.items()}
    for name, column in (("constant answer", "majority"), ("bag of words", "bag_of_words")):
        (found,) = [values for label, values in named.items() if label.startswith(name)]
        assert found == set(table[column].dropna().round(4)), name


CURVES = {  # of the legend: architecture, auxiliary loss, split
    "Transformer w/ aux LM": ("transformer", "on", "dev"),
    "Transformer w/ aux LM, training rows": ("transformer", "on", "train"),
    "Transformer w/o aux LM": ("transformer", "off", "dev"),
    "LSTM w/ aux LM": ("lstm", "on", "dev"),
}


def test_layer_transfer_draws_each_curve_as_its_legend_says(tables, grid):
    table = tables["layer_transfer"]
    figure = drawn("layer_transfer", grid, table)
    panels = {ax.get_title(): ax for part in figure.subfigs for ax in part.axes}
    looks = {name: look(line) for name, line in legend(figure).items()}
    assert looks.keys() == CURVES.keys() and len(set(looks.values())) == 4
    assert "mean over 3 seeds" in figure.legends[0].get_title().get_text()
    for title, task, dev in (
        ("RTE (dev)", "rte", "dev"),
        ("RACE (dev)", "race", "dev"),
        ("MNLI (dev matched)", "mnli", "dev_matched"),
        ("mean of 3 tasks", "mean", "reported"),
    ):
        ax, of_task = panels[title], table[table["task"] == task]
        for name, (arch, aux, split) in CURVES.items():
            rows = of_task[(of_task["arch"] == arch) & (of_task["aux"] == aux)]
            rows = rows[rows["split"] == (dev if split == "dev" else split)]
            layers = rows[rows["n_transfer"] != "none"]
            none, *others = sorted(curve(ax, looks[name]))
            assert close(others, layers["n_transfer"], layers["mean"]), (title, name)
            lone = rows.loc[rows["n_transfer"] == "none", "mean"].item()
            assert none[0] < 0 and none[1] == pytest.approx(lone)
            band = limits(layers["n_transfer"].astype(float), layers["ci_low"], layers["ci_high"])
            if split == "dev":
                assert band <= corners(ax, looks[name][0]), (title, name)


def test_zero_shot_draws_each_task_and_model_as_its_legend_says(tables, grid):
    table = tables["zero_shot"]
    figure = drawn("zero_shot", grid, table)
    left, right = figure.axes
    shown = {name.split(" (")[0]: line for name, line in legend(figure).items()}
    archs = {"transformer": shown["Transformer"], "lstm": shown["LSTM"]}
    for name in (*grid.zero_shot.tasks, "mean"):
        colour = style.BLACK if name == "mean" else shown[tasks.task(name).title].get_color()
        ax, of_task = right if name == "mean" else left, table[table["task"] == name]
        expected = set()
        for arch, line in archs.items():
            rows = of_task[of_task["arch"] == arch]
            found = curve(ax, (to_hex(colour), line.get_linestyle()))
            assert close(found, rows["update"], rows["relative"]), (name, arch)
            later = rows[rows["update"] > 0]
            expected |= limits(later["update"], later["relative_low"], later["relative_high"])
        assert expected <= corners(ax, to_hex(colour)), name
    for ax in (left, right):  # a random guess
        chance = [line for line in ax.lines if to_hex(line.get_color()) == style.GREY.lower()]
        assert [list(line.get_ydata()) for line in chance] == [[0, 0]]


def test_pretraining_draws_each_model_as_its_legend_says(tables, grid):
    table, costs = tables["pretraining"], tables["cost_pretraining"]
    figure = drawn("pretraining", grid, table, costs)
    left, right = figure.axes[:2]
    for name, line in legend(figure).items():
        rows = table[table["arch"] == name.lower()]
        assert close(curve(left, look(line)), rows["update"], rows["mean"]), name
        later = rows[rows["update"] > 0]
        seconds = costs[costs["arch"] == name.lower()].groupby("update")["train_seconds"].mean()
        times = later["update"].map(seconds)
        assert close(curve(right, look(line)), times, later["mean"]), name
        assert limits(later["update"], later["low"], later["high"]) <= corners(
            left, to_hex(line.get_color())
        )


def test_probes_draw_each_model_as_its_legend_says_and_each_skills_own_chance(tables, grid):
    table = tables["probes"]
    figure = drawn("probes", grid, table)
    panels = {ax.get_title(): ax for ax in figure.axes if ax.get_title()}
    shown = legend(figure)
    models = {
        "Transformer": ("transformer", "books"),
        "LSTM": ("lstm", "books"),
        "Transformer, shuffled books": ("transformer", "shuffled"),
    }
    assert shown.keys() == {*models, "chance"}
    for skill, ax in panels.items():
        of_skill = table[table["skill"] == skill]
        for name, (arch, corpus) in models.items():
            rows = of_skill[(of_skill["arch"] == arch) & (of_skill["corpus"] == corpus)]
            means = rows.groupby("tokens", as_index=False)["accuracy"].mean()
            found = curve(ax, look(shown[name]))
            assert close(found, means["tokens"], means["accuracy"]), (skill, name)
        (chance,) = [x for x in ax.lines if to_hex(x.get_color()) == style.GREY.lower()]
        assert list(chance.get_ydata()) == [25.0 if skill == "reading" else 50.0] * 2


@pytest.mark.parametrize("shuffled", [True, False])
def test_the_control_is_in_the_figures_where_it_was_run(shuffled, tables, grid):
    grid = grid.model_copy(update={"shuffled": shuffled})
    name = "Transformer w/ aux LM, shuffled books"
    assert (name in legend(drawn("ablation", grid, tables["ablation"]))) == shuffled
    panels = drawn("differences", grid, tables["ablation"]).axes
    assert (name in [ax.get_title().replace("\n", " ") for ax in panels]) == shuffled
    assert len(panels) == 3 + shuffled


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
