"""Tables, figures and claims of a run with a task of the user's own, by its title."""

import json
import re

import pytest

import gpt1
from tasks.settings import OwnTask
from tests.analysis.conftest import (
    LAYERS,
    make_grid,
    write,
    write_all,
    write_answers,
    write_predictions,
    write_tables,
)
from tests.facts import SCORED
from workflow.analysis import figures, report
from workflow.analysis.figures import run
from workflow.analysis.page.run import from_markdown
from workflow.analysis.table import read_csv

OWN = OwnTask(
    kind="pair", title="My pairs", files="rows.csv", labels=["no", "yes"], prompt="{text} {second}"
)
FIGURES = ("ablation", "differences", "layer_transfer", "zero_shot", "figure2")
TABLES = ("ablation", "layer_transfer", "zero_shot", "claims", "main")


def made(folder, *names):
    """A finished run on these tasks, and its grid."""
    zero_shot = {"tasks": ["mine"], "normalise": {"mine": {"random": 50, "best": 100}}}
    own = {"mine": OWN}
    more = {"own": own, "zero_shot": zero_shot | {"own": own}, "examples": list(names)}
    grid = make_grid(*names, layers=LAYERS, **more)
    write_all(folder, grid)
    write_answers(folder, grid)
    return grid


@pytest.mark.parametrize("names", [("mine",), ("mine", "rte")])
def test_tables_and_figures_show_it_by_its_title_and_claims_leave_it_out(names, tmp_path):
    grid = made(tmp_path, *names)
    cells = gpt1.results(tmp_path)["cells"]  # before there is a table
    write_tables(tmp_path, grid, TABLES if len(names) > 1 else TABLES[:3])
    same = read_csv(tmp_path / "cells.csv")
    key = ["task", "line", "seed", "split", "metric"]
    assert cells.set_index(key)["score"].round(4).to_dict() == (
        same.set_index(key)["score"].round(4).to_dict()
    )
    for name in ("ablation", "layer_transfer", "zero_shot", "cells"):
        assert "My pairs" in (tmp_path / f"{name}.md").read_text()
    ablation = (tmp_path / "ablation.md").read_text()
    assert f"Avg of all: {grid.titles}." in ablation
    assert ("Avg (8)" in ablation) == (len(names) > 1)
    if len(names) > 1:
        claims = (tmp_path / "claims.md").read_text()
        assert "tasks: RTE;" in claims and "My pairs" not in claims
    for name in FIGURES:
        shown = (read_csv(tmp_path / f"{table}.csv") for table in figures.TABLES[name])
        figure = getattr(run, name)(*shown, grid)
        texts = [text.get_text() for ax in figure.axes for text in ax.findobj(match=_is_text)]
        assert any("My pairs" in " ".join(text.split()) for text in texts), name


def test_the_confusion_of_labels_is_counted_over_all_seeds(tmp_path):
    grid = make_grid("mine", "rte", own={"mine": OWN.model_copy(update={"labels": ["no", "a|b"]})})
    (cell,) = grid.own_cells()
    assert (cell.variant, cell.task) == ("full", "mine")
    said = {0: [(0, 0)] * 5 + [(0, 1)] * 3, 1: [(1, 0), (1, 1), (0, 0)], 9: [(1, 1)] * 50}
    rows = [
        (seed, split, f"mine/{split}/{i}", "", float(label), float(given))
        for seed, pairs in said.items()
        for split, n in (("test", None), ("train", 1))
        for i, (label, given) in enumerate(pairs[:n])
    ]
    write_predictions(tmp_path, cell, rows)  # seed 9 is left from another config
    table = report.build("confusion", tmp_path, grid)
    assert table.frame["rows"].tolist() == [6, 3, 1, 1]
    assert table.frame.loc[1, ["label", "prediction"]].tolist() == ["no", "a|b"]
    text = table.markdown
    assert re.search(r"\n\| no +\| +6 \| +3 \| +66.7 \| +85.7 \|\n", text)
    html = from_markdown(text, "Confusion")
    assert re.search('<th [^>]*scope="row">no</th>', html) and 'class="bad"' not in html
    assert make_grid("rte").own_cells() == []


def test_a_note_says_how_many_of_its_rows_were_scored_zero_shot(tmp_path):
    grid, n = made(tmp_path, "mine"), SCORED["n"]
    facts = json.loads((tmp_path / "examples" / "mine.json").read_text())
    for prepared in (n, n + 1):
        write(tmp_path / "examples" / "mine.json", facts | {"rows": {"test": prepared}})
        text = report.build("zero_shot", tmp_path, grid).markdown
        assert (f"scored on {n:,} rows" in text) == (prepared > n)


def _is_text(artist) -> bool:
    return hasattr(artist, "get_text")
