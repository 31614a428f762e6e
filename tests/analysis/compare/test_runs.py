"""Two runs compared: what differs, what is the same, and the run's own pool of seeds."""

import shutil

import numpy as np
import pandas as pd
import pytest

import gpt1
from gpt1.cell import Cell
from tasks.common.errors import InputError
from tasks.common.files import read_json, write_json
from tests.analysis.conftest import write, write_all, write_answers, write_cell_answers
from tests.support.tables import write_table
from tests.workflow.configs import changed, small
from workflow.analysis.compare import SAME
from workflow.analysis.sides import side
from workflow.configuration.read import as_yaml, parse, read
from workflow.plan import Plan

CELL = Cell("n_transfer-none", "rte")
CLAIM = {"statement": "It helps", "tasks": "RTE", "contrast": "a - b", "ours": 3.0}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run, and the same with another setting, in which a cell is another."""
    folder = tmp_path_factory.mktemp("runs")
    grid = Plan(parse(small())).grid()
    write_all(folder / "a", grid)
    write_answers(folder / "a", grid)
    path = CELL.path(folder / "a")
    cell = read_json(path)
    write(path, cell | {"seeds": [one | {"alarms": []} for one in cell["seeds"]]})
    shutil.copytree(folder / "a", folder / "b")
    write_cell_answers(folder / "b", CELL, np.random.default_rng(3), 0.8)
    for name, lm_coef, verdict in (("a", 0.5, "undecided"), ("b", 0.25, "holds")):
        config = changed(small(), "experiment.finetune.lm_coef", lm_coef) | {"results": name}
        (folder / name / "config.yaml").write_text(as_yaml(parse(config)))
        write_table(pd.DataFrame([CLAIM | {"verdict": verdict}]), folder / name / "claims.csv")
    return folder / "a", folder / "b"


def test_what_differs_is_told_and_the_rest_is_the_same_in_every_row(runs):
    found = gpt1.compare(*runs)
    others = found.frame["verdict"] != SAME
    assert {*found.frame.loc[others, "line"]} == {CELL.variant} and len(found.frame) > 20
    assert {*found.frame.loc[others, "task"]} == {CELL.task, "mean"}
    same = gpt1.compare(runs[0], runs[0]).markdown  # the scores are shown all the same
    assert "scores 0 differ" in same and same.count(SAME) == len(found.frame)
    row = found.frame[others].set_index("task").loc["rte"]
    assert row["diff"] > 20 and row["diff"] == pytest.approx(np.mean(row["diff_by_seed"]))
    told = [line for line in found.markdown.splitlines() if "lm_coef" in line or "helps" in line]
    assert [[*filter(None, map(str.strip, line.split("|")))] for line in told] == [
        ["It helps; RTE; a - b", "3.0, undecided", "3.0, holds"],
        ["experiment.finetune.lm_coef", "0.5", "0.25"],
    ]
    assert "## Transformer w/o pre-training\n" in found.markdown and "| RTE " in found.markdown
    titled = set(found.frame["line_title"])
    assert "Transformer w/ aux LM (full)" in titled and "LSTM w/ aux LM, n_transfer 0" in titled
    (panel,) = found.figure().axes
    assert " ".join(panel.get_title().split()) == "Transformer w/o pre-training"
    assert "RTE" in [tick.get_text() for tick in panel.get_yticklabels()]
    back = gpt1.compare(*runs[::-1]).frame.set_index(["line", "task"])["diff_low"]
    high = found.frame.set_index(["line", "task"])["diff_high"]
    assert (-back)[high.index].to_numpy() == pytest.approx(high.to_numpy(), nan_ok=True)


def test_the_variance_over_seeds_is_pooled_over_the_lines_of_both_runs(runs, tmp_path):
    lines = [side(run, "accuracy").pool.variants for run in runs]
    assert len(lines[0]) == len(lines[1]) > 3
    shutil.copytree(runs[1], tmp_path / "b")
    (tmp_path / "b/config.yaml").write_text("of: {another: version}\n")
    shutil.copytree(runs[0], tmp_path / "a")
    (tmp_path / "a/config.yaml").unlink()
    width = [
        (of["diff_high"] - of["diff_low"])[of["line"] == CELL.variant].min()
        for of in (gpt1.compare(*runs).frame, gpt1.compare(tmp_path / "a", tmp_path / "b").frame)
    ]
    assert width[0] < width[1]  # by its own two seeds alone


def test_other_rows_leave_out_a_task_and_no_common_task_is_one_line(runs, tmp_path):
    shutil.copytree(runs[1], tmp_path / "b")
    for path in (tmp_path / "b").glob("cells/*/rte.json"):
        path.unlink()
    left = gpt1.compare(runs[0], tmp_path / "b")
    assert {*left.frame["task"]} == {"cola"}
    shutil.rmtree(tmp_path / "b/cells")
    with pytest.raises(InputError, match="no results; give a run's folder"):
        gpt1.compare(runs[0], tmp_path / "b")


def test_cells_of_an_earlier_config_are_named_and_left_out(runs, tmp_path):
    shutil.copytree(runs[1], tmp_path / "b")
    for folder in ("cells", "predictions"):
        shutil.copytree(tmp_path / "b" / folder / CELL.variant, tmp_path / "b" / folder / "earlier")
    for path in (tmp_path / "b/cells/earlier").iterdir():
        write_json(path, read_json(path) | {"variant": "earlier"})
    found = gpt1.compare(runs[0], tmp_path / "b")
    pd.testing.assert_frame_equal(found.frame, gpt1.compare(*runs).frame)
    n = len([*path.parent.iterdir()])
    assert (
        f"Left out: {n} cells of another config than that of {tmp_path}/b/config" in found.markdown
    )
    (tmp_path / "b/studies").mkdir()
    write_table(pd.DataFrame([CLAIM]), tmp_path / "b/studies/removed.csv")
    with pytest.warns(UserWarning, match=f"{n + 1} files of another config than .* are left out"):
        tables = gpt1.results(tmp_path / "b")
    assert [*tables] == ["claims", "cells"] and "earlier" not in {*tables["cells"]["line"]}
    (tmp_path / "b/config.yaml").unlink()
    told = gpt1.compare(tmp_path / "b", runs[0]).markdown
    assert "Variants have no titles and seeds are not pooled" in told and "yaml: No such" in told


def test_cells_of_a_study_that_all_leaves_out_are_compared_and_titled(runs, tmp_path):
    for run in runs:
        shutil.copytree(run, tmp_path / run.name)
        config = read([run / "config.yaml"])
        study = {"lines": {"full": {}, "Mine": {"finetune.l2": 0}}}
        config["experiment"]["studies"]["mine"] = study
        (tmp_path / run.name / "config.yaml").write_text(as_yaml(parse(config)))
        for folder in ("cells", "predictions"):
            of = tmp_path / run.name / folder
            shutil.copytree(of / CELL.variant, of / "finetune.l2-0")
        for path in (tmp_path / run.name / "cells/finetune.l2-0").iterdir():
            write_json(path, read_json(path) | {"variant": "finetune.l2-0"})
    found = gpt1.compare(tmp_path / "a", tmp_path / "b")
    assert "Mine" in {*found.frame["line_title"]} and "Left out" not in found.markdown
    assert "mine" not in parse(config).experiment.all


def test_what_cells_record_is_compared_whatever_the_config_says(runs, tmp_path):
    shutil.copytree(runs[0], tmp_path / "b")
    path = CELL.path(tmp_path / "b")
    facts = read_json(path)
    facts["settings"]["lr"] *= 2
    write_json(path, facts)
    assert "## What cells were trained with" not in gpt1.compare(*runs).markdown
    told = gpt1.compare(runs[0], tmp_path / "b").markdown
    assert "## 0 of " in told and "keys of the configs differ" in told
    (row,) = [line for line in told.splitlines() if line.startswith("| lr")]
    assert [*map(str.strip, row.split("|"))][1] == "lr (1)"
