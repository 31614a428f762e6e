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
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from tasks.common.errors import InputError
from tests.analysis.conftest import make_grid, write_all, write_answers, write_tables
from workflow.analysis import figures
from workflow.analysis.figures import (
    ablation,
    aux_gain,
    cost_score,
    differences,
    heat_map,
    style,
)
from workflow.analysis.figures.__main__ import main
from workflow.analysis.paper import EIGHT, FULL
from workflow.analysis.table import read_csv
from workflow.grid import Grid

SHOWN = {  # where it is not the table of the figure's name
    "pretraining": ["pretraining", "cost_pretraining"],
    "differences": ["ablation"],
    "aux_gain": ["ablation"],
    "heat_map": ["layer_transfer"],
    "cost_score": ["cost", "ablation", "zero_shot"],
}
TABLES = ["ablation", "layer_transfer", "zero_shot", "pretraining", "probes", "cost"]
MADE = [*TABLES, "cost_pretraining"]
NAMES = [*TABLES, "differences", "aux_gain", "heat_map", "cost_score"]


@pytest.fixture(scope="module")
def tables(finished, grid) -> Path:
    write_tables(finished, grid, MADE)
    return finished


def draw(name: str, tables: Path, grid: Grid, out: Path) -> tuple[bytes, bytes]:
    shown = [str(tables / f"{table}.csv") for table in SHOWN.get(name, [name])]
    main([name, "--tables", *shown, "--grid", grid.to_json(), "--out", str(out)])
    return out.read_bytes(), out.with_suffix(".svg").read_bytes()


def test_every_module_of_figures_but_the_style_is_a_figure():
    assert sorted(figures.names()) == sorted(NAMES)


@pytest.mark.parametrize("name", ["layer_transfer", "cost_score"])
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


@pytest.mark.parametrize("name", [name for name in NAMES if name != "cost"])
def test_figure_of_a_run_without_any_result_says_so(name, tables, grid):
    shown = []
    for table in SHOWN.get(name, [name]):
        frame = read_csv(tables / f"{table}.csv")
        known = frame.columns.intersection(["update", "paper", "n_transfer", "majority"])
        numbers = frame.select_dtypes("number").columns.difference(known)
        shown.append(frame.assign(**dict.fromkeys(numbers, np.nan)))
    module = importlib.import_module(f"workflow.analysis.figures.{name}")
    texts = {text.get_text() for ax in drawn(module, *shown, grid) for text in ax.texts}
    if name == "heat_map":
        assert texts == {"–"}
    else:
        assert "not run" in texts or name == "ablation"  # which has its baselines


def test_a_table_that_is_not_one_is_refused_by_name(tmp_path, grid):
    table = tmp_path / "ablation.csv"
    table.write_text("")
    arguments = ["--tables", str(table), "--grid", grid.to_json(), "--out", "unused.png"]
    with pytest.raises(InputError, match="ablation.csv"):
        main(["ablation", *arguments])


@pytest.fixture(scope="module")
def answered(tmp_path_factory) -> tuple[Path, Grid]:
    """A small run with predictions, so with intervals, and its tables."""
    layers = {"transformer": ["none", 0, 6, 12], "lstm": ["none", 0, 1]}
    grid = make_grid("rte", "cola", "sst2", layers=layers, shuffled=["words"])
    results = tmp_path_factory.mktemp("answered")
    write_all(results, grid)
    write_answers(results, grid)
    write_tables(results, grid, MADE)
    return results, grid


def drawn(module: ModuleType, *inputs: object) -> list[Axes]:
    with matplotlib.rc_context(fname=style.STYLE):
        figure = module.draw(*inputs)
        style.note_empty(figure)
        return figure.axes


def points(ax: Axes, hollow: bool) -> list[tuple[float, float]]:
    """The marks of a panel, hollow or filled, as (x, y)."""
    marks = [line for line in ax.lines if line.get_linestyle() == "None"]
    chosen = [line for line in marks if (line.get_markerfacecolor() == "white") == hollow]
    found = [(float(x), float(y)) for line in chosen for x, y in zip(*line.get_data(), strict=True)]
    return [(x, y) for x, y in found if not np.isnan([x, y]).any()]


def bars(ax: Axes) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """The strokes of a panel: intervals, as pairs of ends."""
    strokes = [one for one in ax.collections if isinstance(one, LineCollection)]
    return [tuple(map(tuple, ends)) for one in strokes for ends in one.get_segments()]


def test_differences_are_the_tables_with_its_intervals_and_the_papers_hollow(answered):
    results, grid = answered
    table = read_csv(results / "ablation.csv")
    panels = drawn(differences, table, grid)
    variants = [ax.get_title().replace("\n", " ") for ax in panels]
    assert len(panels) == 4 and variants[-1] == "Transformer w/ aux LM, shuffled words"
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
        paper = (printed.loc[variant] - printed.loc[FULL.title])[["cola", "sst2", "rte"]]
        assert [x for x, _ in points(ax, hollow=True)] == list(paper.dropna())


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
    lines = [label.get_text() for label in transformer.get_yticklabels()]
    assert lines == ["RTE (accuracy, dev)", "CoLA (Matthews, dev)", "SST-2 (accuracy, dev)"] + [
        "mean of 3 tasks"
    ]


def test_the_heat_maps_numbers_can_be_read_on_every_colour():
    """Their contrast is at least 4.5, by the Web Content Accessibility Guidelines 2.2."""
    scores = np.arange(0, 100.1, 0.1)
    ax = Figure().add_subplot()
    heat_map.cells(ax, scores[:, None], [[""]] * len(scores))

    def luminance(colour):
        rgb = np.array(to_rgb(colour))
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        return linear @ (0.2126, 0.7152, 0.0722) + 0.05

    for score, text in zip(scores, ax.texts, strict=True):
        both = luminance(matplotlib.colormaps["Blues"](score / 100)), luminance(text.get_color())
        assert max(both) / min(both) >= 4.5, score


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
        losses = (printed - printed.loc[FULL.title]).drop(index=FULL.title)[real]
        assert sum(len(points(ax, hollow=True)) for ax in panels) == losses.notna().sum().sum()
        _, *paper = drawn(aux_gain, table, some)
        assert sum(len(points(ax, hollow=True)) for ax in paper) == 8 - len(synthetic)
    every = grid.model_copy(update={"synthetic": list(EIGHT)})
    assert len(drawn(aux_gain, table, every)) == 1


def test_the_auxiliary_gain_is_full_minus_without_by_the_number_of_training_rows(answered):
    results, grid = answered
    table = read_csv(results / "ablation.csv")
    table["train_rows"] = table["task"].map({"rte": 200, "cola": 7000, "sst2": 500})
    ours, paper = drawn(aux_gain, table, grid)
    order = ["rte", "sst2", "cola"]
    lines = [label.get_text() for label in ours.get_yticklabels()]
    assert lines == ["RTE (200)", "SST-2 (500)", "CoLA (7,000)"]
    means = table.pivot(index="task", columns="variant", values="mean").loc[order]
    gains = means["Transformer w/ aux LM (full)"] - means["Transformer w/o aux LM"]
    assert [x for x, _ in points(ours, hollow=False)] == pytest.approx(list(gains), abs=1e-3)
    rows = table[table["variant"] == "Transformer w/o aux LM"].set_index("task").loc[order]
    ends = [(low, high) for (low, _), (high, _) in bars(ours)]
    assert ends == list(zip(-rows["diff_high"], -rows["diff_low"], strict=True))
    labels = [label.get_text().partition(" (")[0] for label in paper.get_yticklabels()]
    assert len(labels) == len(EIGHT) and labels[0] == "RTE"
    gain = dict(zip(labels, [x for x, _ in points(paper, hollow=True)], strict=True))
    expected = {"CoLA": 45.4 - 47.9, "SST-2": 91.3 - 92.0, "RTE": 56.0 - 54.4}
    assert {name: gain[name] for name in expected} == pytest.approx(expected)


def test_the_ablation_adds_the_training_rows_of_each_task(run_of):
    results, grid = run_of("rte")
    path = results / "examples" / "rte.json"
    path.write_text('{"note": "", "sha256": {}, "rows": {"train": 321, "dev": 9}}')
    write_tables(results, grid, MADE)
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
        "Transformer w/ aux LM, shuffled words": 2e12 + fine_tuning,
    }
    for name, flops in expected.items():
        assert (flops, means[name]) in points(left, hollow=False), name
    assert len(points(left, hollow=False)) == len(means)
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
