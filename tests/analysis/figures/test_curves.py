"""Curves over layers, updates and tokens: the tables' points, in the look of the legend."""

import itertools

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import tasks
from tests.analysis.conftest import make_grid
from tests.analysis.figures.conftest import (
    Points,
    band,
    curve,
    drawn,
    each_seed,
    legend,
    pairs,
    rows_of,
    seeds,
    strokes,
)
from tests.support.lines import line as a_line
from workflow.analysis.figures import style
from workflow.analysis.figures.lines import places, values_axis
from workflow.analysis.paper import LSTM
from workflow.grid import Point, StudyPlan


def is_sweep(
    ax: Axes, rows: pd.DataFrame, color: str, linestyle: str = "-", values=("none", "0", "6", "12")
) -> bool:
    """Whether a panel has the curve of these rows at the places of their values, but for a shift,
    and `none` apart from the others."""
    at = rows["value"].map(places(values, "n_transfer"))

    def unshifted(points: Points) -> Points:
        return {(round(x), y) for x, y in points}

    found = unshifted(curve(ax, color, linestyle)) == pairs(at, rows["mean"])
    if linestyle == "-":
        is_few = len(rows["by_seed"].iloc[0]) in style.FEW
        ends = set() if is_few else pairs(at, rows["ci_low"]) | pairs(at, rows["ci_high"])
        bars = unshifted({(x, round(y, 4)) for ends in strokes(ax, color) for x, y in ends})
        dots = each_seed(at, rows["by_seed"]) if is_few else set()
        drawn = unshifted(seeds(ax, color)), bars, unshifted(band(ax, color))
        found &= drawn[:2] == (dots, ends) and drawn[2] <= ends
    lines = [ln for ln in ax.lines if to_hex(ln.get_color()) == to_hex(color)]
    return found and not any({-1, 0} <= {*np.round(ln.get_xdata())} for ln in lines if joins(ln))


def joins(line: Line2D) -> bool:
    return line.get_linestyle() != "None"


@pytest.mark.parametrize(
    ("title", "task", "dev"),
    [
        ("RTE (accuracy, dev)", "rte", "dev"),
        ("RACE (accuracy, dev)", "race", "dev"),
        ("MNLI (accuracy, dev matched)", "mnli", "dev_matched"),
        ("mean of 4 tasks", "mean", "reported"),
    ],
)
def test_layer_transfer_draws_each_curve_as_its_legend_says(title, task, dev, tables, grid):
    table = tables["layer_transfer"].sort_values("n_transfer", ascending=False, kind="stable")
    figure = drawn("layer_transfer", grid, table)
    (ax,) = [ax for ax in figure.axes if ax.get_title() == title]
    of_task = rows_of(tables["layer_transfer"], task=task, arch="transformer")
    curves = {
        "Transformer w/ aux LM": ("on", dev),
        "the same, training rows": ("on", "train"),
        "Transformer w/o aux LM": ("off", dev),
    }
    assert curves.keys() < legend(figure).keys()
    for name, (aux, split) in curves.items():
        line = legend(figure)[name]
        rows = rows_of(of_task, aux=aux, split=split)
        assert is_sweep(ax, rows, line.get_color(), line.get_linestyle()), name


def test_the_points_of_a_curve_of_fewer_layers_are_not_joined(tables, grid):
    table = tables["layer_transfer"]
    few = table[(table["aux"] == "on") | (table["value"] != "6")]
    lines = legend(drawn("layer_transfer", grid, few))
    strokes = [lines[f"Transformer {name}"].get_linestyle() for name in ("w/ aux LM", "w/o aux LM")]
    assert strokes == ["-", "None"]


def test_an_lstm_of_six_seeds_alone_has_its_own_axis_bars_and_a_band(tables, grid):
    alone = make_grid("mnli", "race", "rte", "cola", arch=("lstm",), aux=("on",))
    table = rows_of(tables["layer_transfer"], arch="lstm")
    table = table.assign(by_seed=[2 * of for of in table["by_seed"]])
    figure = drawn("layer_transfer", alone, table)
    assert [*legend(figure)][:2] == [LSTM.title, "the same, training rows"]
    rows = rows_of(table, task="mean", aux="on", split="reported")
    color = style.VARIANTS[LSTM.title]["color"]
    assert is_sweep(figure.axes[0], rows, color, values=("none", "0", "1"))
    assert len(band(figure.axes[0], color)) > 3


def test_figure_2_has_the_layers_of_race_and_mnli_and_the_zero_shot_curves(tables, grid):
    figure = drawn("figure2", grid, tables["layer_transfer"], tables["zero_shot"])
    left, right = figure.axes
    strokes = [text.get_text() for text in left.get_legend().get_texts()]
    assert strokes == ["dev_matched, dev", "training rows"]
    colors = {text.get_text(): to_hex(text.arrow_patch.get_edgecolor()) for text in left.texts}
    for task, dev in (("mnli", "dev_matched"), ("race", "dev")):
        rows = rows_of(tables["layer_transfer"], task=task, arch="transformer", aux="on")
        color = colors[tasks.task(task).title]
        assert is_sweep(left, rows_of(rows, split=dev), color)
        assert is_sweep(left, rows_of(rows, split="train"), color, "--")
    assert {text.get_text() for text in right.texts} == {"CoLA", "SST-2", "RACE", "DPRD", "mean"}
    for name in (*grid.zero_shot.of("heuristic"), "mean"):
        assert_zero_shot(right, tables["zero_shot"], name)


def assert_zero_shot(ax: Axes, table: pd.DataFrame, name: str) -> None:
    for arch in ("transformer", "lstm"):
        rows = rows_of(table, arch=arch, task=name, scoring="heuristic")
        stroke = style.MODELS[arch]["linestyle"]
        found = curve(ax, style.TASKS[name]["color"], stroke)
        assert found == pairs(rows["update"], rows["relative"]), (name, arch)
        dots = each_seed(rows["update"], rows["relative_by_seed"])
        assert dots and dots <= seeds(ax, style.TASKS[name]["color"])


def test_zero_shot_draws_each_task_and_model_as_it_is_named(tables, grid):
    left, right, *families = drawn("zero_shot", grid, tables["zero_shot"]).axes
    heuristics = grid.zero_shot.of("heuristic")
    for name in (*heuristics, "mean"):
        assert_zero_shot(right if name == "mean" else left, tables["zero_shot"], name)
    named = {text.get_text(): to_hex(text.arrow_patch.get_edgecolor()) for text in left.texts}
    for name in heuristics:
        assert named[tasks.task(name).title] == to_hex(style.TASKS[name]["color"])
    for ax in (left, right):  # a random guess
        assert curve(ax, style.GREY) == {(0, 0), (1, 0)}
    prompted = {tasks.task(name).title: name for name in grid.zero_shot.of("prompt")}
    shown = {text.get_text(): (ax, text) for ax in families for text in ax.texts}
    assert shown.keys() == prompted.keys() == {"SST-2", "RACE", "SNLI", "QQP"}
    for title, (ax, text) in shown.items():
        for arch in ("transformer", "lstm"):
            where = {"arch": arch, "task": prompted[title], "scoring": "prompt"}
            rows, color = rows_of(tables["zero_shot"], **where), text.arrow_patch.get_edgecolor()
            found = curve(ax, to_hex(color), style.MODELS[arch]["linestyle"])
            assert found == pairs(rows["update"], rows["relative"]), (title, arch)


def test_pretraining_draws_each_model_and_the_tokens_where_all_see_as_many(tables, grid):
    table, costs = tables["pretraining"], tables["cost_pretraining"]
    left, right, above = drawn("pretraining", grid, table, costs).axes
    assert above.get_xlim() == pytest.approx([2560 * x for x in left.get_xlim()])  # tokens
    assert {text.get_text() for text in right.texts} == {"Transformer", "LSTM"}
    for arch, look in ((arch, style.MODELS[arch]) for arch in grid.arch):
        rows = table[table["arch"] == arch]
        assert curve(left, look["color"], look["linestyle"]) == pairs(rows["update"], rows["mean"])
        assert seeds(left, look["color"]) == each_seed(rows["update"], rows["by_seed"])
        later = rows[rows["update"] > 0]
        seconds = costs[costs["arch"] == arch].groupby("update")["train_seconds"].mean()
        times = later["update"].map(seconds)
        assert curve(right, look["color"], look["linestyle"]) == pairs(times, later["mean"])
    others = table["train_tokens"].where(table["arch"] == "lstm", 1.5 * table["train_tokens"])
    assert len(drawn("pretraining", grid, table.assign(train_tokens=others), costs).axes) == 2


@pytest.mark.parametrize("copies", [1, 3])  # of two seeds: dots, or a band
def test_cloze_items_draw_each_model_and_chance_from_the_skill_that_is_known_best(
    copies, tables, grid
):
    table = tables["cloze"]
    table = pd.concat(table.assign(accuracy=table["accuracy"] - i) for i in range(copies))
    figure = drawn("cloze", grid, table)
    shown = legend(figure)
    models = {
        "Transformer": ("transformer", "books"),
        "LSTM": ("lstm", "books"),
        "Transformer, shuffled words": ("transformer", "shuffled"),
        "Transformer, shuffled sentences": ("transformer", "sentences-shuffled"),
    }
    assert shown.keys() == {*models, "chance"}
    last = rows_of(table, arch="transformer", corpus="books")
    last = last[last["update"] == 3000].groupby("skill")["accuracy"].mean()
    titles = [ax.get_title() for ax in figure.axes if ax.get_title()]
    assert titles == list(last.sort_values(ascending=False).index)
    for ax, skill in zip(figure.axes[: len(titles)], titles, strict=True):
        for name, (arch, corpus) in models.items():
            rows = rows_of(table, skill=skill, arch=arch, corpus=corpus)
            color, scores = shown[name].get_color(), rows.groupby("tokens")["accuracy"]
            low, mean, high = (
                pairs(of.index, of) for of in map(scores.agg, ("min", "mean", "max"))
            )
            assert curve(ax, color, shown[name].get_linestyle()) == mean, name
            dots, ends = pairs(rows["tokens"], rows["accuracy"]), low | high
            found = seeds(ax, color), band(ax, color)
            assert found == ((dots, set()) if copies == 1 else (set(), ends))
        assert {y for _, y in curve(ax, style.GREY)} == {25.0 if skill == "reading" else 50.0}


def test_an_lstm_of_shuffled_books_has_its_colour_and_the_controls_stroke():
    models = {(a, c): style.model(a, c) for a in style.MODELS for c in ("books", *style.CONTROLS)}
    look = models["lstm", "shuffled"]
    assert (look["label"], look["color"]) == ("LSTM, shuffled words", style.MODELS["lstm"]["color"])
    of_control = style.model("transformer", "shuffled")
    assert all(look[name] == of_control[name] for name in ("linestyle", "marker"))
    assert len({(of["color"], str(of["linestyle"])) for of in models.values()}) == len(models)


def test_cloze_items_are_drawn_against_updates_where_the_tokens_are_not_known(tables, grid):
    table = tables["cloze"].assign(tokens=np.nan)
    curves = [line for line in drawn("cloze", grid, table).axes[0].lines]
    later = sorted({*table["update"]} - {0})
    assert [list(line.get_xdata()) for line in curves].count(later) == 4


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1, 1000, [1, 10, 100, 1000]),  # long
        (2, 1000, [2, 5, 10, 20, 50, 100, 200, 500, 1000]),
        (20, 50, [20, 30, 40, 50]),  # short
        (0.01, 0.02, [0.01, 0.012, 0.014, 0.016, 0.018, 0.02]),
    ],
)
def test_a_log_axis_has_round_ticks(low, high, expected):
    ax = Figure().add_subplot()
    ax.set(xscale="log", xlim=(low, high))
    style._log_ticks(ax.xaxis, low, high)
    ticks = [tick for tick in ax.get_xticks() if low <= tick <= high * 1.001]
    assert ticks == pytest.approx(expected)


@pytest.mark.parametrize(
    "values",
    [["0", "50", "97", "186", "360", "695", "1341", "2590", "5000"], [*map(str, range(13))]],
)
def test_the_values_below_a_small_panel_do_not_run_into_each_other(values):
    points = [Point(line="full", of=a_line("transformer"), value=value) for value in values]
    study = StudyPlan(title="", axis="checkpoint", tasks=["rte"], points=points)
    with matplotlib.rc_context(fname=style.STYLE):
        ax = Figure(figsize=(13, 3.7), layout="constrained").subplots(1, 5)[0]
        ax.set_ylabel("score")
        values_axis(ax, study, values)
        ax.figure.draw_without_rendering()
    shown = [text.get_window_extent() for text in ax.get_xticklabels()]
    are_apart = all(box.x1 < after.x0 for box, after in itertools.pairwise(shown))
    assert len(shown) > 3 and (are_apart or ax.get_xticklabels()[0].get_rotation() == 30)


@pytest.mark.parametrize(
    ("values", "axis", "at"),
    [
        (["none", "0", "4", "8", "12"], "n_transfer", [-1.0, 0, 1, 2, 3]),
        (["0", "2", "4", "8", "12"], "n_transfer", [0, 1, 2, 4, 6]),
        (["12", "2", "5"], "n_layer", [10 / 3, 0, 1]),
        (["2"], "read_layer", [0]),
        (["2", "null"], "read_layer", [0, 1]),
        (["0", "0.1", "0.5"], "lm_coef", [0, 1, 2]),
    ],
)
def test_layers_are_placed_to_scale_and_other_values_evenly(values, axis, at):
    assert [places(values, axis)[value] for value in values] == pytest.approx(at)
