"""The zip for the GLUE server: names, rows, words, the chosen seed, and what fills the rest."""

import json
import zipfile
from pathlib import Path

import pytest

from tasks import hidden, task
from tasks.common.errors import InputError
from tasks.common.files import sha256_file
from tasks.examples import write_examples
from tasks.types import Example
from tests.analysis.conftest import write
from workflow.analysis import collect, submission

REALDATA = Path(__file__).parents[2].parent / "shared" / "realdata"
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


def handed_in(results: Path, name: str, answers: dict[int, dict], rows=None, dev=None) -> None:
    """Hidden rows of a task, each seed's answers, and its dev scores (rising by seed)."""
    rows = rows or [
        Example(split, f"{name}/{split}/{i}", "a", "b", (), -1)
        for split, told in answers[0].items()
        for i in range(len(told))
    ]
    write_examples(results / "hidden" / f"{name}.jsonl", rows)
    cell = collect.cell_path(results, "transformer", name, "on", "12")
    value = json.loads(cell.read_text())
    for run in value["seeds"]:
        for split in task(name).report:
            score = (dev or {}).get(split, [50, 60, 70])[run["seed"]]
            run["scores"][split][task(name).metric] = score
    write(cell, value)
    rows_path = results / "hidden" / f"{name}.npz"
    rows_path.write_bytes(name.encode())
    seeds = [{"seed": s, "select": 1.0, "predictions": {}, "hidden": a} for s, a in answers.items()]
    about = {"arch": "transformer", "task": name, "aux": True, "n_transfer": 12}
    about["hidden_data"] = sha256_file(rows_path)
    write(results / "predictions" / cell.relative_to(results / "cells"), {**about, "seeds": seeds})


def build(results: Path, settings: dict, *names: str) -> tuple[dict[str, list], dict, str]:
    """The zip's rows by file, the JSON beside it, the note."""
    settings = {**settings, "tasks": list(names), "aux": ["on"]}
    texts, facts = submission.sheets(results, settings)
    path = results / "glue_submission.zip"
    submission.write_zip(path, {**texts, submission.NOTE: submission.note(facts)})
    with zipfile.ZipFile(path) as archive:
        found = {name: archive.read(name).decode() for name in archive.namelist()}
    note = found.pop(submission.NOTE)
    tables = {}
    for name, text in found.items():
        assert text.endswith("\n") and "\r" not in text
        tables[name] = [line.split("\t") for line in text.splitlines()]
        assert tables[name].pop(0) == ["index", "prediction"]
    return tables, facts, note


@pytest.fixture
def rte(run_of):
    results, settings = run_of("rte")
    handed_in(results, "rte", {s: {"test": [s == 2, s == 1, 0]} for s in range(3)})
    return results, settings


def test_eleven_files_of_the_official_size_whatever_was_run(rte):
    tables, facts, _ = build(*rte, "rte")
    assert list(tables) == list(OFFICIAL) == list(facts)
    for name, rows in tables.items():
        wanted = range(3) if name == "RTE.tsv" else range(OFFICIAL[name])
        assert [int(index) for index, _ in rows] == list(wanted)
        assert len({answer for _, answer in rows}) == 1 or name == "RTE.tsv"
        assert {answer for _, answer in rows} <= WORDS.get(name, {"0", "1"})
        assert facts[name]["official_rows"] == OFFICIAL[name]


def test_the_seed_that_is_best_on_dev_answers(rte):
    tables, facts, note = build(*rte, "rte")
    assert tables["RTE.tsv"] == [["0", "not_entailment"], ["1", "entailment"], ["2", "entailment"]]
    told = facts["RTE.tsv"]
    assert (told["seed"], told["seeds"], told["chosen_on"], told["score"]) == (2, 3, "dev", 70)
    assert "RTE.tsv: 3 rows; seed 2 of 3, best on dev (accuracy 70.0)" in note
    assert "NOT THE OFFICIAL ROWS, of which there are 3,000" in note
    assert "CoLA.tsv: 1,063 rows; not run; all rows say 1\n" in note
    assert "WNLI.tsv: 146 rows; not among the paper's tasks; all rows say 0\n" in note


def test_answers_to_rows_that_were_exchanged_since_are_refused(rte):
    (rte[0] / "hidden" / "rte.npz").write_bytes(b"other rows")
    with pytest.raises(InputError, match="its answers are to other rows than .*hidden/rte.npz's"):
        build(*rte, "rte")


def test_of_equally_good_seeds_the_first_answers(rte):
    results, settings = rte
    answers = {s: {"test": [s == 1, 1, 1]} for s in range(3)}
    handed_in(results, "rte", answers, dev={"dev": [60, 70, 70]})
    tables, facts, _ = build(results, settings, "rte")
    assert facts["RTE.tsv"]["seed"] == 1 and tables["RTE.tsv"][0] == ["0", "not_entailment"]


def test_mnli_answers_three_files_by_the_mean_of_both_dev_sets(run_of):
    results, settings = run_of("mnli")
    answers = {
        s: {"test_matched": [0, 1], "test_mismatched": [2, s], "ax": [1, s, 0]} for s in range(3)
    }
    dev = {"dev_matched": [70, 60, 80], "dev_mismatched": [70, 90, 60]}
    handed_in(results, "mnli", answers, dev=dev)
    tables, facts, _ = build(results, settings, "mnli")
    said = {name: [answer for _, answer in tables[name]] for name in tables}
    assert said["MNLI-m.tsv"] == ["entailment", "neutral"]
    assert said["MNLI-mm.tsv"] == ["contradiction", "neutral"]
    assert said["AX.tsv"] == ["neutral", "neutral", "entailment"]
    assert facts["AX.tsv"]["chosen_on"] == "dev_matched+dev_mismatched"
    assert facts["AX.tsv"]["seed"] == 1


def test_without_the_diagnostic_rows_their_file_is_constant(run_of):
    results, settings = run_of("mnli")
    handed_in(results, "mnli", {s: {"test_matched": [0], "test_mismatched": [1]} for s in range(3)})
    tables, facts, note = build(results, settings, "mnli")
    assert facts["AX.tsv"]["answers"] == "constant" and len(tables["AX.tsv"]) == 1_104
    assert "AX.tsv: 1,104 rows; its rows are not there; all rows say entailment" in note
    assert facts["MNLI-m.tsv"]["answers"] == "run"


def test_scores_have_three_decimals_and_stay_within_0_and_5(run_of):
    results, settings = run_of("stsb")
    handed_in(results, "stsb", {s: {"test": [2.34567, -0.2, 5.3, 4]} for s in range(3)})
    tables, _, _ = build(results, settings, "stsb")
    assert [answer for _, answer in tables["STS-B.tsv"]] == ["2.346", "0.000", "5.000", "4.000"]


def test_equal_answers_give_equal_bytes(rte):
    results, _ = rte
    build(*rte, "rte")
    first = (results / "glue_submission.zip").read_bytes()
    build(*rte, "rte")
    assert (results / "glue_submission.zip").read_bytes() == first


def test_answers_that_are_not_to_the_rows_are_refused(rte):
    results, settings = rte
    path = results / "predictions/transformer/rte/aux-on/layers-12.json"
    whole = json.loads(path.read_text())
    short = json.loads(path.read_text())
    short["seeds"][2]["hidden"]["test"].pop()
    del whole["seeds"][2]["hidden"]
    for value, said in ((short, "its answers are not to the rows"), (whole, "by seed 2")):
        write(path, value)
        with pytest.raises(InputError) as error:
            build(results, settings, "rte")
        assert said in str(error.value) and str(path) in str(error.value)


def test_with_no_task_to_hand_in_there_is_no_zip(rte):
    with pytest.raises(InputError, match="the grid has no GLUE task to hand in"):
        build(*rte)


@pytest.mark.skipif(
    not REALDATA.is_dir(), reason="the published files do not lie beside the project"
)
@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("cola", "CoLA.tsv"),
        ("rte", "RTE.tsv"),
        ("mrpc", "MRPC.tsv"),
        ("sst2", "SST-2.tsv"),
        ("stsb", "STS-B.tsv"),
    ],
)
def test_made_up_answers_to_the_published_rows_come_out_under_their_index(name, file, run_of):
    results, settings = run_of(name)
    rows = hidden.read(task(name), REALDATA / task(name).folder)
    answers = {
        s: {"test": [(i * (s + 1)) % (6 if name == "stsb" else 2) for i in range(len(rows))]}
        for s in range(3)
    }
    handed_in(results, name, answers, rows)
    tables, facts, note = build(results, settings, name)
    wanted = [submission.word(name, answer) for answer in answers[2]["test"]]
    assert tables[file] == [[str(i), answer] for i, answer in enumerate(wanted)]
    assert facts[file]["rows"] == OFFICIAL[file] and "NOT THE OFFICIAL" not in note
    published = (REALDATA / task(name).folder / "test.tsv").read_text("utf-8-sig").split("\n")[1:]
    assert [line.split("\t")[0] for line in published if line] == [i for i, _ in tables[file]]
