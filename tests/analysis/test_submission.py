"""The zip for the GLUE server: names, rows, words, the chosen seed, and what fills the rest."""

import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from tasks import task
from tasks.common.errors import InputError
from tasks.common.files import read_json
from tests.analysis.conftest import write, write_encoded, write_predictions
from tests.support.variants import cell as cell_of
from workflow.analysis import submission
from workflow.grid import Grid

OFFICIAL = {
    **{"AX.tsv": 1_104, "CoLA.tsv": 1_063, "MNLI-m.tsv": 9_796, "MNLI-mm.tsv": 9_847},
    **{"MRPC.tsv": 1_725, "QNLI.tsv": 5_463, "QQP.tsv": 390_965, "RTE.tsv": 3_000},
    **{"SST-2.tsv": 1_821, "STS-B.tsv": 1_379, "WNLI.tsv": 146},
}
THREE_WAY = {"entailment", "neutral", "contradiction"}
WORDS = {
    **dict.fromkeys(("AX.tsv", "MNLI-m.tsv", "MNLI-mm.tsv"), THREE_WAY),
    "STS-B.tsv": {"2.500"},
    "QNLI.tsv": {"entailment", "not_entailment"},
    "RTE.tsv": {"entailment", "not_entailment"},
}


def predicted(results: Path, name: str, answers: dict[int, dict], dev=None) -> Path:
    """Each seed's answers to a task's unlabelled rows, and its dev scores (rising by seed)."""
    cell = cell_of("transformer", name, "on", 12)
    value = json.loads(cell.path(results).read_text())
    for run in value["seeds"]:
        for split in task(name).report:
            score = (dev or {}).get(split, [50, 60, 70])[run["seed"]]
            run["scores"][split][task(name).metric] = score
    write(cell.path(results), value)
    splits = {
        split: {"role": "unlabelled", "lengths": {}, "examples": f"{name} {split}"}
        for split, given in answers[0].items()
    }
    write_encoded(results, name, **splits)
    rows = [
        (seed, split, f"{name}/{split}/{i}", "", None, answer)
        for seed, splits in answers.items()
        for split, given in splits.items()
        for i, answer in enumerate(given)
    ]
    return write_predictions(results, cell, rows)


def build(results: Path, grid: Grid, *names: str) -> tuple[dict[str, list], dict]:
    """The zip's rows by file, and the facts of each in the JSON beside it."""
    grid = grid.model_copy(update={"unlabelled": list(names)})
    submission.write(results, grid)
    facts = read_json(results / "glue_submission.json")["files"]
    with zipfile.ZipFile(results / "glue_submission.zip") as archive:
        found = {name: archive.read(name).decode() for name in archive.namelist()}
    tables = {}
    for name, text in found.items():
        assert text.endswith("\n") and "\r" not in text
        tables[name] = [line.split("\t") for line in text.splitlines()]
        assert tables[name].pop(0) == ["index", "prediction"]
    return tables, facts


@pytest.fixture(autouse=True)
def fewer(request, monkeypatch):
    """QQP's 390,965 constant answers take seconds: one test alone has them all."""
    if "official_size" not in request.node.name:
        monkeypatch.setitem(task("qqp").unlabelled, "test", 9)


@pytest.fixture
def rte(run_of) -> tuple[Path, Grid]:
    results, grid = run_of("rte")
    predicted(results, "rte", {s: {"test": [s == 2, s == 1, 0]} for s in range(3)})
    return results, grid


def test_eleven_files_of_the_official_size_whatever_was_run(rte):
    tables, facts = build(*rte, "rte")
    assert list(tables) == list(OFFICIAL) == list(facts)
    for name, rows in tables.items():
        wanted = range(3) if name == "RTE.tsv" else range(OFFICIAL[name])
        assert [int(index) for index, _ in rows] == list(wanted)
        assert len({answer for _, answer in rows}) == 1 or name == "RTE.tsv"
        assert {answer for _, answer in rows} <= WORDS.get(name, {"0", "1"})
        assert facts[name]["official_rows"] == OFFICIAL[name]


def test_the_seed_that_is_best_on_dev_answers(rte):
    tables, facts = build(*rte, "rte")
    assert tables["RTE.tsv"] == [["0", "not_entailment"], ["1", "entailment"], ["2", "entailment"]]
    found = facts["RTE.tsv"]
    assert (found["seed"], found["seeds"], found["chosen_on"], found["score"]) == (2, 3, "dev", 70)
    assert (found["rows"], found["official_rows"], found["answers"]) == (3, 3000, "run")
    for name, constant, why in (
        ("CoLA.tsv", "1", "not run"),
        ("WNLI.tsv", "0", "not among the paper's tasks"),
    ):
        assert (facts[name]["constant"], facts[name]["why"]) == (constant, why)


def test_predictions_of_rows_that_were_exchanged_since_are_refused(rte):
    write_encoded(
        rte[0], "rte", test={"role": "unlabelled", "lengths": {}, "examples": "other rows"}
    )
    with pytest.raises(InputError, match=r"rte\.json: its test rows are not those of .*parquet"):
        build(*rte, "rte")


def test_of_equally_good_seeds_the_first_answers(rte):
    results, grid = rte
    answers = {s: {"test": [s == 1, 1, 1]} for s in range(3)}
    predicted(results, "rte", answers, dev={"dev": [60, 70, 70]})
    tables, facts = build(results, grid, "rte")
    assert facts["RTE.tsv"]["seed"] == 1 and tables["RTE.tsv"][0] == ["0", "not_entailment"]


def test_mnli_answers_three_files_by_the_mean_of_both_dev_sets(run_of):
    results, grid = run_of("mnli")
    answers = {
        s: {"test_matched": [0, 1], "test_mismatched": [2, s], "ax": [1, s, 0]} for s in range(3)
    }
    dev = {"dev_matched": [70, 60, 80], "dev_mismatched": [70, 90, 60]}
    predicted(results, "mnli", answers, dev=dev)
    tables, facts = build(results, grid, "mnli")
    said = {name: [answer for _, answer in tables[name]] for name in tables}
    assert said["MNLI-m.tsv"] == ["entailment", "neutral"]
    assert said["MNLI-mm.tsv"] == ["contradiction", "neutral"]
    assert said["AX.tsv"] == ["neutral", "neutral", "entailment"]
    assert facts["AX.tsv"]["chosen_on"] == "dev_matched+dev_mismatched"
    assert facts["AX.tsv"]["seed"] == 1


def test_without_the_diagnostic_rows_their_file_is_constant(run_of):
    results, grid = run_of("mnli")
    predicted(results, "mnli", {s: {"test_matched": [0], "test_mismatched": [1]} for s in range(3)})
    tables, facts = build(results, grid, "mnli")
    assert facts["AX.tsv"]["answers"] == "constant" and len(tables["AX.tsv"]) == 1_104
    assert (facts["AX.tsv"]["why"], facts["AX.tsv"]["seed"]) == ("its rows are missing", 2)
    assert facts["MNLI-m.tsv"]["answers"] == "run"


def test_scores_have_three_decimals_and_stay_within_0_and_5(run_of):
    results, grid = run_of("stsb")
    predicted(results, "stsb", {s: {"test": [2.34567, -0.2, 5.3, 4]} for s in range(3)})
    tables, _ = build(results, grid, "stsb")
    assert [answer for _, answer in tables["STS-B.tsv"]] == ["2.346", "0.000", "5.000", "4.000"]


def test_a_best_seed_without_predictions_of_the_unlabelled_rows_is_refused(rte):
    results, grid = rte
    cell = cell_of("transformer", "rte", "on", 12)
    rows = pd.read_parquet(cell.predictions(results)).astype({"label": object})
    rows = rows[rows["seed"] < 2].assign(label=None)
    path = write_predictions(results, cell, list(rows.itertuples(index=False, name=None)))
    with pytest.raises(InputError, match=f"{path}: no predictions of unlabelled rows by seed 2"):
        build(results, grid, "rte")
