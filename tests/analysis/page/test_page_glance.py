"""The run at a glance and its alarms: worked out by hand from small tables."""

import pandas as pd
import pytest

from tests.analysis.conftest import make_grid
from tests.support.tables import write_table
from workflow.analysis.claims.finding import MADE, PUBLISHED, VERDICTS, shown
from workflow.analysis.claims.paper_claims import CLAIMS
from workflow.analysis.page.run import TONES, Run
from workflow.analysis.page.write import QUESTIONS, glance
from workflow.analysis.paper import FULL, NO_PRETRAINING
from workflow.grid import PagePlan

GRID = make_grid("rte")
CLAIM = {
    "contrast": "full − LSTM",
    "ours": 5.25,
    "ci_low": -1.0,
    "ci_high": 11.5,
    "tasks": "mean of 9",
}


def test_without_a_positive_control_the_lead_is_over_words_and_of_nothing_all_is_empty(
    tmp_path,
):
    variants, mean = [NO_PRETRAINING.title, FULL.title], [50.1, 90.0]
    table = pd.DataFrame({"variant": variants, "mean": mean, "bag_of_words": 62.26})
    table = table.assign(task="avg_all", diff=[-39.9, None], diff_low=-46.6, diff_high=-33.2)
    write_table(table, tmp_path / "ablation.csv")
    page = PagePlan(tables=["ablation", "positive_control", "claims", "cells"], figures=[])
    found = glance(Run(tmp_path, GRID, page))
    told = {"above_words": "27.7", "gain": "39.9", "interval": "[33.2, 46.6]"}
    assert {name: of for name, of in found.items() if of} == told
    assert not any(glance(Run(tmp_path / "none", GRID, page)).values())


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
    known = {claim.statement for claim in CLAIMS}
    assert {one for _, *of in QUESTIONS.values() for one in of} <= known
    _, *statements = [*QUESTIONS.values()][asked]
    rows = [{"statement": of, "verdict": verdict, "data": MADE} | CLAIM for of in statements]
    rows.insert(0, {**rows[0], "verdict": "not run"})
    write_table(pd.DataFrame(rows), tmp_path / "claims.csv")
    answers = glance(Run(tmp_path, GRID, PagePlan(tables=["claims"], figures=[])))["answers"]
    assert [question for question, *_ in answers] == [*QUESTIONS]
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
        row = {"statement": [*QUESTIONS.values()][asked][1], "verdict": "holds", "data": MADE}
        write_table(pd.DataFrame([row | CLAIM | numbers]), tmp_path / "claims.csv")
        answers = glance(Run(tmp_path, GRID, PagePlan(tables=["claims"], figures=[])))["answers"]
        assert answers[asked][2] == sentence


def test_each_verdict_has_a_tone_on_the_page():
    assert {shown(verdict, data) for verdict in VERDICTS for data in (PUBLISHED, MADE)} <= set(
        TONES
    )
