"""Scores on the clean rows, from hand-made predictions, marks and examples."""

import json
import math
from pathlib import Path

import pandas as pd
import pytest

import tasks
from tasks.common.errors import InputError
from tasks.common.files import sha256_file
from tasks.examples import write_examples
from tasks.metrics import score_split
from tasks.types import Example
from tests.analysis.conftest import write
from workflow.analysis import clean, collect, contamination, main

# Labels of eight rows, what two seeds answer, and the rows that are marked.
LABELS = [0, 1, 0, 1, 0, 1, 0, 1]
ANSWERS = {0: [0, 1, 0, 1, 1, 0, 1, 0], 1: [0, 1, 1, 1, 0, 1, 0, 0], 2: [1] * 8}
BY_PIECES, BY_WORDS, SHORT = [4, 5], [5, 6], [0, 1, 2]


def marked(results: Path, name: str, labels: list, split: str = "dev", groups=None, **marks):
    """The examples of a task and what was marked among them."""
    groups = groups or [""] * len(labels)
    rows = [
        Example(split, f"{name}/{split}/{i}", "text", "", (), label, group)
        for i, (label, group) in enumerate(zip(labels, groups, strict=True))
    ]
    train = Example("train", f"{name}/train/0", "text", "", (), labels[0])
    path = results / "examples" / f"{name}.jsonl"
    write_examples(path, [train, *rows])
    told = {"rows": len(rows)}
    for kind, found in (("pieces", BY_PIECES), ("words", BY_WORDS)):
        told[kind] = {"contaminated": marks.get(kind, found), "too_short": SHORT}
    marks = {"task": name, "n": 13, "splits": {split: told}, "examples": sha256_file(path)}
    write(results / "contamination" / f"{name}.json", marks)


def answered(results: Path, name: str, labels: list, answers: dict, split="dev", groups=None):
    """Predictions of the fully transferred transformer with aux, and the cell that they score."""
    kind = tasks.task(name).kind
    path = collect.cell_path(results, "transformer", name, "on", "12")
    cell = json.loads(path.read_text())
    for run in cell["seeds"]:
        found = answers[run["seed"]]
        run["scores"] |= score_split(kind, found, labels, groups or [""] * len(labels), split)
    write(path, cell)
    seeds = [{"seed": s, "select": 50.0, "predictions": {split: a}} for s, a in answers.items()]
    about = {"arch": "transformer", "task": name, "aux": True, "n_transfer": 12}
    encoded = results / "encoded" / f"{name}.npz"
    encoded.parent.mkdir(exist_ok=True)
    encoded.write_bytes(name.encode())
    about["data"] = sha256_file(encoded)
    path = results / "predictions" / path.relative_to(results / "cells")
    write(path, {**about, "seeds": seeds})
    return path


@pytest.fixture
def rte(run_of):
    results, settings = run_of("rte")
    marked(results, "rte", LABELS)
    answered(results, "rte", LABELS, ANSWERS)
    return results, settings


def the(table, **where):
    for key, value in where.items():
        table = table[table[key] == value]
    assert len(table) == 1
    return table.iloc[0]


def test_a_score_on_clean_rows_is_that_worked_out_by_hand(rte):
    # Rows 0, 1, 2, 3 and 7 are clean: 4, 3 and 3 of 5 answers are right.
    row = the(contamination.build(*rte)[0], task="rte", aux="on")
    assert (row["clean_rows"], row["rows"], row["n_seeds"]) == (5, 8, 3)
    assert row["clean_mean"] == pytest.approx((80 + 60 + 60) / 3)
    assert row["clean_sd"] == pytest.approx(math.sqrt(400 / 3))
    assert row["mean"] == pytest.approx((50 + 75 + 50) / 3)
    assert (row["share_pieces"], row["share_words"]) == (25, 25)
    assert (row["short_pieces"], row["short_words"]) == (37.5, 37.5)
    assert (row["arch"], row["n_transfer"]) == ("transformer", "12")


def test_main_has_the_same_numbers_beside_its_own(rte):
    table, text = main.build(*rte)
    ours = table[table["source"] == "this run"]
    row = the(ours, column="RTE", aux="on")
    assert (row["clean_mean"], row["clean_rows"]) == (pytest.approx(200 / 3), 5)
    assert row["clean_sd"] == pytest.approx(math.sqrt(400 / 3))
    lines = [line for line in text.splitlines() if "(this run), clean rows" in line]
    assert "66.7 ± 11.5 (n 5)" in lines[0]
    # Without aux there are no predictions here, nor any of the other tasks: said in words.
    assert "(n" not in lines[1] and lines[1].count("missing") == 6
    assert lines[0].count("missing") == 5
    assert clean.NOTE in text


def test_published_weights_have_no_clean_rows_to_speak_of(rte):
    results, settings = rte
    _, text = main.build(results, {**settings, "clean": False})
    assert "clean" not in text.lower()


def test_the_markdown_tells_shares_and_both_scores(rte):
    _, text = contamination.build(*rte)
    line = next(line for line in text.splitlines() if line.startswith("| RTE"))
    cells = [cell.strip() for cell in line.split("|")[1:-1]]
    assert cells[1:6] == ["dev", "8", "25.0 %", "25.0 %", "37.5 % / 37.5 %"]
    assert cells[7:9] == ["58.3 ± 14.4", "66.7 ± 11.5 (n 5)"] and cells[10] == "missing"


def test_a_task_of_the_zero_shot_figure_alone_has_shares_and_no_cell(rte):
    results, settings = rte
    marked(results, "dprd", [0, 1] * 4, "test")
    table, text = contamination.build(results, settings)
    row = the(table, task="dprd")
    assert (row["rows"], row["share_words"]) == (8, 25)
    assert pd.isna(row["arch"]) and row["n_seeds"] == 0
    line = next(line for line in text.splitlines() if line.startswith("| DPRD"))
    assert "missing" not in line and line.count("–") == 4


def test_where_nothing_was_looked_for_it_says_missing(run_of):
    table, text = contamination.build(*run_of("rte"))
    row = the(table, task="rte", aux="on")
    assert row["n_seeds"] == 3 and math.isnan(row["clean_mean"])
    assert row[["rows", "share_words"]].isna().all()
    line = next(line for line in text.splitlines() if line.startswith("| RTE"))
    assert line.count("missing") == 6


def test_with_no_clean_row_there_is_no_score(run_of):
    results, settings = run_of("rte")
    marked(results, "rte", LABELS, pieces=list(range(8)))
    answered(results, "rte", LABELS, ANSWERS)
    row = the(contamination.build(results, settings)[0], task="rte", aux="on")
    assert row["clean_rows"] == 0 and math.isnan(row["clean_mean"])
    _, text = main.build(results, settings)
    assert "(n 0)" not in text and "nan" not in text


def test_a_group_has_its_own_rows(run_of):
    results, settings = run_of("race")
    groups = ["middle"] * 3 + ["high"] * 5
    marked(results, "race", LABELS, "test", groups)
    answered(results, "race", LABELS, ANSWERS, "test", groups)
    table, _ = contamination.build(results, settings)
    middle, high = (the(table, aux="on", split=f"test_{name}") for name in ("middle", "high"))
    assert (middle["rows"], middle["clean_rows"], middle["share_words"]) == (3, 3, 0)
    assert (high["rows"], high["clean_rows"], high["share_words"]) == (5, 2, 40)
    assert high["clean_mean"] == pytest.approx((50 + 50 + 100) / 3)  # rows 3 and 7
    assert middle["clean_mean"] == pytest.approx((100 + 200 / 3 + 100 / 3) / 3)
    assert the(table, aux="on", split="test")["clean_rows"] == 5


def test_real_numbers_are_scored_as_such(run_of):
    results, settings = run_of("stsb")
    labels = [0.0, 1.5, 2.0, 3.25, 4.0, 5.0, 0.5, 4.5]
    answers = {seed: [x * (0.5 + seed) + i % 3 for i, x in enumerate(labels)] for seed in range(3)}
    marked(results, "stsb", labels)
    answered(results, "stsb", labels, answers)
    row = the(contamination.build(results, settings)[0], task="stsb", aux="on")
    rows = [0, 1, 2, 3, 7]
    part = [labels[i] for i in rows]
    wanted = [
        score_split(tasks.task("stsb").kind, [a[i] for i in rows], part, [""] * 5, "dev")["dev"]
        for a in answers.values()
    ]
    assert row["clean_mean"] == pytest.approx(sum(w["pearson"] for w in wanted) / 3)


DAMAGE = {
    "a label": (lambda record: record["predictions"]["dev"].__setitem__(0, 1), "the cell says 50"),
    "a row short": (lambda record: record["predictions"]["dev"].pop(), "7 predictions for the 8"),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_predictions_that_do_not_make_the_cells_score_are_refused(rte, what):
    results, settings = rte
    path = results / "predictions/transformer/rte/aux-on/layers-12.json"
    value = json.loads(path.read_text())
    edit, said = DAMAGE[what]
    edit(value["seeds"][0])
    write(path, value)
    for module in (main, contamination):
        with pytest.raises(InputError) as error:
            module.build(results, settings)
        assert said in str(error.value) and str(path) in str(error.value)


def test_marks_of_other_examples_are_refused(rte):
    results, settings = rte
    path = results / "examples/rte.jsonl"
    path.write_text(path.read_text() + path.read_text().splitlines()[1].replace("/0", "/8") + "\n")
    with pytest.raises(InputError, match=r"rte\.json: marks of other examples"):
        contamination.build(results, settings)


def test_predictions_for_rows_that_were_exchanged_since_are_refused(rte):
    results, settings = rte
    (results / "encoded/rte.npz").write_bytes(b"other rows")
    with pytest.raises(InputError, match=r"answers are to other rows than .*encoded/rte\.npz's"):
        contamination.build(results, settings)


def test_a_seed_that_the_config_no_longer_has_is_left_out(rte):
    results, settings = rte
    settings = {**settings, "seeds": {"ends": [0], "between": [0]}}
    row = the(contamination.build(results, settings)[0], task="rte", aux="on")
    assert row["clean_mean"] == 80 and math.isnan(row["clean_sd"])
