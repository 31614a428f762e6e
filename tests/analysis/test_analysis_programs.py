"""The table programs: what they write, what they say of a run with gaps, and what they refuse."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tasks.common.errors import InputError
from workflow.analysis import (
    ablation,
    cells,
    collect,
    layer_transfer,
    main,
    output,
    pretraining,
    zero_shot,
)


@pytest.mark.parametrize("module", [cells, ablation, main, layer_transfer, zero_shot, pretraining])
def test_with_nothing_run_every_table_is_there_and_every_number_missing(module, settings, tmp_path):
    table, text = module.build(tmp_path, settings)
    if "source" in table.columns:
        table = table[table["source"] == "this run"]
    assert len(table) and (table["n_seeds"] == 0).all() and table["mean"].isna().all()
    assert "missing" in text and "nan" not in text.lower()


DAMAGE = {
    "truncated": (lambda text: text[: len(text) // 2], "not JSON"),
    "not an object": (lambda text: "[]", "holds a list"),
    "another cell": (lambda text: text.replace('"rte"', '"cola"'), "'task' is 'cola'"),
    "without seeds": (lambda text: text.replace('"seeds"', '"runs"'), "'seeds' is missing"),
    "a word": (lambda text: text.replace('"train_tokens": 120000', '"train_tokens": "?"'), "'?'"),
    "NaN": (lambda text: text.replace('"peak_mb": 410.5', '"peak_mb": NaN'), "'peak_mb' is nan"),
    "beyond 100": (lambda text: text.replace('"accuracy": 57', '"accuracy": 9957'), "-100..100"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_cell_is_one_line_that_names_file_and_key(run_of, damage):
    results, settings = run_of("rte")
    path = collect.cell_path(results, "transformer", "rte", "on", "12")
    edit, found = DAMAGE[damage]
    text = path.read_text()
    assert edit(text) != text
    path.write_text(edit(text))
    with pytest.raises(InputError) as error:
        cells.build(results, settings)
    assert str(path) in str(error.value) and found in str(error.value)


def test_program_writes_csv_in_the_contracts_columns_and_markdown_beside_it(run_of):
    results, settings = run_of("rte", "mnli")
    out = results / "ablation.csv"
    argv = ["--results", str(results), "--settings", json.dumps(settings), "--out", str(out)]
    output.program(ablation.build, argv)
    first = out.read_bytes()
    output.program(ablation.build, argv)
    assert out.read_bytes() == first
    with open(out, encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert list(lines[0]) == output.CONTRACT
    missing = next(line for line in lines if line["task"] == "qqp")
    assert (missing["n_seeds"], missing["mean"], missing["sd"]) == ("0", "", "")
    assert out.with_suffix(".md").read_text(encoding="utf-8").startswith("# Ablations (Table 5)")


def test_program_fails_in_one_line_and_leaves_no_table(run_of):
    results, settings = run_of("rte")
    collect.cell_path(results, "lstm", "rte", "off", "1").write_text('{"arch": "ls')
    out = results / "cells.csv"
    command = [sys.executable, "-m", "workflow.analysis.cells", "--results", str(results)]
    command += ["--settings", json.dumps(settings), "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("error: ") and "layers-1.json" in done.stderr
    assert not out.exists() and not out.with_suffix(".md").exists()


@pytest.mark.parametrize("text", ["{", "[]", '{"tasks": ["rte"]}'])
def test_wrong_settings_are_refused_by_name(text, tmp_path):
    with pytest.raises(InputError, match="--settings"):
        output.program(
            ablation.build, ["--results", str(tmp_path), "--settings", text, "--out", "unused.csv"]
        )
