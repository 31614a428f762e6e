"""The figures: drawn from the tables alone, the same bytes each time, nothing invented."""

import importlib
import re
from pathlib import Path

import matplotlib
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from tasks.common.errors import InputError
from workflow.analysis import collect, figures
from workflow.analysis.figures import ablation, layer_transfer, style, zero_shot
from workflow.analysis.figures.__main__ import main
from workflow.analysis.table import read_csv
from workflow.grid import Grid

SHOWN = {"pretraining": ["pretraining", "cost_pretraining"]}  # where it is not the figure's name
NAMES = ["ablation", "layer_transfer", "zero_shot", "pretraining", "probes", "cost"]
PALETTE = {"#000000", "#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7"}
ROOT = Path(__file__).parents[2]


def make_tables(results: Path, grid: Grid) -> None:
    """The tables with a figure, as their program writes them."""
    collect.build(results, grid).write(results / "cells.csv")
    for name in ["cost_cells", *NAMES, "cost_pretraining"]:
        module = importlib.import_module(f"workflow.analysis.tables.{name}")
        module.build(results, grid).write(results / f"{name}.csv")


@pytest.fixture(scope="module")
def tables(finished, grid) -> Path:
    make_tables(finished, grid)
    return finished


def draw(name: str, tables: Path, grid: Grid, out: Path) -> tuple[bytes, bytes]:
    shown = [str(tables / f"{table}.csv") for table in SHOWN.get(name, [name])]
    main([name, "--tables", *shown, "--grid", grid.to_json(), "--out", str(out)])
    return out.read_bytes(), out.with_suffix(".svg").read_bytes()


def test_every_module_of_figures_but_the_style_is_a_figure():
    assert sorted(figures.names()) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_figure_is_not_empty_and_its_bytes_are_stable(name, tables, grid, tmp_path):
    png, svg = draw(name, tables, grid, tmp_path / "a" / f"{name}.png")
    matplotlib.rcParams["font.size"] = 3  # what another program set must not matter
    try:
        again = draw(name, tables, grid, tmp_path / "b" / f"{name}.png")
    finally:
        matplotlib.rcdefaults()
    assert (png, svg) == again
    assert png.startswith(b"\x89PNG") and len(png) > 20_000
    assert svg.startswith(b"<?xml") and len(svg) > 20_000
    assert not re.search(rb"dc:date|Software", svg + png)


@pytest.mark.parametrize("name", NAMES)
def test_figure_of_a_run_without_any_result_says_so(name, grid, tmp_path):
    make_tables(tmp_path, grid)
    png, _ = draw(name, tmp_path, grid, tmp_path / f"{name}.png")
    assert len(png) > 5_000


def test_layer_transfer_draws_reported_and_training_rows_and_none_apart(tables, grid):
    table = read_csv(tables / "layer_transfer.csv")
    with matplotlib.rc_context(fname=style.STYLE):
        figure = layer_transfer.draw(table, grid)
    panels = [ax for part in figure.subfigs for ax in part.axes]
    titles = [ax.get_title() for ax in panels]
    assert titles[:3] == ["MNLI (dev matched)", "RACE (dev)", "mean of 12 tasks"]
    assert len(set(titles)) == 13
    for ax in panels[:3]:
        assert [label.get_text() for label in ax.get_xticklabels()][:2] == ["none", "0"]
    rows = table[(table["task"] == "mnli") & (table["arch"] == "transformer")]
    rows = rows[(rows["aux"] == "on") & (rows["n_transfer"] != "none")]
    drawn = [list(line.get_ydata()) for line in panels[0].lines]
    for split in ("dev_matched", "train"):
        assert list(rows.loc[rows["split"] == split, "mean"]) in drawn


def test_zero_shot_draws_solid_transformer_dashed_lstm_in_one_colour_per_task(tables, grid):
    table = read_csv(tables / "zero_shot.csv")
    with matplotlib.rc_context(fname=style.STYLE):
        left, right = zero_shot.draw(table, grid).axes
    curves = [line for line in left.lines if len(line.get_xdata()) == 8]
    looks = [(to_hex(line.get_color()), line.get_linestyle()) for line in curves]
    assert len(looks) == 8 and len({colour for colour, _ in looks}) == 4
    assert [dashes for _, dashes in looks] == ["-", "--"] * 4
    assert left.get_xscale() == "symlog" and left.get_xticklabels()[0].get_text() == "0"
    assert {colour for colour, _ in looks} <= PALETTE
    mean = table[(table["task"] == "mean") & (table["arch"] == "lstm") & (table["update"] > 0)]
    assert list(mean["relative"]) in [list(line.get_ydata()) for line in right.lines]


def test_ablation_draws_what_was_run_and_nothing_in_place_of_what_was_not(tables, grid):
    table = read_csv(tables / "ablation.csv")

    def dots(table) -> int:
        with matplotlib.rc_context(fname=style.STYLE):
            return len(ablation.draw(table, grid).axes[0].containers)

    assert dots(table) == 4 * 14
    gone = (table["task"] == "qqp") & (table["variant"] == "LSTM w/ aux LM")
    assert dots(table.assign(mean=table["mean"].mask(gone))) == 4 * 14 - 1


def test_a_table_that_is_not_one_is_refused_by_name(tmp_path, grid):
    table = tmp_path / "ablation.csv"
    table.write_text("")
    arguments = ["--tables", str(table), "--grid", grid.to_json(), "--out", "unused.png"]
    with pytest.raises(InputError, match="ablation.csv"):
        main(["ablation", *arguments])


def test_every_table_and_figure_has_a_caption():
    report = ROOT / "workflow" / "report"
    tables = ["cells", "main", "contamination", "cost_cells", "cost_pretraining", *NAMES]
    for name in ["workflow", *NAMES, *(f"table_{table}" for table in tables)]:
        assert len((report / f"{name}.rst").read_text(encoding="utf-8")) > 100


def test_an_interval_beyond_what_a_score_can_be_is_cut_at_the_axis():
    ax = Figure().add_subplot()
    ax.errorbar([0], [50], [200])
    style.limit_to_scores(ax)
    assert ax.get_ylim() == (-20, 103)
    ax.set_ylim(40, 60)
    style.limit_to_scores(ax)
    assert ax.get_ylim() == (40, 60)
