"""Figures of Table 5: what they draw is what the table says, in the look of the legend."""

import re
import shutil

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import tasks
from tests.analysis.figures.conftest import (
    drawn,
    each_seed,
    legend,
    marks,
    pairs,
    seeds,
    strokes,
)
from workflow.analysis import figures
from workflow.analysis.figures import style
from workflow.analysis.paper import FULL, SHUFFLED
from workflow.analysis.report import make


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


@pytest.mark.parametrize("synthetic", [["rte"], ["rte", "cola"], ["mnli", "race", "rte", "cola"]])
def test_the_papers_marks_stand_beside_real_rows_alone(synthetic, tables, grid):
    some = grid.model_copy(update={"synthetic": synthetic})
    printed = tables["ablation"].pivot(index="variant", columns="task", values="paper")
    printed = printed[[name for name in grid.tasks if name not in synthetic]]
    expected = {
        "ablation": printed.notna().sum().sum(),
        "differences": (printed - printed.loc[FULL.title]).drop(FULL.title).notna().sum().sum(),
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
