"""Skills and gains along pre-training: where curves come half of their way, and which is first."""

import math

import numpy as np
import pandas as pd
import pytest

from gpt1.cell import Cell, PretrainedModel
from tests.analysis.conftest import skill_score, write
from tests.analysis.studies.test_study_tables import GRID, drawn, like, made, mean_of, named, study
from workflow.analysis.studies import skills, table

UPDATES = (0, 30, 300, 3000)


@pytest.mark.parametrize(
    ("scores", "place"),
    [
        ((50, 50, 100, 100), 1.5),
        ((50, 60, 70, 90), 2.0),
        ((20, 80, 30, 80), 0.5),  # where it comes there first
        ((0, 0, 0, 10), 2.5),
        ((10, 90, 90, 5), math.nan),
        ((50, 52, 51, 54), math.nan),  # no way to go
        ((50, 60, 70, math.nan), math.nan),
    ],
)
def test_half_of_the_way_is_read_between_two_checkpoints(scores, place):
    assert skills.half_way(scores) == pytest.approx(place, nan_ok=True)


@pytest.mark.parametrize(
    ("scores", "floor", "place"),
    [
        ((0, 54, 54, 84), 54, 2.5),  # from always no to always yes is no rise
        ((50, 52, 54, 58), 54, math.nan),
        ((60, 60, 60, 80), 54, 2.5),
        ((50, math.nan, 70, 90), 54, math.nan),
    ],
)
def test_a_score_rises_from_the_constant_answer_if_that_is_higher(scores, floor, place):
    assert skills.half_way(scores, floor) == pytest.approx(place, nan_ok=True)


def along(**taught: list[str]):
    """A study along the checkpoints with the skills of its tasks."""
    plan = study("checkpoint", values=tuple(map(str, UPDATES)), tasks=["sst2", "rte"])
    return plan.model_copy(update={"skills": taught})


def write_skills(results, **curves: tuple[float, ...]) -> None:
    """The cloze scores of both language models by skill; those of the second come 1 later."""
    for seed in (0, 1):
        for i, update in enumerate(UPDATES):
            at = {k: skill_score(2 * of[max(0, i - seed)], 200, 2) for k, of in curves.items()}
            value = {"arch": "transformer", "corpus": "books", "seed": seed, "update": update}
            value |= {"tokens": 9, "skills": at, "digests": {}}
            write(PretrainedModel("transformer", seed).cloze(results, update), value)


def test_a_tasks_lag_is_that_of_its_score_behind_the_mean_of_its_skills(tmp_path):
    write_skills(tmp_path, one=(50, 50, 100, 100), two=(50, 90, 90, 90), other=(50, 50, 50, 50))
    plan = along(sst2=["one", "two"], rte=["other"])
    found = made(tmp_path, plan)
    row = mean_of(found.frame, "full", "3000", "sst2")
    scores = np.array([mean_of(found.frame, "full", str(u), "sst2")["by_seed"] for u in UPDATES])
    constant = row["majority"]
    of_scores = [skills.half_way(scores[:, seed], constant) for seed in (0, 1)]
    of_skills = [skills.half_way((50, 70, 95, 95)), skills.half_way((50, 50, 70, 95))]
    assert row["half_skills"] == pytest.approx(np.mean(of_skills))
    lags = np.subtract(of_scores, of_skills)
    assert row["lag"] == pytest.approx(lags.mean(), nan_ok=True)
    if not np.isnan(lags).any():
        assert row["lag_low"] < row["lag"] < row["lag_high"]
    assert mean_of(found.frame, "full", "300", "sst2")["skills"] == pytest.approx(82.5)
    assert pd.isna(mean_of(found.frame, "full", "300", "sst2")["lag"])  # in a task's last row
    assert pd.isna(mean_of(found.frame, "full", "3000", "rte")["half_skills"])
    assert "## Half of the way" in found.markdown and "nan" not in found.markdown


def test_a_score_that_is_later_than_its_skill_has_a_positive_lag(tmp_path):
    write_skills(tmp_path, one=(50, 100, 100, 100))
    plan = along(sst2=["one"])
    frame = made(tmp_path, plan).frame.drop(columns=["skills", *skills.HALVES, "lag"])
    rows = frame[frame["task"] == "sst2"].index
    for at, by_seed in zip(rows, [(50, 50), (50, 50), (50, 50), (90, 90)], strict=True):
        frame.at[at, "by_seed"] = by_seed
    run = table.Lines(plan, GRID, table.Samples(), table.Notes({}), {})
    frame = frame.drop(columns=["lag_low", "lag_high"])
    again, _ = skills.add(frame, tmp_path, run)
    row = mean_of(again, "full", "3000", "sst2")
    assert row["lag"] == pytest.approx(np.mean([2.5 - 0.5, 2.5 - 1.5]))
    assert row["lag_low"] == pytest.approx(1.5 - 12.706 * 0.5, rel=1e-3)  # Student's t of two
    for at, by_seed in zip(rows, [(50,) * 4, (50,) * 4, (50, 50, 90, 50), (90,) * 4], strict=True):
        frame.at[at, "by_seed"] = by_seed
    row = mean_of(skills.add(frame, tmp_path, run)[0], "full", "3000", "sst2")
    assert row["lag"] == pytest.approx(np.mean([2.0 - 0.5, 2.5 - 1.5]))  # two seeds of each model
    assert row["lag_low"] == pytest.approx(1.25 - 12.706 * 0.25, rel=1e-3)


def test_a_cell_that_was_not_run_leaves_its_task_without_a_lag(tmp_path):
    write_skills(tmp_path, one=(50, 100, 100, 100))
    plan = along(sst2=["one"])
    made(tmp_path, plan)
    Cell(plan.points[1].of.name, "sst2").path(tmp_path).unlink()
    found = table.build(tmp_path, GRID, plan)
    assert pd.isna(mean_of(found.frame, "full", "3000", "sst2")["lag"])
    assert mean_of(found.frame, "full", "3000", "sst2")["skills"] == 100


def test_references_have_no_place_along_pre_training(tmp_path):
    write_skills(tmp_path, one=(50, 50, 100, 100))
    plan = study(
        "checkpoint", values=tuple(map(str, UPDATES)), references=("none",), tasks=["sst2"]
    )
    frame = made(tmp_path, plan.model_copy(update={"skills": {"sst2": ["one"]}})).frame
    assert pd.isna(mean_of(frame, "none", "", "sst2")["skills"])
    assert mean_of(frame, "full", "300", "sst2")["skills"] == 75


def test_the_figure_has_the_skills_of_each_task(tmp_path):
    write_skills(tmp_path, one=(50, 60, 70, 90))
    picture, frame = drawn(along(sst2=["one"]), tmp_path)
    (look,) = (line for name, line in named(picture).items() if "cloze items" in name)
    (curve,) = like(picture.axes[1], look)
    assert list(curve.get_ydata()) == list(frame[frame["task"] == "sst2"]["skills"])
    assert not like(picture.axes[2], look)
