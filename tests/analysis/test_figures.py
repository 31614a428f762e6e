"""The figures of a run where golden's has nothing to show, and the looks that all share."""

import itertools
import re
import shutil
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
from tests.support.variants import variant as a_variant
from tests.workflow.configs import small
from workflow.analysis import figures
from workflow.analysis.figures import run, style
from workflow.analysis.figures.lines import places, values_axis
from workflow.analysis.paper import FULL, LSTM, SHUFFLED
from workflow.analysis.report import make
from workflow.analysis.table import read_csv
from workflow.configuration.read import parse
from workflow.grid import Grid, Point, StudyPlan
from workflow.plan import Plan
from workflow.studies import MOST

TABLES = ["ablation", "layer_transfer", "zero_shot", "pretraining", "cloze"]
Points = set[tuple[float, float]]


@pytest.fixture(scope="module")
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


@pytest.fixture(scope="module")
def results(tmp_path_factory, grid) -> Path:
    """A small run with predictions, so with intervals, and its tables."""
    folder = tmp_path_factory.mktemp("drawn")
    write_all(folder, grid)
    write_answers(folder, grid)
    write_tables(folder, grid, [*TABLES, "cost_pretraining"])
    return folder


@pytest.fixture(scope="module")
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


def hollow_marks(ax: Axes) -> list[tuple[float, float]]:
    """The places of the marks that are hollow: what the paper printed."""
    lines = [line for line in ax.lines if line.get_markerfacecolor() == "white"]
    return [point for line in lines for point in pairs(*line.get_data())]


def seeds(ax: Axes, color: str) -> Points:
    """The dots of the seeds of that colour."""
    lines = [line for line in ax.lines if line.get_marker() == style.SEED["marker"]]
    lines = [line for line in lines if to_hex(line.get_color()) == to_hex(color)]
    return set().union(*(pairs(*line.get_data()) for line in lines))


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


def test_the_bytes_of_a_figure_depend_on_its_tables_alone(results, grid, tmp_path):
    for table in figures.TABLES["figure2"]:
        shutil.copy(results / f"{table}.csv", tmp_path)

    def draw() -> list[bytes]:
        make("figures/figure2.png", tmp_path, grid)
        return [
            (tmp_path / f"figures/figure2.{form}").read_bytes() for form in ("png", "svg", "pdf")
        ]

    made = draw()
    matplotlib.rcParams["font.size"] = 3  # what another program set must not matter
    try:
        assert draw() == made
    finally:
        matplotlib.rcdefaults()
    for content, start in zip(made, (b"\x89PNG", b"<?xml", b"%PDF"), strict=True):
        assert content.startswith(start) and len(content) > 10_000
    assert not re.search(rb"dc:date|Software|CreationDate|Matplotlib", b"".join(made))


@pytest.mark.parametrize("name", figures.TABLES)
def test_the_figure_of_a_run_without_any_result_says_so(name, tables, grid):
    shown = []
    for table in figures.TABLES[name]:
        frame = tables[table]
        known = frame.columns.intersection(["update", "paper", "n_transfer", "majority"])
        numbers = frame.select_dtypes("number").columns.difference(known)
        frame = frame.assign(**dict.fromkeys(numbers, np.nan))
        lists = [column for column in frame if column.endswith("by_seed")]
        shown.append(frame.assign(**{column: [()] * len(frame) for column in lists}))
    figure = drawn(name, grid, *shown)
    parts = figure.subfigs or [figure]
    texts = {text.get_text() for part in parts for ax in part.axes for text in ax.texts}
    assert "not run" in texts


@pytest.mark.parametrize(("n", "dots", "bars"), [(1, 0, 1), (2, 2, 0), (4, 4, 0), (5, 0, 1)])
def test_few_seeds_are_dots_and_many_have_their_interval(n, dots, bars):
    values = tuple(map(float, range(n)))
    estimates = pd.DataFrame({"mean": [2.0], "low": [-1.0], "high": [7.0], "by_seed": [values]})
    ax = Figure().add_subplot()
    style.points(ax, [3.0], estimates, color="black", marker="o")
    assert seeds(ax, "black") == {(3.0, value) for value in values[:dots]}
    assert len(strokes(ax, "black")) == bars


def test_names_of_curves_stand_apart_in_the_order_of_their_ends():
    ax = Figure().add_subplot()
    x = pd.Series([1.0, 2.0, 3.0])
    ends = {"a": [0, 1, 5.0], "b": [0, 1, 5.1], "c": [9, 9, np.nan], "d": [0, 0, 0.0]}
    curves = [(name, x, pd.Series(y), {"color": "red"}) for name, y in ends.items()]
    for _, _, y, _ in curves:
        ax.plot(x, y)
    style.label_ends(ax, [*curves, ("nothing", x, x * np.nan, {"color": "red"})])
    heights = {text.get_text(): text.xyann[1] for text in ax.texts}
    assert sorted(heights, key=heights.__getitem__) == ["d", "a", "b", "c"]
    assert np.diff(sorted(heights.values())).min() >= style.LABEL - 1e-9
    assert max(heights.values()) <= 1
    assert {text.get_text(): text.xy for text in ax.texts}["c"] == (2, 9)


def test_an_interval_that_is_longer_than_the_axis_ends_in_an_arrow(tables, grid):
    ax, *_ = drawn("differences", grid, tables["ablation"].assign(diff_low=-150, diff_high=5)).axes
    left, right = ([*line.get_data()] for line in ax.lines if line.get_marker() in ("<", ">"))
    assert set(left[0]) == {-110.0} and list(left[1]) == list(ax.get_yticks())
    assert not len(right[0])


@pytest.mark.parametrize("synthetic", [["rte"], ["rte", "cola"], ["mnli", "race", "rte", "cola"]])
def test_the_papers_hollow_marks_stand_beside_real_rows_alone(synthetic, tables, grid):
    some = grid.model_copy(update={"synthetic": synthetic})
    printed = tables["ablation"].pivot(index="variant", columns="task", values="paper")
    printed = printed[[name for name in grid.tasks if name not in synthetic]]
    gaps = (printed - printed.loc[FULL.title]).drop(FULL.title)
    for name, of, axis in (("ablation", printed, 1), ("differences", gaps, 0)):
        panels = drawn(name, some, tables["ablation"]).axes
        found = [mark[axis] for ax in panels for mark in hollow_marks(ax)]
        assert sorted(found) == pytest.approx(sorted(of.stack().dropna()))


def test_no_two_lines_look_the_same_and_those_of_table_5_look_as_ever():
    for others in ([], style.VARIANTS):
        looks = style.looks([*(f"mine {i}" for i in range(MOST - len(others))), *others])
        assert len({*map(str, looks.values())}) == len(looks) == MOST
    assert style.VARIANTS.items() <= looks.items()


def test_more_than_six_differences_stand_in_rows_and_one_seed_has_no_interval(tables, grid):
    table = tables["ablation"]
    mine = table[table["variant"] == SHUFFLED.title].assign(variant="mine")
    seeds = grid.seeds.model_copy(update={"finetune": [0]})
    some = grid.model_copy(update={"seeds": seeds})
    figure = drawn("differences", some, pd.concat([table, mine]))
    places = [ax.get_subplotspec() for ax in figure.axes if ax.axison]
    assert [place.rowspan.start for place in places] == [0, 0, 0, 0, 1, 1, 1]
    assert "one seed" in legend(figure)


def test_a_panel_that_is_cut_says_so_and_no_other_one_cuts_it(tables, grid):
    table = tables["zero_shot"]
    for lowest in (-0.2, -0.4, -3.0):  # of a panel that is on the right of its row
        is_low = (table["task"] == "qqp") & (table["update"] < 60)
        changed = table.assign(relative=table["relative"].mask(is_low, lowest))
        panels = drawn("zero_shot", grid, changed).axes
        cut = [
            ax.get_title() for ax in panels for text in ax.texts if text.get_text() == "cut at -0.5"
        ]
        assert cut == ["prompts: similarity"] * (lowest < -0.5)
        (similar,) = [ax for ax in panels if ax.get_title() == "prompts: similarity"]
        assert similar.get_ylim()[0] <= max(lowest, -0.5)


def test_the_points_of_a_curve_of_fewer_layers_are_not_joined(tables, grid):
    table = tables["layer_transfer"]
    few = table[(table["aux"] == "on") | (table["value"] != "6")]
    lines = legend(drawn("layer_transfer", grid, few))
    strokes = [lines[f"Transformer {name}"].get_linestyle() for name in ("w/ aux LM", "w/o aux LM")]
    assert strokes == ["-", "None"]


def test_an_lstm_of_six_seeds_alone_has_its_own_axis_bars_and_a_band(tables, grid):
    alone = make_grid("mnli", "race", "rte", "cola", arch=("lstm",), aux=("on",))
    table = tables["layer_transfer"].query("arch == 'lstm'")
    table = table.assign(by_seed=[2 * of for of in table["by_seed"]])
    figure = drawn("layer_transfer", alone, table)
    assert [*legend(figure)][:2] == [LSTM.title, "the same, training rows"]
    rows = table.query("task == 'mean' and aux == 'on' and split == 'reported'")
    at = rows["value"].map(places(("none", "0", "1"), "n_transfer"))
    ax, color = figure.axes[0], style.VARIANTS[LSTM.title]["color"]
    ends = {(x, round(y, 4)) for stroke in strokes(ax, color) for x, y in stroke}
    assert ends == pairs(at, rows["ci_low"]) | pairs(at, rows["ci_high"])
    assert len(band(ax, color)) > 3 and not seeds(ax, color)


def test_models_that_see_unlike_numbers_of_tokens_have_no_axis_of_them(tables, grid):
    costs = tables["cost_pretraining"]
    for more, n in ((1, 3), (1.5, 2)):
        is_lstm = tables["pretraining"]["arch"] == "lstm"
        tokens = tables["pretraining"]["train_tokens"] * is_lstm.map({True: more, False: 1})
        table = tables["pretraining"].assign(train_tokens=tokens)
        assert len(drawn("pretraining", grid, table, costs).axes) == n


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
    points = [Point(line="full", variant=a_variant("transformer"), value=value) for value in values]
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


def test_figure_2_has_no_place_for_the_layers_of_the_other_architecture():
    grid = Plan(parse(small())).grid()
    assert "1" in grid.studies["layer_transfer"].values  # the LSTM's
    assert run._swept(grid).values == ["none", "0", "5", "9", "12"]
