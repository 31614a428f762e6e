"""The run at a glance and its alarms: worked out by hand from small tables."""

import pandas as pd
import pytest

from tests.analysis.conftest import make_grid
from tests.support.tables import write_table
from workflow.analysis.claims.finding import MADE, PUBLISHED, VERDICTS, shown
from workflow.analysis.claims.paper_claims import CLAIMS
from workflow.analysis.page.run import TONES, Run, alarms
from workflow.analysis.page.write import QUESTIONS, glance
from workflow.analysis.paper import FITTED, FULL, NEITHER, NO_PRETRAINING
from workflow.analysis.tables.positive_control import LEAD
from workflow.grid import PagePlan

GRID = make_grid("rte")
CLAIM = {
    "contrast": "full − LSTM",
    "ours": 5.25,
    "ci_low": -1.0,
    "ci_high": 11.5,
    "tasks": "mean of 9",
}


def test_the_glance_is_worked_out_from_the_tables_alone(tmp_path):
    verdicts = ["holds", "undecided", "undecided", "not run"]
    statements = ["Pre-training helps on every task", *["The LSTM scores less on average"] * 3]
    variants = [NO_PRETRAINING.title, NEITHER.title, FULL.title, FITTED.title]
    ablation = {"variant": variants, "task": "avg_all"}
    ablation |= {"diff": [-39.9, -30.0, None, -20.0], "diff_low": [-46.6, -35.0, None, -22.5]}
    ablation |= {"diff_high": [-33.2, -25.0, None, -17.5]}
    ablation |= {"mean": [50.1, 50.0, 90.0, 70.0], "bag_of_words": 62.26}
    leads = [f"{LEAD}, mean", "another check", f"{LEAD}, compositional rows", "a third"]
    control = {"check": leads, "met": ["yes", "no", "yes", None], "ours": [9.04, 1, 16.5, None]}
    cells = {"arch": "lstm", "corpus": "books", "task": "rte", "aux": "on", "n_transfer": "none"}
    cells |= {"seed": [0, 0, 1, 2, None], "split": ["dev", "train", "dev", "dev", "dev"]}
    cells |= {"alarms": ["not_fitted", "not_fitted", None, "majority_rate;not_fitted", None]}
    cells |= {"line": "arch-lstm"}
    disagreeing = {**cells, "line": "no loss", "aux": "off"}
    disagreeing |= {"alarms": "below_bag_of_words;seeds_disagree"}
    fitted = {**disagreeing, "line": "no loss, fitted", "alarms": None}  # of the same kind of model
    frames = {
        "positive_control": pd.DataFrame(control),
        "claims": pd.DataFrame(
            {"verdict": verdicts, "statement": statements, "data": MADE} | CLAIM
        ),
        **{
            "ablation": pd.DataFrame(ablation),
            "cells": pd.concat(map(pd.DataFrame, (cells, disagreeing, fitted))),
        },
    }
    for name, frame in frames.items():
        write_table(frame, tmp_path / f"{name}.csv")
    found = glance(Run(tmp_path, GRID, PagePlan(tables=[*frames], figures=[])))
    assert found["checks"] == {"yes": 2, "no": 1}
    assert (found["runs"], found["alarms"], found["cells"], found["disagree"]) == (9, 2, 3, 1)
    assert found["decided"] == '1 of 3 lines are decided, 0 of 2 without "Pre-training helps"'
    assert (found["gain"], found["interval"]) == ("39.9", "[33.2, 46.6]")
    assert found["over_fitted"] == "20.0 [17.5, 22.5]" and found["leads"] == ["9.0", "16.5"]
    assert found["above_words"] == "27.7"
    counts = dict.fromkeys((shown(verdict, MADE) for verdict in VERDICTS), 0)
    counts |= {"holds here": 1, "undecided": 2, "not run": 1}
    assert found["verdicts"] == counts and [*found["verdicts"]] == [*counts]
    nothing = glance(Run(tmp_path / "none", GRID, PagePlan(tables=[*frames], figures=[])))
    assert len(nothing) == 13 and not any(nothing.values())


ANSWERS = {  # of a claim with this verdict, by the question's number
    (0, "holds"): "Yes",
    (0, "does not hold"): "No",
    (2, "holds"): "No, it costs points",
    (2, "does not hold"): "Yes",
    (3, "holds"): "The transformer",
    (3, "equal"): "No difference that matters",
    (5, "undecided"): "Undecided",
}


@pytest.mark.parametrize(("asked", "verdict"), ANSWERS)
def test_each_question_of_the_paper_is_answered_by_the_first_claim_that_was_run(
    asked, verdict, tmp_path
):
    (_, statements, _), known = QUESTIONS[asked], {claim.statement for claim in CLAIMS}
    assert {one for _, of, _ in QUESTIONS for one in of} <= known
    rows = [{"statement": of, "verdict": verdict, "data": MADE} | CLAIM for of in statements]
    rows.insert(0, {**rows[0], "verdict": "not run"})
    write_table(pd.DataFrame(rows), tmp_path / "claims.csv")
    answers = glance(Run(tmp_path, GRID, PagePlan(tables=["claims"], figures=[])))["answers"]
    assert [question for question, *_ in answers] == [question for question, *_ in QUESTIONS]
    said = ANSWERS[asked, verdict]
    scores = "The full model scores 5.2 [-1.0, 11.5] points more"
    assert answers[asked][1:] == (said, f"{scores} than the LSTM on the mean of 9 tasks.")
    others = [of for i, of in enumerate(answers) if i != asked]
    assert {of[1:] for of in others} == {("Not run", "")}


def test_an_answer_is_a_sentence_whichever_side_is_ahead(tmp_path):
    below = {"contrast": "full − w/o aux LM", "ours": -2.0, "ci_low": -8.4, "ci_high": -0.5}
    rise = {"contrast": "rise from first to last", "tasks": "mean of 4"}
    for asked, numbers, sentence in (
        (2, below, "The full model scores 2.0 [0.5, 8.4] points less than the model without the "
         "auxiliary loss on the mean of 9 tasks."),
        (5, rise, "On the mean of 4 tasks, the rise from first to last is 5.2 [-1.0, 11.5]."),
    ):  # fmt: skip
        row = {"statement": QUESTIONS[asked][1][0], "verdict": "holds", "data": MADE}
        write_table(pd.DataFrame([row | CLAIM | numbers]), tmp_path / "claims.csv")
        answers = glance(Run(tmp_path, GRID, PagePlan(tables=["claims"], figures=[])))["answers"]
        assert answers[asked][2] == sentence


def test_alarms_of_runs_and_of_cells_are_counted_by_kind_of_model():
    together = "below_bag_of_words;seeds_disagree"
    raised = {
        ("transformer", "12", "rte"): ["not_fitted"],
        ("transformer", "0", "rte"): [None],
        ("lstm", "1", "rte"): ["not_fitted", "majority_rate;not_fitted", None],
        ("lstm", "1", "qqp"): [f"{together};not_fitted", together, together],
    }
    rows = [
        {"arch": arch, "n_transfer": n, "line": f"{arch} {n}", "task": task, "alarms": one}
        | {"corpus": "books", "aux": "on"}
        for (arch, n, task), of_seeds in raised.items()
        for one in of_seeds
    ]
    table = alarms(pd.DataFrame(rows))
    assert list(zip(table.index, table["layers"], strict=True)) == [
        ("transformer", "12"),
        ("lstm", "1"),
    ]
    names = ["runs", "not fitted", "majority rate", "cells", "seeds disagree", "below bag of words"]
    assert list(table.loc["lstm", names]) == ["6", "3", "1", "2", "1", "1"]
    assert alarms(pd.DataFrame(rows[1:2])).empty
    of_cell = alarms(pd.DataFrame(rows[-1:]))
    assert list(of_cell.iloc[0][["runs", "cells", "seeds disagree"]]) == ["1", "1", "1"]


def test_each_verdict_has_a_tone_on_the_page():
    assert {shown(verdict, data) for verdict in VERDICTS for data in (PUBLISHED, MADE)} <= set(
        TONES
    )
