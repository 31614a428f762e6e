"""The figures: drawn from the tables alone, the same bytes each time, nothing invented."""

import importlib
import re
from pathlib import Path
from types import ModuleType

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import tasks
from tasks.common.errors import InputError
from tests.analysis.conftest import make_grid, write_all, write_answers
from workflow.analysis import collect, figures
from workflow.analysis.figures import (
    ablation,
    aux_gain,
    cost_score,
    differences,
    heat_map,
    layer_transfer,
    style,
    zero_shot,
)
from workflow.analysis.figures.__main__ import main
from workflow.analysis.table import read_csv
from workflow.analysis.tables.ablation import EIGHT
from workflow.grid import Grid

SHOWN = {  # where it is not the table of the figure's name
    "pretraining": ["pretraining", "cost_pretraining"],
    "differences": ["ablation"],
    "aux_gain": ["ablation"],
    "heat_map": ["layer_transfer"],
    "cost_score": ["cost", "ablation", "zero_shot"],
}
TABLES = ["ablation", "layer_transfer", "zero_shot", "pretraining", "probes", "cost"]
NAMES = [*TABLES, "differences", "aux_gain", "heat_map", "cost_score"]
PALETTE = {"#000000", "#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7"}
ROOT = Path(__file__).parents[2]


def make_tables(results: Path, grid: Grid) -> None:
    """The tables with a figure, as their program writes them."""
    collect.build(results, grid).write(results / "cells.csv")
    for name in ["cost_cells", *TABLES, "cost_pretraining"]:
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
    assert svg.startswith(b"<?xml") and len(svg) > 10_000
    assert not re.search(rb"dc:date|Software", svg + png)


@pytest.mark.parametrize("name", NAMES)
def test_figure_of_a_run_without_any_result_says_so(name, grid, tmp_path):
    make_tables(tmp_path, grid)
    png, _ = draw(name, tmp_path, grid, tmp_path / f"{name}.png")
    assert len(png) > 5_000
    shown = [read_csv(tmp_path / f"{table}.csv") for table in SHOWN.get(name, [name])]
    module = importlib.import_module(f"workflow.analysis.figures.{name}")
    texts = [(ax, text) for ax in drawn(module, *shown, grid) for text in ax.texts]
    notes = [(ax, text) for ax, text in texts if text.get_text() == "not run"]
    if name == "heat_map":
        assert {text.get_text() for _, text in texts} == {"–"}
    else:
        assert notes or name == "ablation"  # which has its baselines
    for ax, note in notes:  # in the middle of its panel
        assert note.get_transform() == ax.transAxes and note.get_position() == (0.5, 0.5)
        assert note.get_horizontalalignment() == "center"


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
    tables = ["cells", "main", "contamination", "cost_cells", "cost_pretraining", *TABLES]
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


@pytest.fixture(scope="module")
def answered(tmp_path_factory) -> tuple[Path, Grid]:
    """A small run with predictions, so with intervals, and its tables."""
    layers = {"transformer": ["none", 0, 6, 12], "lstm": ["none", 0, 1]}
    grid = make_grid("rte", "cola", "sst2", layers=layers, shuffled=True)
    results = tmp_path_factory.mktemp("answered")
    write_all(results, grid)
    write_answers(results, grid)
    make_tables(results, grid)
    return results, grid


def drawn(module: ModuleType, *inputs: object) -> list[Axes]:
    with matplotlib.rc_context(fname=style.STYLE):
        return module.draw(*inputs).axes


def points(ax: Axes, hollow: bool) -> list[tuple[float, float]]:
    """The marks of a panel, hollow or filled, as (x, y)."""
    marks = [line for line in ax.lines if line.get_linestyle() == "None"]
    chosen = [line for line in marks if (line.get_markerfacecolor() == "white") == hollow]
    return [(float(x), float(y)) for line in chosen for x, y in zip(*line.get_data(), strict=True)]


def bars(ax: Axes) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """The strokes of a panel: intervals, as pairs of ends."""
    strokes = [one for one in ax.collections if isinstance(one, LineCollection)]
    return [tuple(map(tuple, ends)) for one in strokes for ends in one.get_segments()]


def test_differences_are_the_tables_with_its_intervals_and_the_papers_hollow(answered):
    results, grid = answered
    table = read_csv(results / "ablation.csv")
    panels = drawn(differences, table, grid)
    variants = [ax.get_title().replace("\n", " ") for ax in panels]
    assert len(panels) == 4 and variants[-1] == "Transformer w/ aux LM, shuffled books"
    lines = [label.get_text() for label in panels[0].get_yticklabels()]
    assert lines == ["mean of 3 tasks", "CoLA", "SST-2", "RTE"]
    assert {ax.get_xlim() for ax in panels} == {panels[0].get_xlim()}
    printed = table.pivot(index="variant", columns="task", values="paper")
    for ax, variant in zip(panels, variants, strict=True):
        rows = table[table["variant"] == variant].set_index("task")
        rows = rows.loc[["avg_all", "cola", "sst2", "rte"]]
        assert [x for x, _ in points(ax, hollow=False)] == list(rows["diff"])
        ends = [(low, high) for (low, _), (high, _) in bars(ax)]
        assert ends == list(zip(rows["diff_low"], rows["diff_high"], strict=True))
        paper = (printed.loc[variant] - printed.loc[differences.FULL])[["cola", "sst2", "rte"]]
        assert [x for x, _ in points(ax, hollow=True)] == list(paper.dropna())
        assert [y for _, y in points(ax, hollow=False)] == sorted(panels[0].get_yticks())[::-1]


@pytest.mark.parametrize("order", [[], ["aux"], ["aux", "reported"]])
def test_the_heat_map_holds_the_tables_scores_in_cells_and_colours(answered, order):
    results, grid = answered
    table = read_csv(results / "layer_transfer.csv")
    table["reported"] = table["split"] != "train"  # the training rows first, and aux off
    table = table.sort_values(order, kind="stable") if order else table
    transformer, lstm = drawn(heat_map, table, grid)
    for ax, arch, layers in ((transformer, "transformer", [0, 6, 12]), (lstm, "lstm", [0, 1])):
        columns = ["none", *map(str, layers)]
        assert [label.get_text() for label in ax.get_xticklabels()] == columns
        rows = table[(table["arch"] == arch) & (table["aux"] == "on")]
        rows = rows[rows["split"] != "train"].pivot(
            index="task", columns="n_transfer", values="mean"
        )
        scores = rows.loc[[*grid.tasks, "mean"], columns]
        (mesh,) = ax.collections
        assert mesh.get_array().ravel().tolist() == scores.to_numpy().ravel().tolist()
        assert mesh.get_clim() == (0, 100) and mesh.get_cmap().name == "Blues"
        texts = [text.get_text() for text in ax.texts]
        assert texts == [f"{score:.1f}" for score in scores.to_numpy().ravel()]
        places = [text.get_position() for text in ax.texts]
        assert places == [(j + 0.5, i + 0.5) for i, j in np.ndindex(scores.shape)]
    lines = [label.get_text() for label in transformer.get_yticklabels()]
    assert lines == ["RTE (accuracy, dev)", "CoLA (Matthews, dev)", "SST-2 (accuracy, dev)"] + [
        "mean of 3 tasks"
    ]


def test_the_heat_maps_numbers_can_be_read_on_every_colour():
    for score in np.arange(0, 100.1, 0.1):
        assert heat_map.contrast(heat_map.ink(score), heat_map.COLOURS(score / 100)) >= 4.5
    assert heat_map.contrast("black", "white") == pytest.approx(21)
    assert heat_map.contrast("#767676", "white") == pytest.approx(4.54, abs=0.01)


def test_a_cell_that_was_not_run_is_a_gap_in_the_heat_map(answered):
    results, grid = answered
    table = read_csv(results / "layer_transfer.csv")
    gone = (table["task"] == "cola") & (table["n_transfer"] == "6")
    ax, _ = drawn(heat_map, table.assign(mean=table["mean"].mask(gone)), grid)
    assert [text.get_text() for text in ax.texts].count("–") == 1


def test_the_papers_marks_stand_beside_real_rows_alone(answered):
    results, grid = answered
    table = read_csv(results / "ablation.csv")
    printed = table.pivot(index="variant", columns="task", values="paper")
    for synthetic in (["rte"], ["rte", "cola"], grid.tasks):
        some = grid.model_copy(update={"synthetic": synthetic})
        real = [name for name in grid.tasks if name not in synthetic]
        (ax,) = drawn(ablation, table, some)
        assert len(points(ax, hollow=True)) == printed[real].notna().sum().sum()
        panels = drawn(differences, table, some)
        losses = (printed - printed.loc[differences.FULL]).drop(index=differences.FULL)[real]
        assert sum(len(points(ax, hollow=True)) for ax in panels) == losses.notna().sum().sum()
        _, *paper = drawn(aux_gain, table, some)
        assert sum(len(points(ax, hollow=True)) for ax in paper) == 8 - len(synthetic)
    every = grid.model_copy(update={"synthetic": list(EIGHT)})
    assert len(drawn(aux_gain, table, every)) == 1


def test_the_auxiliary_gain_is_full_minus_without_at_the_number_of_training_rows(answered):
    results, grid = answered
    table = read_csv(results / "ablation.csv")
    sizes = {"rte": 200, "cola": 700, "sst2": 5000}
    table["train_rows"] = table["task"].map(sizes)
    ours, paper = drawn(aux_gain, table, grid)
    means = table.pivot(index="task", columns="variant", values="mean")
    gains = means["Transformer w/ aux LM (full)"] - means["Transformer w/o aux LM"]
    expected = [(sizes[name], gains[name]) for name in ("rte", "cola", "sst2")]
    assert points(ours, hollow=False) == [(x, pytest.approx(y, abs=1e-3)) for x, y in expected]
    rows = table[table["variant"] == "Transformer w/o aux LM"].set_index("task")
    ends = [(low, high) for (_, low), (_, high) in bars(ours)]
    limits = -rows.loc[["rte", "cola", "sst2"], ["diff_high", "diff_low"]]
    assert ends == list(limits.itertuples(index=False, name=None))
    assert [text.get_text() for text in ours.texts] == ["RTE", "CoLA", "SST-2"]
    for ax, rows in ((ours, (200, 5000)), (paper, (2490, 392_702))):
        assert ax.get_xscale() == "log"
        assert ax.get_xlim() == pytest.approx((rows[0] / 1.15, rows[1] * 1.15))
    printed = {
        tasks.task(name).rows["train"]: pytest.approx(gain)
        for name, gain in (("cola", 45.4 - 47.9), ("sst2", 91.3 - 92.0), ("rte", 56.0 - 54.4))
    }
    assert len(points(paper, hollow=True)) == 8
    assert {x: y for x, y in points(paper, hollow=True) if x in printed} == printed


def test_the_ablation_adds_the_training_rows_of_each_task(run_of):
    results, grid = run_of("rte")
    path = results / "examples" / "rte.json"
    path.write_text('{"note": "", "sha256": {}, "rows": {"train": 321, "dev": 9}}')
    make_tables(results, grid)
    rows = read_csv(results / "ablation.csv").set_index("task")["train_rows"]
    assert set(rows["rte"]) == {321} and rows["avg_all"].isna().all()


def test_cost_against_score_counts_pre_training_where_something_is_transferred(answered):
    results, grid = answered
    ablation = read_csv(results / "ablation.csv")
    costs = made_costs(grid)
    left, right = drawn(cost_score, costs, ablation, read_csv(results / "zero_shot.csv"), grid)
    means = ablation[ablation["task"] == "avg_all"].set_index("variant")["mean"]
    fine_tuning = 3 * 1e9  # three tasks
    expected = {
        "Transformer w/ aux LM (full)": 1e12 + fine_tuning,
        "Transformer w/o pre-training": fine_tuning,
        "LSTM w/ aux LM": 5e11 + fine_tuning,
        "Transformer w/ aux LM, shuffled books": 2e12 + fine_tuning,
    }
    for name, flops in expected.items():
        assert (flops, means[name]) in points(left, hollow=False), name
    assert len(points(left, hollow=False)) == len(means)
    at = [x for x, _ in points(left, hollow=False)]
    assert left.get_xlim() == pytest.approx((min(at) / 1.4, max(at) * 1.4))
    assert list(left.xaxis.get_majorticklocs()) == [1e10, 1e11, 1e12]
    zero_shot = read_csv(results / "zero_shot.csv")
    rows = zero_shot[(zero_shot["arch"] == "transformer") & (zero_shot["task"] == "mean")]
    rows = rows[rows["update"] > 0]
    curve = next(line for line in right.lines if line.get_label() == "Transformer")
    assert list(curve.get_ydata()) == list(rows["relative"])
    assert curve.get_xdata()[-1] == pytest.approx(1e12)


def made_costs(grid: Grid) -> pd.DataFrame:
    """Operations by hand: two seeds of each language model, three of each cell."""
    models = [("transformer", "books", 1e12), ("lstm", "books", 5e11)]
    models.append(("transformer", "shuffled", 2e12))
    rows = [
        {"stage": "pre-training", "arch": arch, "corpus": corpus, "seed": seed, "runs": 1}
        | {"flops": flops, "train_tokens": 3000 * 2560}
        for arch, corpus, flops in models
        for seed in (0, 1)
    ]
    rows += [
        {"stage": "fine-tuning", "arch": cell.arch, "corpus": cell.corpus, "aux": cell.aux}
        | {"n_transfer": str(cell.n_transfer), "task": cell.task, "runs": 3, "flops": 3e9}
        for cell in grid.cells()
    ]
    return pd.DataFrame(rows)


def test_the_ablation_figure_marks_what_the_paper_printed(tables, grid):
    table = read_csv(tables / "ablation.csv")
    (ax,) = drawn(ablation, table, grid)
    assert sorted(y for _, y in points(ax, hollow=True)) == sorted(table["paper"].dropna())
