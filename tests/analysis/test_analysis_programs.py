"""The table programs: what they write, what they say of a run with gaps, and what they refuse."""

import csv
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gpt1.cell import Cell
from tasks.common.errors import InputError
from tests.analysis.conftest import build
from workflow.analysis import collect, table, tables
from workflow.analysis.cells import read_cells
from workflow.analysis.tables import (
    ablation,
    claims,
    contamination,
    layer_transfer,
    main,
    pretraining,
    zero_shot,
)
from workflow.analysis.tables.__main__ import main as make_table

TABLES = [ablation, main, layer_transfer, zero_shot, pretraining, contamination]
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("module", TABLES)
def test_with_nothing_run_every_table_is_there_and_every_number_missing(module, grid, tmp_path):
    frame, text = build(module, tmp_path, grid)
    if "source" in frame.columns:
        frame = frame[frame["source"] == "this run"]
    assert len(frame) and (frame["n_seeds"] == 0).all() and frame["mean"].isna().all()
    assert "missing" in text and "nan" not in text.lower()


def test_every_module_of_tables_is_a_table():
    # Claims are "not run" where numbers are missing; the others are not made of cells.
    names = [module.__name__.rpartition(".")[2] for module in (*TABLES, claims)]
    others = ["positive_control", "degrees", "probes", "cost", "cost_pretraining"]
    assert sorted(tables.names()) == sorted([*names, *others])


def test_a_cell_that_was_not_run_has_one_row_without_seed_and_score(run_of):
    results, grid = run_of("rte", "mnli")
    gone = Cell("transformer", "mnli", "off", 6)
    gone.path(results).unlink()
    frame, text = build(collect, results, grid)
    cells = read_cells(results, grid)
    row = cells[cells["seed"].isna()]
    assert row[["arch", "task", "aux", "n_transfer"]].values.tolist() == [
        ["transformer", "mnli", "off", "6"]
    ]
    assert row[["score", "train_tokens"]].isna().all(axis=None) and list(row["alarms"]) == [""]
    assert "Not run: transformer/mnli/aux-off/layers-6." in text and "27 of 28 cells" in text
    run = cells.dropna(subset="seed")
    assert len(run) == len(frame) - 1
    assert not run.duplicated(
        ["arch", "task", "aux", "n_transfer", "corpus", "seed", "split", "metric"]
    ).any()


def test_cells_csv_keeps_every_digit(run_of):
    results, grid = run_of("rte")
    frame, _ = build(collect, results, grid)
    assert list(read_cells(results, grid)["score"]) == list(frame["score"])


def test_ablation_needs_no_more_than_the_endpoint_cells(run_of):
    results, grid = run_of("rte")
    whole, _ = build(ablation, results, grid)
    (results / "cells.csv").unlink()
    for cell in grid.cells():
        if not grid.is_endpoint(cell):
            cell.path(results).unlink()
    part = grid.endpoints()
    collect.build(results, part).write(results / "cells_endpoints.csv")
    assert set(read_cells(results, part)["n_transfer"]) == {"none", "1", "12"}
    assert ablation.build(results, part).frame.equals(whole)
    with pytest.raises(InputError, match=r"cells\.csv: no such file"):
        read_cells(results, grid)


WRONG_CSV = {
    "truncated in a line": (lambda text: text[:-20], "truncated"),
    "cells cut off": (
        lambda text: "".join(text.splitlines(True)[:40]),
        "9 cells of the grid are missing, first transformer/rte",
    ),
    "another table": (lambda text: "arch,task\nlstm,rte\n", "its columns are arch task"),
    "a word": (lambda text: text.replace(",120000,", ",many,", 1), "'many', not a number"),
    "a seed without score": (
        lambda text: re.sub(r",books,0,[\d.]+,", ",books,0,,", text, count=1),
        "line 2 has a seed or a score alone, not both",
    ),
    "an unknown number as score": (
        lambda text: re.sub(r",books,0,[\d.]+,", ",books,0,nan,", text, count=1),
        "score is 'nan'",
    ),
    "empty": (lambda text: "\n", "not a table"),
}


@pytest.mark.parametrize("wrong", WRONG_CSV)
def test_a_wrong_cells_csv_is_one_line_that_names_the_file(run_of, wrong):
    results, grid = run_of("rte")
    build(collect, results, grid)
    edit, found = WRONG_CSV[wrong]
    path = results / "cells.csv"
    text = path.read_text()
    assert edit(text) != text
    path.write_text(edit(text))
    with pytest.raises(InputError) as error:
        ablation.build(results, grid)
    assert str(path) in str(error.value) and found in str(error.value)
    path.unlink()
    with pytest.raises(InputError, match=r"cells\.csv: no such file"):
        ablation.build(results, grid)


def test_costs_are_apart_from_the_scores(run_of, change):
    results, grid = run_of("rte")
    kept = ["cells", "ablation", "layer_transfer", "main", "pretraining"]

    def tables_of(names):
        build(collect, results, grid)
        argv = ["--results", str(results), "--grid", grid.to_json(), "--out"]
        for name in names:
            if name != "cells":
                make_table([name, *argv, str(results / f"{name}.csv")])
        forms = ("csv", "md")
        return {n: [(results / f"{n}.{form}").read_bytes() for form in forms] for n in names}

    def slower(record):
        for run in record["seeds"]:
            run |= {"train_seconds": run["train_seconds"] * 3, "peak_mb": 999.5}

    scores, costs = tables_of(kept), tables_of(["cost", "cost_pretraining"])
    for cell in grid.cells():
        change(results, cell, slower)
    for path in results.glob("pretrain/*/*/update-*.json"):
        path.write_text(path.read_text().replace('"seconds": ', '"seconds": 9'))
    assert tables_of(kept) == scores
    changed = tables_of(["cost", "cost_pretraining"])
    assert all(changed[name][form] != costs[name][form] for name in costs for form in (0, 1))
    found = table.read_csv(results / "cost.csv").query("stage == 'fine-tuning'")
    assert len(found) == len(grid.cells()) * len(grid.seeds.finetune)
    assert found["train_seconds"].min() == 3 * 3.5 and set(found["peak_mb"]) == {999.5}


DAMAGE = {
    "truncated": (lambda text: text[: len(text) // 2], "not JSON"),
    "not an object": (lambda text: "[]", "'the file' is []"),
    "another cell": (
        lambda text: text.replace('"rte"', '"cola"'),
        "path says 'rte'",
    ),
    "without seeds": (lambda text: text.replace('"seeds"', '"runs"'), "'seeds' is missing"),
    "a word": (lambda text: text.replace('"train_tokens": 120000', '"train_tokens": "?"'), "'?'"),
    "NaN": (lambda text: text.replace('"peak_mb": 410.5', '"peak_mb": NaN'), "peak_mb' is nan"),
    "a seed twice": (
        lambda text: text.replace('"seed": 1', '"seed": 0'),
        "a seed twice, [0, 0, 2]",
    ),
    "no baseline": (lambda text: text.replace('"majority":', '"most":'), "'baselines.majority' is"),
    "beyond 100": (
        lambda text: text.replace('"accuracy": 57', '"accuracy": 9957'),
        "accuracy' is 9957",
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_cell_is_one_line_that_names_file_and_key(run_of, damage):
    results, grid = run_of("rte")
    path = Cell("transformer", "rte", "on", 12).path(results)
    edit, found = DAMAGE[damage]
    text = path.read_text()
    assert edit(text) != text
    path.write_text(edit(text))
    with pytest.raises(InputError) as error:
        collect.build(results, grid)
    assert str(path) in str(error.value) and found in str(error.value)


def test_program_writes_csv_in_the_contracts_columns_and_markdown_beside_it(run_of):
    results, grid = run_of("rte", "mnli")
    out = results / "ablation.csv"
    argv = ["--results", str(results), "--grid", grid.to_json(), "--out"]
    collect.main([*argv, str(results / "cells.csv")])
    make_table(["ablation", *argv, str(out)])
    first = out.read_bytes()
    make_table(["ablation", *argv, str(out)])
    assert out.read_bytes() == first
    with open(out, encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    shared = [c for c in table.COLUMNS if c not in ("seed", "score", "train_seconds", "peak_mb")]
    assert list(lines[0]) == [*shared, "diff", "diff_low", "diff_high", "train_rows"]
    missing = next(line for line in lines if line["task"] == "qqp")
    assert (missing["n_seeds"], missing["mean"], missing["sd"]) == ("0", "", "")
    assert out.with_suffix(".md").read_text(encoding="utf-8").startswith("# Ablations (Table 5)")


def test_program_fails_in_one_line_and_leaves_no_table(run_of):
    results, grid = run_of("rte")
    Cell("lstm", "rte", "off", 1).path(results).write_text('{"arch": "ls')
    out = results / "cells.csv"
    command = [sys.executable, "-m", "workflow.analysis.collect", "--results", str(results)]
    command += ["--grid", grid.to_json(), "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("error: ") and "layers-1.json" in done.stderr
    assert not out.exists() and not out.with_suffix(".md").exists()


@pytest.mark.parametrize("text", ["{", "[]", '{"tasks": ["rte"]}'])
def test_a_wrong_grid_is_refused_in_one_line(text, tmp_path):
    argv = ["ablation", "--results", str(tmp_path), "--grid", text, "--out", "unused.csv"]
    with pytest.raises(InputError, match="invalid json|JSON object|arch: missing"):
        make_table(argv)
