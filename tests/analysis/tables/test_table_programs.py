"""The table programs: what they write, what they say of a run with gaps, and what they refuse."""

import re

import numpy as np
import pandas as pd
import pytest

from tasks.common.errors import InputError
from tasks.common.files import read_json
from tests.analysis.conftest import write, write_answers, write_cell_answers
from tests.support.variants import cell as cell_of
from workflow.analysis import report, table
from workflow.analysis.paper import FULL
from workflow.analysis.report import main


def test_numbers_are_read_to_the_last_digit_and_values_by_seed_as_written_or_refused(tmp_path):
    path, by_seed = tmp_path / "table.csv", [(84.1, 85.25), (), (1.0,), ()]
    scores = [0.1 + 0.2, 5e-324, 1.7976931348623157e308, 2**53 - 1.0]
    table.Table(pd.DataFrame({"score": scores, "by_seed": by_seed}), []).write(path)
    text, found = path.read_text(), table.read_csv(path)
    assert "84.1000;85.2500" in text
    assert found["by_seed"].tolist() == by_seed and found["score"].tolist() == scores
    path.write_text(text.replace(";", "!"))
    with pytest.raises(InputError, match=r"table\.csv: not a table"):
        table.read_csv(path)


@pytest.mark.parametrize("name", ["ablation", "main", "contamination", "layer_transfer"])
def test_a_table_reads_no_more_cells_than_its_rule_has(name, run_of):
    results, grid = run_of("rte")
    read = {*grid.studies["ablation"].cells()}
    read |= {*grid.studies["layer_transfer"].cells()} if name == "layer_transfer" else set()
    read = {*grid.full_transformer()} if name == "contamination" else read
    for cell in {*grid.cells()} - read:
        cell.path(results).unlink()
    assert len(report.build(name, results, grid).frame)
    min(read, key=str).path(results).unlink()
    with pytest.raises(InputError, match=r"\.json: no such file"):
        report.build(name, results, grid)


def test_a_cell_that_is_trained_anew_is_sampled_anew_in_the_same_process(run_of):
    results, grid = run_of("rte")
    write_answers(results, grid)
    cell = cell_of("transformer", "rte", "on", 12)
    before = report.build("ablation", results, grid).frame.set_index(["variant", "task"])
    write_cell_answers(results, cell, np.random.default_rng(9), 0.5)
    after = report.build("ablation", results, grid).frame.set_index(["variant", "task"])
    changed = after["mean"].compare(before["mean"]).index
    assert (FULL.title, "rte") in changed
    assert set(changed.get_level_values("variant")) == {FULL.title}


def test_costs_are_apart_from_the_scores(run_of):
    results, grid = run_of("rte")
    scores = ["cells", "ablation", "layer_transfer", "main", "pretraining"]
    costs = ["cost", "cost_pretraining"]
    before = {name: report.build(name, results, grid) for name in scores + costs}
    for path in results.glob("cells/*/*.json"):
        record = read_json(path)
        for run in record["seeds"]:
            run |= {"train_seconds": run["train_seconds"] * 3, "peak_mb": 999.5}
        write(path, record)
    for path in results.glob("pretrain/*/*/update-*.json"):
        path.write_text(path.read_text().replace('"seconds": ', '"seconds": 9'))
    for name in scores + costs:
        made = report.build(name, results, grid)
        same = made.frame.equals(before[name].frame), made.markdown == before[name].markdown
        assert same == (name in scores, name in scores)
    found = report.build("cost", results, grid).frame.query("stage == 'fine-tuning'")
    assert len(found) == len(grid.cells()) * len(grid.seeds.finetune)
    assert found["train_seconds"].min() == 3 * 3.5 and set(found["peak_mb"]) == {999.5}


def test_several_are_made_in_one_process_whose_log_has_their_times_and_names_a_faulty_one(
    run_of, capsys
):
    results, grid = run_of("rte")
    file = results / "grid.json"
    file.write_text(grid.to_json())
    argv = ["--results", str(results), "--grid", str(file)]
    products = ["ablation.csv", "figures/differences.png"]
    main([*products, *argv])
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(": ")[0] for line in lines] == products
    assert all(re.fullmatch(r".*: \d+\.\d s", line) for line in lines)
    assert {path.name for path in results.glob("*/differences.*")} == {
        f"differences.{form}" for form in ("png", "svg", "pdf")
    }
    own = {*grid.cells()} - {*grid.studies["ablation"].cells()}
    damaged = min(own, key=str).path(results)
    damaged.write_text(damaged.read_text().replace('"rte"', '"cola"'))
    told = rf"^cells\.csv: {re.escape(str(damaged))}: 'task' is 'cola', its path says 'rte'"
    with pytest.raises(InputError, match=told):
        main(["ablation.csv", "cells.csv", *argv])
