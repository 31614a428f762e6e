"""What a study's axis and lines add to its table and figure, by hand and of a known truth."""

import json
import math
import random
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest

from gpt1.cell import Cell, PretrainedModel
from gpt1.streams import drawn_rows
from tasks import baselines, task
from tasks.common.errors import InputError
from tasks.common.files import read_json, write_json
from tasks.examples import read
from tasks.world.settings import DEGREES
from tests.analysis.conftest import (
    is_noted_as_not_run,
    make_cell,
    make_grid,
    skill_score,
    write,
    write_cell_answers,
    write_degrees,
    write_examples,
)
from tests.analysis.studies.test_study_tables import (
    GRID,
    TASKS,
    drawn,
    like,
    made,
    mean_of,
    named,
    plan_of,
)
from tests.facts import SCORED
from tests.gpt1 import examples as made_examples
from workflow.analysis import study
from workflow.analysis.figures import lines, style
from workflow.analysis.lines import Lines
from workflow.analysis.notes import Notes
from workflow.analysis.stats.samples import Samples
from workflow.analysis.table import Table
from workflow.grid import StudyPlan

SHARES = "0.125", "0.5", "1"
BY_SHARE = plan_of("train_share", ("full", "other"), SHARES, tasks=["sst2"])
SEEDS = tuple(GRID.seeds.finetune)
UPDATES = (0, 30, 300, 3000)
MINUS = {"b": "a", "c": "b", "d": "b"}


@pytest.fixture
def few(tmp_path):
    """A run of a study over SHARES of sixteen rows, whose telling word is another in each pair."""
    rng = np.random.default_rng(0)
    words = ["dull", "fine"]

    def rows(n):
        labels = [i % 2 for i in range(n)]
        return [{"first": f"{words[k]}{rng.integers(8)} film", "label": k} for k in labels]

    made(tmp_path, plan_of("lm_coef", ("full", "other"), SHARES, tasks=["sst2"]))  # the same cells
    splits = {"train": rows(16), "dev": rows(40)}
    made_examples.write_examples(tmp_path / "examples/sst2", "sst2", splits)
    facts = tmp_path / "examples/sst2.json"
    write_json(facts, read_json(facts) | {"rows": {"train": 16, "dev": 40}})
    study.bag_of_words.cache_clear()
    return tmp_path


def alone(folder, share, seed) -> float:
    """The score of a bag of words on the rows of a seed."""
    train, dev = (read(folder, split) for split in ("train", "dev"))
    few = [train[i] for i in drawn_rows(len(train), share, seed)]
    found = baselines.bag_of_words(task("sst2"), few, dev)
    return 100 * float(np.mean(found == [row.label for row in dev]))


def test_the_bag_of_words_is_fitted_to_the_rows_of_each_seed_and_drawn_along_the_shares(few):
    found = study.build(few, GRID, BY_SHARE)
    scores = [mean_of(found.frame, "full", value, "sst2")["bag_of_words"] for value in SHARES]
    for value, score in zip(SHARES[:2], scores[:2], strict=True):
        each = [alone(few / "examples/sst2", float(value), seed) for seed in SEEDS]
        assert score == pytest.approx(np.mean(each))
        assert mean_of(found.frame, "other", value, "sst2")["bag_of_words"] == score
    assert scores[2] == 57  # that of the cell, which has all rows
    assert len({*scores}) == 3
    text = found.markdown.partition("##")[0]
    shown = [line.split("|")[1:4:2] for line in text.splitlines() if "bag of words" in line]
    assert [[cell.strip() for cell in line] for line in shown] == [
        [f"bag of words, train_share {value}", f"{score:.1f}"]
        for value, score in zip(SHARES, scores, strict=True)
    ]
    with matplotlib.rc_context(fname=style.STYLE):
        picture = lines.draw(found.frame, BY_SHARE)
    (curve,) = like(picture.axes[0], named(picture)["bag of words"])
    assert list(curve.get_xdata()) == [0, 1, 2] and list(curve.get_ydata()) == scores
    ticks = [tick.get_text() for tick in picture.axes[0].get_xticklabels()]
    assert ticks == ["2", "8", "16"] and picture.get_supxlabel() == "training rows"


def test_rows_that_are_not_those_of_the_run_are_refused(few):
    rows = {"train": [{"first": "fine film", "label": 1}]}
    made_examples.write_examples(few / "other", "sst2", rows)
    (few / "examples/sst2.json").write_text((few / "other.json").read_text())
    study.bag_of_words.cache_clear()
    with pytest.raises(InputError, match="prepare sst2 again"):
        study.build(few, GRID, BY_SHARE)


def compared() -> StudyPlan:
    """Lines a to d, of which all but the first are compared with one of them."""
    plan = plan_of("", lines=("a", *MINUS))
    points = [p.model_copy(update={"minus": MINUS.get(p.line, "")}) for p in plan.points]
    return plan.model_copy(update={"points": points, "expected": ["b helps.", "c does not."]})


@pytest.fixture
def by_degree(tmp_path) -> Table:
    """The table of lines that are compared, each third row of another degree."""
    made(tmp_path, compared())
    rows = [f"{task},dev,{i},{DEGREES[i % 3]}" for task in TASKS for i in range(40)]
    write_degrees(tmp_path, rows)
    return study.build(tmp_path, GRID, compared())


def test_each_line_is_compared_with_its_own_on_all_rows_and_on_those_of_a_degree(by_degree):
    for degree in ("", *DEGREES):
        frame = by_degree.frame[by_degree.frame["degree"] == degree]
        for line, minus in MINUS.items():
            for name in [*TASKS, "mean"]:
                row, other = (mean_of(frame, one, "", name) for one in (line, minus))
                assert row["minus"] == minus
                assert row["diff"] == pytest.approx(row["mean"] - other["mean"])
                assert row["diff_low"] < row["diff"] < row["diff_high"]
        assert frame.loc[frame["line"] == "a", "diff"].isna().all()
    of_c = by_degree.frame.query("line == 'c' and task == 'rte'").set_index("degree")
    assert of_c.loc[[*DEGREES], "rows"].tolist() == [14, 13, 13] and of_c.loc["", "rows"] == 40
    assert of_c["diff"].nunique() > 1


def test_without_degrees_there_are_the_rows_of_all_alone(tmp_path):
    found = made(tmp_path, compared())
    assert set(found.frame["degree"]) == {""} and len(found.frame) == 4 * 4
    assert "lexical" not in found.markdown and "nan" not in found.markdown


def test_the_table_has_the_expectations_and_names_both_lines_of_a_difference(by_degree):
    text, _, trained = by_degree.markdown.partition("## Scores on the training rows")
    first, _, added = text.partition("## What each adds")
    assert "Expected: b helps.\n\nExpected: c does not." in first and "Difference to" not in text
    heads = added.splitlines()[2]
    assert [f" {line} minus {minus} " in heads for line, minus in MINUS.items()] == [True] * 3
    rows = [line.split("|")[1].strip() for line in added.splitlines() if line.startswith("| ")]
    assert rows == ["", "mean of 3 tasks", *DEGREES, "SST-2", "QNLI", "RTE"]
    (of_b,) = (line.split("|")[2:] for line in trained.splitlines() if line.startswith("| b "))
    whole = by_degree.frame[by_degree.frame["degree"] == ""]
    means = [mean_of(whole, "b", "", of) for of in ("mean", "sst2")]
    assert [float(of) for of in of_b[:2]] == [round(row["train"], 1) for row in means]


def test_the_figure_has_a_panel_for_each_difference_with_its_interval(by_degree):
    with matplotlib.rc_context(fname=style.STYLE):
        figure = lines.draw(by_degree.frame, compared())
    steps, *panels = figure.axes
    whole = by_degree.frame[by_degree.frame["degree"] == ""]
    means = {line: mean_of(whole, line, "", "mean")["mean"] for line in ("a", *MINUS)}
    bars = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in steps.patches]
    ends = [(0.0, means["a"])] + [(means[minus], means[line]) for line, minus in MINUS.items()]
    assert [sorted(of) for of in bars] == [pytest.approx(sorted(of)) for of in ends]
    assert [of.get_text() for of in steps.texts] == [f"{mean:.1f}" for mean in means.values()]
    assert [label.get_text() for label in steps.get_yticklabels()] == [*means]
    titles = [ax.get_title().replace("\n", " ") for ax in panels]
    for title, (line, minus) in zip(titles, MINUS.items(), strict=True):
        row = mean_of(whole, line, "", "mean")
        assert title.startswith(f"{line} minus {minus} {row['diff']:.1f} [")
    heads = [label.get_text() for label in panels[0].get_yticklabels()]
    assert heads == ["mean of 3 tasks", *DEGREES, "SST-2", "QNLI", "RTE"]


def test_a_difference_that_was_not_run_has_no_panel_and_without_any_the_figure_says_so(by_degree):
    frame = by_degree.frame
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


def test_a_tasks_lag_is_that_of_its_score_behind_the_mean_of_its_skills(tmp_path):
    write_skills(tmp_path, one=(50, 50, 100, 100), two=(50, 90, 90, 90), other=(50, 50, 50, 50))
    plan = along(sst2=["one", "two"], rte=["other"], references=("none",))
    found = made(tmp_path, plan)
    row = mean_of(found.frame, "full", "3000", "sst2")
    scores = np.array([mean_of(found.frame, "full", str(u), "sst2")["by_seed"] for u in UPDATES])
    constant = row["majority"]
    of_scores = [study.half_way(scores[:, seed], constant) for seed in (0, 1)]
    of_skills = [study.half_way((50, 70, 95, 95)), study.half_way((50, 50, 70, 95))]
    assert row["half_skills"] == pytest.approx(np.mean(of_skills))
    lags = np.subtract(of_scores, of_skills)
    assert row["lag"] == pytest.approx(lags.mean(), nan_ok=True)
    if not np.isnan(lags).any():
        assert row["lag_low"] < row["lag"] < row["lag_high"]
    assert mean_of(found.frame, "full", "300", "sst2")["skills"] == pytest.approx(82.5)
    assert pd.isna(mean_of(found.frame, "full", "300", "sst2")["lag"])  # in a task's last row
    assert pd.isna(mean_of(found.frame, "full", "3000", "rte")["half_skills"])
    assert pd.isna(mean_of(found.frame, "none", "", "sst2")["skills"])  # a reference has no place
    assert "## Half of the way" in found.markdown and "nan" not in found.markdown


def test_a_score_that_is_later_than_its_skill_has_a_positive_lag(tmp_path):
    write_skills(tmp_path, one=(50, 100, 100, 100))
    plan = along(sst2=["one"])
    frame = made(tmp_path, plan).frame
    lag = ["skills", *study.HALVES, "lag", "lag_low", "lag_high"]
    frame, run = frame.drop(columns=lag), Lines(plan, GRID, Samples(), Notes({}), {})

    def of(*by_seed: tuple[int, ...]) -> pd.Series:
        rows = frame["by_seed"].copy()
        rows[frame["task"] == "sst2"] = pd.Series(by_seed, frame.index[frame["task"] == "sst2"])
        again, _ = study.with_skills(frame.assign(by_seed=rows), tmp_path, run)
        return mean_of(again, "full", "3000", "sst2")

    row = of((50, 50), (50, 50), (50, 50), (90, 90))
    assert row["lag"] == pytest.approx(np.mean([2.5 - 0.5, 2.5 - 1.5]))
    assert row["lag_low"] == pytest.approx(1.5 - 12.706 * 0.5, rel=1e-3)  # Student's t of two
    row = of((50,) * 4, (50,) * 4, (50, 50, 90, 50), (90,) * 4)
    assert row["lag"] == pytest.approx(np.mean([2.0 - 0.5, 2.5 - 1.5]))  # two seeds of each model
    assert row["lag_low"] == pytest.approx(1.25 - 12.706 * 0.25, rel=1e-3)


def test_a_cell_that_was_not_run_leaves_its_task_without_a_lag(tmp_path):
    write_skills(tmp_path, one=(50, 100, 100, 100))
    plan = along(sst2=["one"])
    made(tmp_path, plan)
    Cell(plan.points[1].of.name, "sst2").path(tmp_path).unlink()
    found = study.build(tmp_path, GRID, plan)
    assert pd.isna(mean_of(found.frame, "full", "3000", "sst2")["lag"])
    assert mean_of(found.frame, "full", "3000", "sst2")["skills"] == 100


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
    shown = [line for line in section.partition("##")[0].splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in shown]
    assert cells[0] == ["", "SST-2"]
    assert cells[2:] == [
        *(["checkpoint 0", "50.0"], ["checkpoint 30", "55.0"], ["checkpoint 300", "60.5"]),
        ["checkpoint 3000", "70.0"],
    ]


def test_no_zero_shot_score_stands_beside_another_language_model(tmp_path):
    plan = plan_of("checkpoint", lines=("own", "other"), values=("0", "30"), tasks=["sst2"])
    own, other = plan.points[:2], plan.points[2:]
    line = other[0].of.model_copy(update={"model": "pretrain.updates-9"})
    other = [point.model_copy(update={"of": line}) for point in other]
    plan = plan.model_copy(update={"points": [*own, *other]})
    write_zero_shot(tmp_path, "sst2", {0: 50, 30: 55})
    frame = made(tmp_path, plan).frame
    assert mean_of(frame, "own", "30", "sst2")["zero_shot"] == 55
    assert pd.isna(mean_of(frame, "other", "30", "sst2")["zero_shot"])


def test_the_figure_has_the_zero_shot_scores_and_the_skills_of_the_checkpoints(tmp_path):
    write_skills(tmp_path, one=(50, 60, 70, 90))
    for name, scores in {"sst2": (50, 55, 60, 70), "rte": (1, 2, 9, 9)}.items():
        for seed in (0, 1):
            of_seed = {u: s + seed for u, s in zip(UPDATES, scores, strict=True)}
            write_zero_shot(tmp_path, name, of_seed, seed)
    picture, frame = drawn(along(sst2=["one"]), tmp_path)
    shown = named(picture)
    expected = [[26, 29, 35, 40], [50.5, 55.5, 60.5, 70.5], [1.5, 2.5, 9.5, 9.5]]
    assert picture.get_supxlabel() == "updates of pre-training"
    for ax, scores in zip(picture.axes, expected, strict=True):
        (curve,) = like(ax, shown["zero-shot"])
        assert list(curve.get_xdata()) == [0, 1, 2, 3]
        np.testing.assert_allclose(curve.get_ydata(), scores)
    (curve,) = like(picture.axes[1], shown["cloze items of its skills"])
    assert list(curve.get_ydata()) == list(frame[frame["task"] == "sst2"]["skills"])
    assert not like(picture.axes[2], shown["cloze items of its skills"])


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


@pytest.mark.parametrize("seeds", [[42, 7, 1, 2], [0, 1]])
def test_the_table_has_both_where_each_model_is_fine_tuned_several_times(seeds, tmp_path):
    names = ["rte", "sst2"]
    grid = make_grid(*names, seeds={"pretrain": [0, 1], "finetune": seeds})
    plan = plan_of("", tasks=names).model_copy(update={"seeds": seeds})
    of_tasks = []
    for cell in plan.cells():
        record = make_cell(random.Random(1), grid, cell)
        assert [run["pretrain_seed"] for run in record["seeds"]] == [0, 1, 0, 1][: len(seeds)]
        write(cell.path(tmp_path), record)
        write_cell_answers(tmp_path, cell, np.random.default_rng(1), 0.5)
        write_examples(tmp_path, cell.task)
        runs = json.loads(cell.path(tmp_path).read_text())["seeds"]
        of_tasks.append([run["scores"]["dev"]["accuracy"] for run in runs])
    found = study.build(tmp_path, grid, plan)
    row = mean_of(found.frame, "full", "")  # in the order of the seeds
    assert row["by_seed"] == pytest.approx(np.mean(of_tasks, axis=0))
    assert (study.SPREAD_TITLE in found.markdown) == (len(seeds) == 4)
    if len(seeds) == 4:
        for name in ("mean", *names):
            row = mean_of(found.frame, "full", "", name)
            of = study.deviations(row["by_seed"], 2)
            assert [row[n] for n in study.SPREAD + study.RATIO] == pytest.approx(of, nan_ok=True)
        text = "{:.1f} / {:.1f} [{:.1f}, {:.1f}]".format(*study.deviations(row["by_seed"], 2))
        assert f" {text} |" in found.markdown.partition(study.SPREAD_TITLE)[2]
