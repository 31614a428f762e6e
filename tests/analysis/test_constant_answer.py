"""What is lost over the constant answer, and by accuracy, beside the gain of the prediction."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from gpt1.cell import Cell
from workflow.analysis.stats.sample import Sample
from workflow.analysis.stats.samples import Samples
from workflow.analysis.studies import constant
from workflow.study_plan import Point, StudyPlan

LINES = ("all books", "none", "no kinds")
SCORES = {  # by task and metric: of each line, then the constant answer
    ("qqp", "f1"): ((72.0, 0.0, 57.0), 54.0),
    ("qqp", "accuracy"): ((83.0, 63.0, 65.0), 37.0),
    ("mrpc", "f1"): ((93.0, 81.0, 81.0), 81.0),
    ("mrpc", "accuracy"): ((70.0, 68.0, 69.0), 68.0),
    ("rte", "accuracy"): ((90.0, 40.0, 60.0), 50.0),
    ("snli", "accuracy"): ((80.0, 50.0, 70.0), 33.0),
}
TASKS = ("snli", "rte", "mrpc", "qqp")
HEAD = ["none", "constant answer", "all books", "no kinds"]


def plan(tasks: tuple[str, ...] = TASKS) -> StudyPlan:
    points = [
        Point(line=line, cells=[Cell("transformer", t, "on", 12, variant=line) for t in tasks])
        for line in LINES
    ]
    own = {"lines": ["no kinds"], "references": ["all books", "none"]}
    return StudyPlan(
        title="Out", tasks=list(tasks), points=points, predicted={"no kinds": []}, **own
    )


def samples(study: StudyPlan, missing: dict[str, str]) -> Samples:
    """Two seeds about the score of each line's cells; of train another."""
    found = Samples()
    for i, point in enumerate(study.points):
        for cell in point.cells:
            if missing.get(point.line) == cell.task:
                continue
            split = "test" if cell.task == "snli" else "dev"
            of_cell = found.cells.setdefault(cell, {})
            for (task, metric), (scores, majority) in SCORES.items():
                if task == cell.task:
                    score, boot = np.array([scores[i] - 1, scores[i] + 1]), np.zeros((2, 0))
                    sample = Sample((0, 1), (0, 1), score, boot, 0, majority=majority)
                    of_cell[split, metric, ""] = sample
                    of_cell["train", metric, ""] = replace(sample, score=np.ones(2))
    return found


def built(study: StudyPlan, **missing: str) -> list:
    main = {"f1": ("qqp", "mrpc"), "accuracy": ("rte", "snli")}
    of = {t: SCORES[t, metric] for metric, names in main.items() for t in names}
    table = pd.DataFrame(
        [
            {"line": line, "task": task, "mean": of[task][0][i], "majority": of[task][1]}
            for i, line in enumerate(LINES)
            for task in study.tasks
        ]
    )
    assert constant.is_below(table, study).to_dict() == {
        task: task in ("qqp", "rte") for task in study.tasks
    }
    return constant.parts(table, study, samples(study, missing))


def test_tasks_below_the_constant_answer_and_accuracies_are_told_with_what_is_lost():
    _, frame, told = built(plan())
    assert list(frame.columns) == HEAD
    assert frame.to_dict("index") == {
        "RTE (accuracy)": dict(zip(HEAD, ("40.0", "50.0", "90.0", "60.0 (75)"), strict=True)),
        "MRPC (accuracy)": dict(zip(HEAD, ("68.0", "68.0", "70.0", "69.0 (–)"), strict=True)),
        "QQP (F1)": dict(zip(HEAD, ("0.0", "54.0", "72.0", "57.0 (83)"), strict=True)),
        "QQP (accuracy)": dict(zip(HEAD, ("63.0", "37.0", "83.0", "65.0 (90)"), strict=True)),
    }
    assert "of what all books has over none or the constant answer, whichever is better" in told


@pytest.mark.parametrize(("line", "shown"), [("no kinds", "missing"), ("none", None)])
def test_what_was_not_run_is_missing_or_left_out(line, shown):
    found = built(plan(("rte",)), **{line: "rte"})
    assert (found[1].loc["RTE (accuracy)", "no kinds"] if found else None) == shown


def test_a_study_of_tasks_above_the_constant_answer_says_nothing():
    assert built(plan(("snli",))) == []
