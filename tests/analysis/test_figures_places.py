"""Where things stand in the figures: marks beside their names, groups apart, panels in rows."""

import importlib

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import tasks
from tests.analysis.conftest import make_grid, write_all
from workflow.analysis import collect
from workflow.analysis.figures import (
    ablation,
    differences,
    layer_transfer,
    pretraining,
    probes,
    style,
)
from workflow.analysis.table import read_csv
from workflow.grid import Grid

EIGHT = ["cola", "sst2", "mrpc", "stsb", "qqp", "mnli", "qnli", "rte"]  # of Table 5
OTHERS = ["snli", "scitail", "race", "story_cloze"]
PLACES = [0, 1, *np.arange(2.5, 10), 11, 12, 13, 14]  # two means, the paper's tasks, the others


@pytest.fixture(scope="module")
def grid() -> Grid:
    layers = {"transformer": ["none", 0, 6, 12], "lstm": ["none", 0, 1]}
    return make_grid(layers=layers, shuffled=True)


@pytest.fixture(scope="module")
def tables(tmp_path_factory, grid) -> dict[str, pd.DataFrame]:
    results = tmp_path_factory.mktemp("places")
    write_all(results, grid)
    collect.build(results, grid).write(results / "cells.csv")
    found = {}
    for name in ("ablation", "layer_transfer", "pretraining", "cost_pretraining", "probes"):
        module = importlib.import_module(f"workflow.analysis.tables.{name}")
        module.build(results, grid).write(results / f"{name}.csv")
        found[name] = read_csv(results / f"{name}.csv")
    return found


def drawn(module, *given) -> Figure:
    with matplotlib.rc_context(fname=style.STYLE):
        return module.draw(*given)


def titles(names: list[str]) -> list[str]:
    return [tasks.task(name).title for name in names]


def test_the_groups_of_the_ablation_stand_apart_with_a_line_between(tables, grid):
    (ax,) = drawn(ablation, tables["ablation"], grid).axes
    assert list(ax.get_xticks()) == PLACES and ax.get_xlim() == (-0.6, 14.6)
    labels = [label.get_text().split("\n") for label in ax.get_xticklabels()]
    assert labels[:2] == [["mean of", "8 tasks"], ["mean of", "12 tasks"]]
    assert [first for first, *_ in labels[2:]] == titles([*EIGHT, *OTHERS])
    between = [list(line.get_xdata()) for line in ax.lines if list(line.get_ydata()) == [0, 1]]
    assert between == [[1.75, 1.75], [10.25, 10.25]]
    dots = np.array([bars.lines[0].get_xdata()[0] for bars in ax.containers])
    of_group = np.array(PLACES)[:, None] + 0.15 * np.arange(-2, 3)
    assert {*np.round(dots, 6)} <= {*np.round(of_group, 6).ravel()} and len({*dots}) == len(dots)


@pytest.mark.parametrize("shuffled", [True, False])
def test_the_control_is_in_the_figures_where_it_was_run(shuffled, tables, grid):
    given = tables["ablation"], grid.model_copy(update={"shuffled": shuffled})
    name = "Transformer w/ aux LM, shuffled books"
    (legend,) = drawn(ablation, *given).legends
    assert (name in [text.get_text() for text in legend.get_texts()]) == shuffled
    panels = [ax.get_title().replace("\n", " ") for ax in drawn(differences, *given).axes]
    assert (name in panels) == shuffled and len(panels) == 3 + shuffled


def test_the_lines_of_the_differences_stand_apart_by_group(tables, grid):
    panels = drawn(differences, tables["ablation"], grid).axes
    assert [-y for y in panels[0].get_yticks()] == PLACES
    labels = [label.get_text() for label in panels[0].get_yticklabels()]
    assert labels == ["mean of 8 tasks", "mean of 12 tasks", *titles([*EIGHT, *OTHERS])]


@pytest.mark.parametrize(
    ("names", "columns", "rows"), [((), 5, 2), (("rte", "cola", "sst2", "qqp", "race"), 3, 1)]
)
def test_the_small_panels_of_the_layers_fill_their_rows(names, columns, rows, tables, grid):
    table = tables["layer_transfer"]
    if names:
        grid = grid.model_copy(update={"tasks": list(names)})
        table = table[table["task"].isin([*names, "mean"])]
    top, below = drawn(layer_transfer, table, grid).subfigs
    assert len(top.axes) == 3 and len(below.axes) == columns * rows
    assert below.axes[0].get_gridspec().get_geometry() == (rows, columns)
    assert all(ax.axison for ax in below.axes)


def test_tokens_stand_above_the_updates_where_all_models_see_as_many(tables, grid):
    table, costs = tables["pretraining"], tables["cost_pretraining"]
    assert len(drawn(pretraining, table, costs, grid).axes) == 3
    others = table["train_tokens"].where(table["arch"] == "lstm", 1.5 * table["train_tokens"])
    assert len(drawn(pretraining, table.assign(train_tokens=others), costs, grid).axes) == 2


@pytest.mark.parametrize("position", ["tokens", "update"])
def test_probes_are_drawn_against_updates_where_the_tokens_are_not_known(position, tables, grid):
    table = tables["probes"]
    table = table if position == "tokens" else table.assign(tokens=np.nan)
    figure = drawn(probes, table, grid)
    words = {"tokens": "tokens seen in pre-training", "update": "pre-training updates"}
    assert figure.get_supxlabel() == f"{words[position]} (log; 0 = untrained)"
    curves = [line for line in figure.axes[0].lines if len(line.get_xdata()) > 2]
    later = sorted({*table[position]} - {0})
    assert len(curves) == 3 and all(list(line.get_xdata()) == later for line in curves)
