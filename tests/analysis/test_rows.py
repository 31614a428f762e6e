"""The rows of a cell: texts, labels and predictions joined by what they are of, not by order."""

import json
import shutil

import pandas as pd
import pytest

from gpt1.cell import Cell
from tasks.common.errors import InputError
from tests.analysis.conftest import write_predictions
from tests.gpt1.examples import write_examples
from workflow.rows import main

PAIR = {"first": "A man, old.", "second": 'He "sleeps".', "choices": [], "group": ""}
STORY = {"first": "Once.", "second": "Who?", "choices": ["He.", "She.", "They.", "It."]}


def rows_of(tmp_path, cell, splits, answers):
    """The CSV of a cell's rows; `answers` are (seed, split, place, label, prediction)."""
    folder = tmp_path / "examples" / cell.task
    write_examples(folder, cell.task, {"train": splits["dev"], **splits})
    digests = json.loads(folder.with_suffix(".json").read_text())["sha256"]
    rows = [(s, split, f"{cell.task}/{split}/{i}", "", *pair) for s, split, i, *pair in answers]
    write_predictions(tmp_path, cell, rows, {s: digests[s] for s in splits})
    main([str(cell.path(tmp_path)), "--out", str(tmp_path / "rows.csv")])
    return pd.read_csv(tmp_path / "rows.csv", keep_default_na=False).to_dict("records")


def test_each_prediction_has_its_own_texts(tmp_path):
    other = PAIR | {"first": "A dog."}
    splits = {"dev": [PAIR | {"label": 0}, other | {"label": 1}]}
    answers = [(s, "dev", i, float(i), 1.0) for s in (0, 1) for i in (1, 0)]
    rows = rows_of(tmp_path, Cell("lstm", "rte", "on", 1), splits, answers)
    assert [row["text"] for row in rows] == ["A dog.", "A man, old."] * 2
    assert rows[1] == {
        **{"seed": 0, "split": "dev", "guid": "rte/dev/0", "text": PAIR["first"]},
        **{"second": PAIR["second"], "label": "entailment", "prediction": "not_entailment"},
    }


def test_choices_have_columns_and_an_unlabelled_row_no_label(tmp_path):
    splits = {
        "dev": [STORY | {"group": "high", "label": 2}],
        "test": [STORY | {"group": "high", "label": 1}],
    }
    answers = [(0, "dev", 0, 2.0, 3.0), (0, "test", 0, None, 1.0)]
    dev, test = rows_of(tmp_path, Cell("lstm", "race", "on", 1), splits, answers)
    assert (dev["choice1"], dev["choice4"], dev["label"], dev["prediction"]) == (
        "He.",
        "It.",
        "C",
        "D",
    )
    assert (test["label"], test["prediction"]) == ("", "B")


def test_a_score_is_a_number_and_a_single_text_has_no_second(tmp_path):
    pair = [PAIR | {"label": 2.5}]
    (row,) = rows_of(
        tmp_path, Cell("lstm", "stsb", "on", 1), {"dev": pair}, [(0, "dev", 0, 2.5, 3.25)]
    )
    assert (row["label"], row["prediction"]) == (2.5, 3.25)
    single = [PAIR | {"second": "", "label": 1}]
    (row,) = rows_of(
        tmp_path, Cell("lstm", "sst2", "on", 1), {"dev": single}, [(0, "dev", 0, 1.0, 0.0)]
    )
    assert "second" not in row and row["label"] == "positive"


def test_examples_of_another_run_and_a_cell_that_was_not_run_are_refused(tmp_path):
    cell = Cell("lstm", "sst2", "on", 1)
    rows_of(tmp_path, cell, {"dev": [PAIR | {"second": "", "label": 1}]}, [(0, "dev", 0, 1.0, 0.0)])
    shutil.rmtree(tmp_path / "examples")
    write_examples(tmp_path / "examples" / "sst2", "sst2", {"dev": [{"first": "New.", "label": 0}]})
    for one, named in ((cell, "rows are not those"), (Cell("lstm", "sst2", "off", 1), "run it")):
        with pytest.raises(InputError, match=named):
            main([str(one.path(tmp_path)), "--out", str(tmp_path / "other.csv")])
    assert not (tmp_path / "other.csv").exists()
