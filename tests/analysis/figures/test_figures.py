"""The figures: what they draw is what their tables say, in the look that the legend gives it."""

import importlib
import re
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import tasks
from tests.analysis.conftest import make_grid, write_all, write_answers, write_tables
from workflow.analysis import figures
from workflow.analysis.figures import matrix, style
from workflow.analysis.figures.lines import places
from workflow.analysis.make_figure import main
from workflow.analysis.paper import FULL, LSTM, NO_AUX, SHUFFLED
from workflow.analysis.table import read_csv
from workflow.grid import Grid

SHOWN = {  # where it is not the table of the figure's name
    "figure2": ["layer_transfer", "zero_shot"],
    "pretraining": ["pretraining", "cost_pretraining"],
    "differences": ["ablation"],
    "aux_gain": ["ablation"],
    "heat_map": ["layer_transfer"],
}
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
    module = importlib.import_module(f"workflow.analysis.figures.{name}")
    with matplotlib.rc_context(fname=style.STYLE):
        figure = module.draw(*shown, grid)
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


def test_the_bytes_of_a_figure_depend_on_its_tables_alone(results, grid, tmp_path):
    shown = [str(results / f"{table}.csv") for table in SHOWN["figure2"]]

    def draw(folder: str) -> list[bytes]:
        out = tmp_path / folder / "figure2.png"
        main(["figure2", "--tables", *shown, "--grid", grid.to_json(), "--out", str(out)])
        return [out.with_suffix(f".{form}").read_bytes() for form in ("png", "svg", "pdf")]

    made = draw("a")
    matplotlib.rcParams["font.size"] = 3  # what another program set must not matter
    try:
        assert draw("b") == made
    finally:
        matplotlib.rcdefaults()
    for content, start in zip(made, (b"\x89PNG", b"<?xml", b"%PDF"), strict=True):
        assert content.startswith(start) and len(content) > 10_000
    assert not re.search(rb"dc:date|Software|CreationDate|Matplotlib", b"".join(made))


@pytest.mark.parametrize("name", sorted({*figures.names()} - {"heat_map"}))
def test_the_figure_of_a_run_without_any_result_says_so(name, tables, grid):
    shown = []
    for table in SHOWN.get(name, [name]):
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
    style.points(ax, [3.0], estimates, bars=True, color="red", marker="o")
    assert strokes(ax, "red") == [((3, -1), (3, 7))]


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


def test_ablation_draws_each_variant_and_baseline_as_its_legend_says(tables, grid):
    table = tables["ablation"]
    figure = drawn("ablation", grid, table)
    (ax,) = figure.axes
    titles = {tasks.task(name).title: name for name in grid.tasks} | {"mean of": "avg_all"}
    heads = [label.get_text().splitlines()[0] for label in ax.get_xticklabels()]
    at = {titles[head]: x for head, x in zip(heads, ax.get_xticks(), strict=True)}
    shown = legend(figure)
    assert [*at] == ["avg_all", "cola", "mnli", "rte", "race"]
    assert len({*shown} & {*table["variant"]}) == 7
    for name in {*shown} & {*table["variant"]}:
        rows = table[table["variant"] == name].set_index("task").loc[[*at]]
        found = sorted(marks(ax, shown[name].get_color()))
        assert [y for _, y in found] == pytest.approx(list(rows["mean"]), abs=1e-4)
        assert np.abs([x for x, _ in found] - np.array([*at.values()])).max() < 0.4
        dots = each_seed([x for x, _ in found], rows["by_seed"])
        assert seeds(ax, shown[name].get_color()) == dots and len(dots) > 10
    for label, column in (("constant answer", "majority"), ("bag of words", "bag_of_words")):
        (line,) = [line for name, line in shown.items() if name.startswith(label)]
        expected = table.groupby("task")[column].first()
        ends = strokes(ax, line.get_color())
        drawn_at = {((left[0] + right[0]) / 2, left[1]) for left, right in ends}
        assert drawn_at == {(x, expected[task]) for task, x in at.items()}


def test_differences_are_the_tables_with_its_intervals_and_the_papers_hollow(tables, grid):
    table = tables["ablation"]
    panels = drawn("differences", grid, table).axes
    variants = [ax.get_title().replace("\n", " ") for ax in panels]
    assert len(panels) == 6 and variants[-3] == SHUFFLED.title
    lines = [label.get_text() for label in panels[0].get_yticklabels()]
    assert lines == ["mean of 4 tasks", "CoLA", "MNLI", "RTE", "RACE"]
    printed = table.pivot(index="variant", columns="task", values="paper")
    for ax, variant in zip(panels, variants, strict=True):
        color = style.VARIANTS[variant]["color"]
        rows = table[table["variant"] == variant].set_index("task")
        rows = rows.loc[["avg_all", "cola", "mnli", "rte", "race"]]
        at = ax.get_yticks()
        assert marks(ax, color) == pairs(rows["diff"], at)
        ends = [(low, high) for (low, _), (high, _) in strokes(ax, color)]
        assert ends == list(zip(rows["diff_low"], rows["diff_high"], strict=True))
        lower = {(x, y) for y, x in each_seed(at + style.APART, rows["diff_by_seed"])}
        assert seeds(ax, color) == lower
        paper = (printed.loc[variant] - printed.loc[FULL.title])[rows.index]
        assert marks(ax, color, hollow=True) == pairs(paper, at - style.APART)


def test_an_interval_that_is_longer_than_the_axis_ends_in_an_arrow(tables, grid):
    ax, *_ = drawn("differences", grid, tables["ablation"].assign(diff_low=-150, diff_high=5)).axes
    left, right = ([*line.get_data()] for line in ax.lines if line.get_marker() in ("<", ">"))
    assert set(left[0]) == {-110.0} and list(left[1]) == list(ax.get_yticks())
    assert not len(right[0])


def test_the_auxiliary_gain_is_full_minus_without_by_the_number_of_training_rows(tables, grid):
    sizes = {"rte": 200, "cola": 7000, "mnli": 500, "race": 600}
    table = tables["ablation"].assign(train_rows=tables["ablation"]["task"].map(sizes))
    (ax,) = drawn("aux_gain", grid, table).axes
    lines = [label.get_text() for label in ax.get_yticklabels()]
    assert lines == ["RTE (200)", "MNLI (500)", "RACE (600)", "CoLA (7,000)"]
    rows = table[table["variant"] == NO_AUX.title].set_index("task")
    rows = rows.loc[["rte", "mnli", "race", "cola"]]
    full = table[table["variant"] == FULL.title].set_index("task").loc[rows.index]
    color = style.VARIANTS[NO_AUX.title]["color"]
    means = [x for x, _ in sorted(marks(ax, color), key=lambda mark: mark[1])]
    assert means == pytest.approx(list(full["mean"] - rows["mean"]), abs=1e-3)
    ends = [(low, high) for (low, _), (high, _) in strokes(ax, color)]
    assert ends == list(zip(-rows["diff_high"], -rows["diff_low"], strict=True))
    paper = {"rte": 56.0 - 54.4, "cola": 45.4 - 47.9, "mnli": 81.8 - 81.1}
    hollow = pairs(rows.index.map(paper), ax.get_yticks() - style.APART)
    assert marks(ax, color, hollow=True) == hollow


@pytest.mark.parametrize("synthetic", [["rte"], ["rte", "cola"], ["mnli", "race", "rte", "cola"]])
def test_the_papers_marks_stand_beside_real_rows_alone(synthetic, tables, grid):
    some = grid.model_copy(update={"synthetic": synthetic})
    printed = tables["ablation"].pivot(index="variant", columns="task", values="paper")
    printed = printed[[name for name in grid.tasks if name not in synthetic]]
    expected = {
        "ablation": printed.notna().sum().sum(),
        "differences": (printed - printed.loc[FULL.title]).drop(FULL.title).notna().sum().sum(),
        "aux_gain": printed.loc[NO_AUX.title].notna().sum(),
    }
    colors = [look["color"] for look in style.VARIANTS.values()]
    for name, n in expected.items():
        panels = drawn(name, some, tables["ablation"]).axes
        assert sum(len(marks(ax, c, hollow=True)) for ax in panels for c in colors) == n


def test_no_two_lines_look_the_same_and_those_of_table_5_look_as_ever():
    own = [f"mine {i}" for i in range(20)]
    looks = style.looks([*own, *style.VARIANTS])
    assert len({*map(str, looks.values())}) == len(looks) == 20 + len(style.VARIANTS)
    assert style.VARIANTS.items() <= looks.items()


@pytest.mark.parametrize("run", [True, False])
def test_a_control_is_in_the_figures_where_it_was_run(run, tables, grid):
    table = tables["ablation"]
    table = table if run else table[table["variant"] != SHUFFLED.title]
    assert (SHUFFLED.title in legend(drawn("ablation", grid, table))) == run
    assert len(drawn("differences", grid, table).axes) == 5 + run


@pytest.mark.parametrize("order", [[], ["aux"], ["aux", "reported"]])
def test_the_heat_map_holds_the_tables_scores_in_cells_and_colours(order, tables, grid):
    table = tables["layer_transfer"]
    table = table.assign(reported=table["split"] != "train")  # training rows first, and aux off
    table = table.sort_values(order, kind="stable") if order else table
    transformer, lstm = drawn("heat_map", grid, table).axes
    for ax, arch, layers in ((transformer, "transformer", [0, 6, 12]), (lstm, "lstm", [0, 1])):
        columns = ["none", *map(str, layers)]
        assert [label.get_text() for label in ax.get_xticklabels()] == columns
        rows = rows_of(table[table["split"] != "train"], arch=arch, aux="on")
        rows = rows.drop_duplicates(["task", "n_transfer"])
        wide = rows.pivot(index="task", columns="n_transfer", values="mean")
        scores = wide.loc[[*grid.tasks, "mean"], columns].to_numpy()
        (mesh,) = ax.collections
        assert mesh.get_array().ravel().tolist() == scores.ravel().tolist()
        assert [text.get_text() for text in ax.texts] == [f"{one:.1f}" for one in scores.ravel()]
    lines = [label.get_text() for label in transformer.get_yticklabels()]
    assert lines[2:] == ["RTE (accuracy, dev)", "CoLA (Matthews, dev)", "mean of 4 tasks"]


def test_the_heat_maps_numbers_can_be_read_on_every_colour():
    """Their contrast is at least 4.5, by the Web Content Accessibility Guidelines 2.2."""
    scores = np.arange(-20, 100.1, 0.1)
    ax = Figure().add_subplot()
    matrix.draw(
        ax, pd.DataFrame(scores), pd.DataFrame([""] * len(scores)), [""] * len(scores), [""]
    )
    (mesh,) = ax.collections

    def luminance(colour):
        rgb = np.array(to_rgb(colour))
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        return linear @ (0.2126, 0.7152, 0.0722) + 0.05

    for score, text in zip(scores, ax.texts, strict=True):
        both = luminance(mesh.to_rgba(score)[:3]), luminance(text.get_color())
        assert max(both) / min(both) >= 4.5, score
        assert (text.get_color() == "black") == (score <= 66)


def test_a_cell_that_was_not_run_is_a_gap_in_the_heat_map(tables, grid):
    table = tables["layer_transfer"]
    gone = (table["task"] == "cola") & (table["n_transfer"] == "6")
    ax, _ = drawn("heat_map", grid, table.assign(mean=table["mean"].mask(gone))).axes
    assert [text.get_text() for text in ax.texts].count("–") == 1


def is_sweep(
    ax: Axes, rows: pd.DataFrame, color: str, linestyle: str = "-", values=("none", "0", "6", "12")
) -> bool:
    """Whether a panel has the curve of these rows at the places of their values, but for a shift,
    and `none` apart from the others."""
    at = rows["value"].map(places(values))

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
    colors = {text.get_text(): to_hex(text.arrow_patch.get_edgecolor()) for text in left.texts}
    for task, dev in (("mnli", "dev_matched"), ("race", "dev")):
        rows = rows_of(tables["layer_transfer"], task=task, arch="transformer", aux="on")
        color = colors[tasks.task(task).title]
        assert is_sweep(left, rows_of(rows, split=dev), color)
        assert is_sweep(left, rows_of(rows, split="train"), color, "--")
    assert {text.get_text() for text in right.texts} == {"CoLA", "SST-2", "RACE", "DPRD", "mean"}
    for name in (*grid.zero_shot.tasks, "mean"):
        assert_zero_shot(right, tables["zero_shot"], name)


def assert_zero_shot(ax: Axes, table: pd.DataFrame, name: str) -> None:
    for arch in ("transformer", "lstm"):
        rows = rows_of(table, arch=arch, task=name)
        stroke = style.MODELS[arch]["linestyle"]
        found = curve(ax, style.TASKS[name]["color"], stroke)
        assert found == pairs(rows["update"], rows["relative"]), (name, arch)
        dots = each_seed(rows["update"], rows["relative_by_seed"])
        assert dots and dots <= seeds(ax, style.TASKS[name]["color"])


def test_zero_shot_draws_each_task_and_model_as_it_is_named(tables, grid):
    left, right = drawn("zero_shot", grid, tables["zero_shot"]).axes
    for name in (*grid.zero_shot.tasks, "mean"):
        assert_zero_shot(right if name == "mean" else left, tables["zero_shot"], name)
    named = {text.get_text(): to_hex(text.arrow_patch.get_edgecolor()) for text in left.texts}
    for name in grid.zero_shot.tasks:
        assert named[tasks.task(name).title] == to_hex(style.TASKS[name]["color"])
    for ax in (left, right):  # a random guess
        assert curve(ax, style.GREY) == {(0, 0), (1, 0)}


def test_pretraining_draws_each_model_as_it_is_named(tables, grid):
    table, costs = tables["pretraining"], tables["cost_pretraining"]
    left, right = drawn("pretraining", grid, table, costs).axes[:2]
    assert {text.get_text() for text in right.texts} == {"Transformer", "LSTM"}
    for arch, look in ((arch, style.MODELS[arch]) for arch in grid.arch):
        rows = table[table["arch"] == arch]
        assert curve(left, look["color"], look["linestyle"]) == pairs(rows["update"], rows["mean"])
        assert seeds(left, look["color"]) == each_seed(rows["update"], rows["by_seed"])
        later = rows[rows["update"] > 0]
        seconds = costs[costs["arch"] == arch].groupby("update")["train_seconds"].mean()
        times = later["update"].map(seconds)
        assert curve(right, look["color"], look["linestyle"]) == pairs(times, later["mean"])


def test_tokens_stand_above_the_updates_where_all_models_see_as_many(tables, grid):
    table, costs = tables["pretraining"], tables["cost_pretraining"]
    left, _, above = drawn("pretraining", grid, table, costs).axes
    assert above.get_xlim() == pytest.approx([2560 * x for x in left.get_xlim()])
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
