"""What a study's axis and lines add to its table and figure, by hand and of a known truth."""

import math
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gpt1.cell import Cell, PretrainedModel
from tests.analysis.conftest import (
    is_noted_as_not_run,
    skill_score,
    write,
)
from tests.analysis.studies.test_study_tables import (
    GRID,
    made,
    mean_of,
    plan_of,
)
from tests.facts import CHECKPOINT, SCORED
from workflow.analysis import study
from workflow.analysis.figures import lines
from workflow.analysis.lines import Lines
from workflow.analysis.rows import Notes
from workflow.analysis.stats.samples import Samples
from workflow.grid import StudyPlan

UPDATES = (0, 30, 300, 3000)
MINUS = {"b": "a", "c": "b", "d": "b"}


def compared() -> StudyPlan:
    """Lines a to d, of which all but the first are compared with one of them."""
    plan = plan_of("", lines=("a", *MINUS))
    points = [p.model_copy(update={"minus": MINUS.get(p.line, "")}) for p in plan.points]
    return plan.model_copy(update={"points": points})


def test_without_degrees_there_are_all_rows_and_a_panel_for_each_difference_that_was_run(tmp_path):
    found = made(tmp_path, compared())
    frame = found.frame
    assert set(frame["degree"]) == {""} and len(frame) == 4 * 4
    assert "lexical" not in found.markdown and "nan" not in found.markdown
    gone = frame.assign(diff=frame["diff"].where(frame["line"] == "c"))
    assert [ax.get_title()[:9] for ax in lines.draw(gone, compared()).axes] == ["", "c minus b"]
    (ax,) = lines.draw(frame.assign(diff=float("nan")), compared()).axes
    assert is_noted_as_not_run(ax)


@pytest.mark.parametrize(
    ("scores", "floor", "place"),
    [
        ((50, 50, 100, 100), -math.inf, 1.5),
        ((50, 60, 70, 90), -math.inf, 2.0),
        ((20, 80, 30, 80), -math.inf, 0.5),  # where it comes there first
        ((0, 0, 0, 10), -math.inf, 2.5),
        ((10, 90, 90, 5), -math.inf, math.nan),
        ((50, 52, 51, 54), -math.inf, math.nan),  # no way to go
        ((50, 60, 70, math.nan), -math.inf, math.nan),
        ((0, 54, 54, 84), 54, 2.5),  # from always no to always yes is no rise
        ((50, 52, 54, 58), 54, math.nan),
        ((60, 60, 60, 80), 54, 2.5),
        ((50, math.nan, 70, 90), 54, math.nan),
    ],
)
def test_half_of_the_way_is_read_between_two_checkpoints(scores, floor, place):
    assert study.half_way(scores, floor) == pytest.approx(place, nan_ok=True)


def along(references: tuple[str, ...] = (), **taught: list[str]) -> StudyPlan:
    """A study along the checkpoints with the skills of its tasks."""
    values = tuple(map(str, UPDATES))
    plan = plan_of("checkpoint", values=values, references=references, tasks=["sst2", "rte"])
    return plan.model_copy(update={"skills": taught})


def write_skills(results, **curves: tuple[float, ...]) -> None:
    """The cloze scores of both language models by skill; those of the second come 1 later."""
    for seed in (0, 1):
        for i, update in enumerate(UPDATES):
            at = {k: skill_score(2 * of[max(0, i - seed)], 200, 2) for k, of in curves.items()}
            value = {"arch": "transformer", "corpus": "books", "seed": seed, "update": update}
            value |= {"tokens": 9, "skills": at, "digests": {}}
            write(PretrainedModel("transformer", seed).cloze(results, update), value)


def test_a_score_that_is_later_than_its_skill_has_a_positive_lag(tmp_path):
    write_skills(tmp_path, one=(50, 100, 100, 100))
    plan = along(sst2=["one"])
    frame = made(tmp_path, plan).frame
    lag = ["skills", *study.HALVES, "lag", "lag_low", "lag_high"]
    frame, run = frame.drop(columns=lag), Lines(plan, GRID, Samples(), Notes({}), {})

    def of(*by_seed: tuple[int, ...], constant: float = 0.0) -> pd.Series:
        rows = frame["by_seed"].copy()
        rows[frame["task"] == "sst2"] = pd.Series(by_seed, frame.index[frame["task"] == "sst2"])
        made_so = frame.assign(by_seed=rows, majority=constant)
        again, _ = study.with_skills(made_so, tmp_path, run)
        return mean_of(again, "full", "3000", "sst2")

    row = of((50, 50), (50, 50), (50, 50), (90, 90))
    assert row["lag"] == pytest.approx(np.mean([2.5 - 0.5, 2.5 - 1.5]))
    assert row["lag_low"] == pytest.approx(1.5 - 12.706 * 0.5, rel=1e-3)  # Student's t of two
    row = of((50,) * 4, (50,) * 4, (50, 50, 90, 50), (90,) * 4)
    assert row["lag"] == pytest.approx(np.mean([2.0 - 0.5, 2.5 - 1.5]))  # two seeds of each model
    assert row["lag_low"] == pytest.approx(1.25 - 12.706 * 0.25, rel=1e-3)
    row = of((0, 0), (54, 54), (54, 54), (84, 84), constant=54)  # to the constant is no way
    assert row["lag"] == pytest.approx(np.mean([2.5 - 0.5, 2.5 - 1.5]))


def test_a_cell_that_was_not_run_leaves_its_task_without_a_lag(tmp_path):
    write_skills(tmp_path, one=(50, 100, 100, 100))
    plan = along(("none",), sst2=["one"])
    made(tmp_path, plan)
    Cell(plan.points[1].variant.name, "sst2").path(tmp_path).unlink()
    frame = study.build(tmp_path, GRID, plan).frame
    assert pd.isna(mean_of(frame, "full", "3000", "sst2")["lag"])
    assert mean_of(frame, "full", "3000", "sst2")["skills"] == 100
    assert pd.isna(mean_of(frame, "none", "", "sst2")["skills"])  # a reference has no place


def test_lines_of_other_language_models_stand_with_their_perplexity(tmp_path):
    plan = plan_of("", lines=("all", "fewer"))
    others = plan.points[1].variant.model_copy(update={"model": "world.words-9", "update": 30})
    plan.points[1] = plan.points[1].model_copy(update={"variant": others})
    frame = made(tmp_path, plan).frame.drop(columns=[*study.HELD_OUT])
    assert study.with_perplexity(frame, tmp_path, plan)[1] == []
    for (seed, perplexity), point in product(((0, 20.0), (1, 24.0)), plan.points):
        model, more = point.variant.models()[seed], 10 * (point.line == "fewer")
        place = {"arch": "transformer", "seed": seed, "update": point.variant.update}
        bits = {"heldout_perplexity": perplexity + more, "heldout_bits_per_byte": 1.25}
        write(model.facts(tmp_path, point.variant.update), CHECKPOINT | place | bits)
    frame, (title, shown) = study.with_perplexity(frame, tmp_path, plan)
    assert shown.to_dict("index") == {
        "all": {"perplexity": "22.00", "bits per byte": "1.250"},
        "fewer": {"perplexity": "32.00", "bits per byte": "1.250"},
    }
    assert {*frame.loc[frame["line"] == "fewer", "perplexity"]} == {32.0}


def write_zero_shot(results: Path, name: str, scores: dict[int, float], seed: int = 0) -> None:
    """The zero-shot scores of a language model, by update."""
    place = {"arch": "transformer", "task": name, "metric": "accuracy", "split": "dev"}
    place |= {**SCORED, "tokens": 0}
    for update, score in scores.items():
        path = PretrainedModel("transformer", seed).zero_shot(results, name, update)
        write(path, {**place, "seed": seed, "update": update, "score": score})


def test_zero_shot_scores_stand_beside_those_of_their_checkpoints(tmp_path):
    plan = plan_of("checkpoint", values=("0", "30", "300", "3000"), tasks=["sst2", "qnli", "rte"])
    for seed in (0, 1):
        write_zero_shot(tmp_path, "sst2", {0: 50, 30: 55, 300: 60 + seed, 3000: 70}, seed)
    found = made(tmp_path, plan)
    assert mean_of(found.frame, "full", "300", "sst2")["zero_shot"] == 60.5
    assert pd.isna(mean_of(found.frame, "full", "300", "rte")["zero_shot"])
    assert pd.isna(mean_of(found.frame, "full", "300")["zero_shot"])  # that of three tasks
    section = found.markdown.partition("## The same checkpoints, zero-shot")[2]
    assert "SST-2" in section and "QNLI" not in section


def test_no_zero_shot_score_stands_beside_another_language_model(tmp_path):
    plan = plan_of("checkpoint", lines=("own", "other"), values=("0", "30"), tasks=["sst2"])
    own, other = plan.points[:2], plan.points[2:]
    line = other[0].variant.model_copy(update={"model": "pretrain.updates-9"})
    other = [point.model_copy(update={"variant": line}) for point in other]
    plan = plan.model_copy(update={"points": [*own, *other]})
    write_zero_shot(tmp_path, "sst2", {0: 50, 30: 55})
    frame = made(tmp_path, plan).frame
    assert mean_of(frame, "own", "30", "sst2")["zero_shot"] == 55
    assert pd.isna(mean_of(frame, "other", "30", "sst2")["zero_shot"])


@pytest.mark.parametrize(
    ("scores", "models", "expected"),
    [
        # Models of means 12, 20 and 31; their fits differ by 4, 0 and 2: within (8 + 0 + 2) / 3.
        (
            [10, 20, 30, 14, 20, 32],
            3,
            [np.var([12, 20, 31], ddof=1) - (10 / 3) / 2, 10 / 3],
        ),
        ([0, 10, 10, 0], 2, [0, 50]),  # models differ less than their fits
        # Fits 10, 14, 18 of one model and 20, 24 of the other: mean squares 384 / 5 and 40 / 3,
        # and 2.4 fits of each model.
        ([10, 20, 14, 24, 18], 2, [(384 / 5 - 40 / 3) / 2.4, 40 / 3]),
        ((), 3, [np.nan] * 2),
        ((80.0, 90.0, 85.0), 3, [np.nan] * 2),  # one fit of each
        ((80, 90), 1, [np.nan] * 2),
    ],
)
def test_the_deviations_over_models_and_over_their_fits_are_those_by_hand(scores, models, expected):
    found = study.deviations(scores, models)
    assert np.square(found[:2]) == pytest.approx(expected, nan_ok=True)
    assert np.isnan(found).all() == np.isnan(expected).all()


def test_of_a_hundred_intervals_of_the_ratio_95_hold_the_truth_and_variances_are_unbiased():
    rng = np.random.default_rng(1)
    scores = 3 * rng.normal(size=(4000, 1, 5)) + 2 * rng.normal(size=(4000, 2, 5))
    found = np.array([study.deviations((60 + of).ravel(), 5) for of in scores])
    hold = (found[:, 2] <= 1.5) & (found[:, 3] >= 1.5)
    assert np.mean(hold) == pytest.approx(0.95, abs=0.01)
    assert np.mean(found[:, :2] ** 2, axis=0) == pytest.approx([9, 4], rel=0.05)
