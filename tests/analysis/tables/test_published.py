"""Tables 2 to 4, and decontaminated scores from hand-made predictions and marks."""

import json
import math
from pathlib import Path

import pandas as pd
import pytest

import tasks
from tasks.common.errors import InputError
from tasks.metrics import score_split
from tests.analysis.conftest import (
    LAYERS,
    build,
    make_grid,
    the,
    write,
    write_examples,
    write_predictions,
)
from tests.support.programs import refusal
from tests.support.variants import cell as cell_of
from workflow.analysis.paper import FULL, NUMBERS, OURS
from workflow.analysis.rows import read_predictions
from workflow.analysis.tables import published
from workflow.grid import Grid

# Labels of eight rows, what two seeds answer, and the rows that are marked.
LABELS = [0, 1, 0, 1, 0, 1, 0, 1]
ANSWERS = {0: [0, 1, 0, 1, 1, 0, 1, 0], 1: [0, 1, 1, 1, 0, 1, 0, 0], 2: [1] * 8}
CONTAMINATED, SHORT = [4, 5, 6], [0, 1, 2]
RTE = cell_of("transformer", "rte", "on", 12)


def marked(results: Path, name: str, rows=CONTAMINATED, split: str = "dev") -> None:
    """What the eight rows of a task's reported split share with the corpus."""
    words = [12 if i in SHORT else 20 for i in range(8)]
    found = {"words": words, "match": [13 * (i in rows) for i in range(8)]}
    value = {"task": name, "splits": {split: found}, "examples": {split: f"{name} {split}"}}
    value |= {"documents": ""}
    write(results / "contamination" / f"{name}.json", value)
    write_examples(results, name, sha256=value["examples"])


def answered(results: Path, name: str, split: str = "dev", groups=("",) * 8) -> None:
    """ANSWERS of the fully transferred transformer with aux, and the cell that they score."""
    cell = cell_of("transformer", name, "on", 12)
    value = json.loads(cell.path(results).read_text())
    for run in value["seeds"]:
        found = ANSWERS[run["seed"]]
        run["scores"] |= score_split(tasks.task(name).spec, found, LABELS, groups, split)
    write(cell.path(results), value)
    rows = [
        (seed, split, f"{name}/{split}/{i}", group, label, answer)
        for seed, given in ANSWERS.items()
        for i, (label, group, answer) in enumerate(zip(LABELS, groups, given, strict=True))
    ]
    write_predictions(results, cell, rows)


@pytest.fixture
def rte(run_of) -> tuple[Path, Grid]:
    results, grid = run_of("rte")
    marked(results, "rte")
    answered(results, "rte")
    return results, grid


def test_a_score_on_decontaminated_rows_is_that_worked_out_by_hand_in_both_tables(rte):
    # Rows 0, 1, 2, 3 and 7 are not contaminated: 4, 3 and 3 of 5 answers are right.
    table, text = build("contamination", *rte)
    of_main, main = build("main", *rte)
    here = the(table, task="rte", aux="on")
    for row in (here, the(of_main, source="this run", column="RTE", aux="on")):
        assert row["decontaminated_rows"] == 5
        assert row["decontaminated_mean"] == pytest.approx((80 + 60 + 60) / 3)
        assert row["decontaminated_sd"] == pytest.approx(math.sqrt(400 / 3))
        assert row["mean"] == pytest.approx((50 + 75 + 50) / 3)
        assert (row["arch"], row["n_transfer"], row["n_seeds"]) == ("transformer", "12", 3)
    assert (here["rows"], here["share"], here["short"]) == (8, 37.5, 37.5)
    line = next(line for line in text.splitlines() if line.startswith("| RTE"))
    cells = [cell.strip() for cell in line.split("|")[1:-1]]
    assert cells[1:5] == ["dev", "8", "37.5 %", "37.5 %"]
    assert cells[6:8] == ["58.3 ± 14.4", "66.7 ± 11.5 (n 5)"] and cells[9] == "missing"
    lines = [line for line in main.splitlines() if "(this run), decontaminated" in line]
    assert "(this run), decontaminated (n 5) " in lines[0]  # one task, so one number of rows
    assert "66.7 ± 11.5 |" in lines[0]
    # Without aux there are no predictions here, nor any of the other tasks.
    assert "(n" not in lines[1] and lines[1].count("missing") == 6
    assert lines[0].count("missing") == 5
    assert published.DECONTAMINATED_LINES.strip() in main


def test_a_failed_fit_counts_in_neither_of_the_two_scores(rte):
    path = RTE.path(rte[0])
    value = json.loads(path.read_text())
    value["seeds"][2]["alarms"] = ["constant_prediction"]  # 25 points below the best
    write(path, value)
    here = the(build("contamination", *rte)[0], task="rte", aux="on")
    assert here["mean"] == pytest.approx((50 + 75) / 2)
    assert here["decontaminated_mean"] == pytest.approx((80 + 60) / 2)
    assert here["decontaminated_sd"] == pytest.approx(math.sqrt(200))


def test_main_has_the_number_of_rows_in_each_cell_where_it_differs():
    counts = pd.DataFrame({"line": "ours", "decontaminated_rows": [5.0, 7.0, None]})
    counts = counts.assign(decontaminated_mean=50.0, decontaminated_sd=None)
    line = published._decontaminated_line(counts)
    assert list(line["shown"]) == ["50.0 (n 5)", "50.0 (n 7)", "missing"]
    assert set(line["line"]) == {"ours, decontaminated"}


def test_published_weights_have_no_decontaminated_rows(rte):
    _, text = build("main", rte[0], make_grid("rte", has_corpus=False, layers=LAYERS))
    assert "decontaminated" not in text.lower()


def test_where_the_corpus_was_not_searched_it_says_missing(run_of):
    table, text = build("contamination", *run_of("rte"))
    row = the(table, task="rte", aux="on")
    assert row["n_seeds"] == 3 and math.isnan(row["decontaminated_mean"])
    assert row[["rows", "share"]].isna().all()
    line = next(line for line in text.splitlines() if line.startswith("| RTE"))
    assert line.count("missing") == 5


def test_with_no_decontaminated_row_there_is_no_score(run_of):
    results, grid = run_of("rte")
    marked(results, "rte", range(8))
    answered(results, "rte")
    row = the(build("contamination", results, grid)[0], task="rte", aux="on")
    assert row["decontaminated_rows"] == 0 and math.isnan(row["decontaminated_mean"])
    _, text = build("main", results, grid)
    assert "(n 0)" not in text and "nan" not in text


def test_a_group_has_its_own_rows(run_of):
    results, grid = run_of("race")
    groups = ["middle"] * 3 + ["high"] * 5
    marked(results, "race", split="test")
    answered(results, "race", "test", groups)
    table, _ = build("contamination", results, grid)
    middle, high = (the(table, aux="on", split=f"test_{name}") for name in ("middle", "high"))
    assert (middle["rows"], middle["decontaminated_rows"], middle["share"]) == (3, 3, 0)
    assert (high["rows"], high["decontaminated_rows"], high["share"]) == (5, 2, 60)
    assert high["decontaminated_mean"] == pytest.approx((50 + 50 + 100) / 3)  # rows 3 and 7
    assert middle["decontaminated_mean"] == pytest.approx((100 + 200 / 3 + 100 / 3) / 3)
    assert the(table, aux="on", split="test")["decontaminated_rows"] == 5


@pytest.mark.parametrize("module", ["main", "contamination"])
def test_marks_and_predictions_or_examples_of_other_rows_are_refused(module, rte):
    results, grid = rte
    rows = list(pd.read_parquet(RTE.predictions(results)).itertuples(index=False, name=None))
    write_predictions(results, RTE, rows, {"dev": "other rows"})
    with pytest.raises(InputError, match=r"rte\.json: its dev rows are not those of .*parquet"):
        build(module, results, grid)
    write_examples(results, "rte", sha256={"dev": "other rows"})
    with pytest.raises(InputError, match=r"rte\.json: its dev rows are not .*examples"):
        build(module, results, grid)


def test_predictions_other_than_the_cells_own_are_refused(rte, monkeypatch):
    results, _ = rte
    lstm = cell_of("lstm", "rte", "on", 1)
    other = write_predictions(results, lstm, [(0, "dev", "x", "", 1.0, 1.0)])
    path = RTE.predictions(results)
    path.write_bytes(other.read_bytes())
    monkeypatch.setenv("RUN_OPTIONS", "--configfile my.yaml")
    remedy = f"make it again: snakemake --cores 1 --force {path} --configfile my.yaml"
    told = f"{path}: not the predictions that {RTE.path(results)} was written with; {remedy}"
    assert refusal(lambda: read_predictions(results, RTE)) == told


def test_a_seed_that_the_config_no_longer_has_is_left_out(run_of):
    results, grid = run_of("rte", seeds={"pretrain": [0], "finetune": [0]})
    marked(results, "rte")
    answered(results, "rte")
    row = the(build("contamination", results, grid)[0], task="rte", aux="on")
    assert row["decontaminated_mean"] == 80 and math.isnan(row["decontaminated_sd"])


def test_the_full_model_of_table_5_has_the_scores_of_tables_2_to_4():
    ours = NUMBERS[NUMBERS["method"] == OURS].groupby("task")["value"].mean()
    whole = NUMBERS[(NUMBERS["method"] == FULL.title) & (NUMBERS["task"] != "avg")]
    for task, value in whole[["task", "value"]].itertuples(index=False):
        assert value == pytest.approx(ours[task], abs=0.051), task
