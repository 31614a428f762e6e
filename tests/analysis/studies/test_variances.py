"""The deviations over language models and over fine-tuning: by hand, and of a known truth."""

import json
import random

import numpy as np
import pytest

from tests.analysis.conftest import (
    make_cell,
    make_grid,
    write,
    write_cell_answers,
    write_examples,
)
from tests.analysis.studies.test_study_tables import mean_of, study
from workflow.analysis.studies import table, variances


def test_of_two_fits_of_three_models_the_deviations_are_those_by_hand():
    # Models of means 12, 20 and 31; their fits differ by 4, 0 and 2: within (8 + 0 + 2) / 3.
    between = np.var([12, 20, 31], ddof=1) - (10 / 3) / 2
    found = variances.deviations([10, 20, 30, 14, 20, 32], 3)[:2]
    assert found == pytest.approx([between**0.5, (10 / 3) ** 0.5])


def test_where_models_differ_less_than_their_fits_theirs_is_zero():
    assert variances.deviations([0, 10, 10, 0], 2)[0] == 0


@pytest.mark.parametrize(("scores", "models"), [((), 3), ((80.0, 90.0, 85.0), 3), ((80, 90), 1)])
def test_one_fit_of_each_model_or_one_model_tells_nothing_apart(scores, models):
    assert np.isnan(variances.deviations(scores, models)).all()


def test_models_may_have_different_numbers_of_fits():
    # Fits 10, 14, 18 of one model and 20, 24 of the other: mean squares 384 / 5 and 40 / 3, and
    # 2.4 fits of each model.
    found = variances.deviations([10, 20, 14, 24, 18], 2)
    assert found[:2] == pytest.approx([((384 / 5 - 40 / 3) / 2.4) ** 0.5, (40 / 3) ** 0.5])


def test_of_a_hundred_intervals_of_the_ratio_95_hold_the_truth():
    rng = np.random.default_rng(1)
    scores = 3 * rng.normal(size=(4000, 1, 5)) + 2 * rng.normal(size=(4000, 2, 5))
    ends = np.array([variances.deviations(of.ravel(), 5)[2:] for of in scores])
    assert np.mean((ends[:, 0] <= 1.5) & (ends[:, 1] >= 1.5)) == pytest.approx(0.95, abs=0.01)


def test_on_average_the_variances_are_those_of_which_scores_are_drawn():
    rng = np.random.default_rng(0)
    models, fits = 3 * rng.normal(size=(4000, 1, 5)), 2 * rng.normal(size=(4000, 2, 5))
    found = [variances.deviations((60 + of).ravel(), 5)[:2] for of in models + fits]
    assert np.mean(np.square(found), axis=0) == pytest.approx([9, 4], rel=0.05)


@pytest.mark.parametrize("seeds", [[0, 1, 2, 3], [0, 1]])
def test_the_table_has_both_where_each_model_is_fine_tuned_several_times(seeds, tmp_path):
    grid = make_grid("rte", seeds={"pretrain": [0, 1], "finetune": seeds})
    plan = study(values=("0", "2"), tasks=["rte"]).model_copy(update={"seeds": seeds})
    for cell in plan.cells():
        write(cell.path(tmp_path), make_cell(random.Random(1), grid, cell))
        write_cell_answers(tmp_path, cell, np.random.default_rng(1), 0.5)
    write_examples(tmp_path, "rte")
    found = table.build(tmp_path, grid, plan)
    row = mean_of(found.frame, "full", "2", "rte")
    assert len(row["by_seed"]) == len(seeds)
    assert (variances.HEADING in found.markdown) == (len(seeds) == 4)
    if len(seeds) == 4:
        found_of = variances.deviations(row["by_seed"], 2)
        assert [row[name] for name in variances.SPREAD + variances.RATIO] == pytest.approx(found_of)
        text = "{:.1f} / {:.1f} [{:.1f}, {:.1f}]".format(*found_of)
        assert f" {text} |" in found.markdown.partition(variances.HEADING)[2]


def test_of_a_mean_the_models_are_told_apart_whatever_the_order_of_the_seeds(tmp_path):
    seeds, names = [42, 7, 1, 2], ["rte", "sst2"]
    grid = make_grid(*names, seeds={"pretrain": [0, 1], "finetune": seeds})
    plan = study("", tasks=names).model_copy(update={"seeds": seeds})
    of_tasks = []
    for cell in plan.cells():
        record = make_cell(random.Random(1), grid, cell)
        assert [run["pretrain_seed"] for run in record["seeds"]] == [0, 1, 0, 1]
        write(cell.path(tmp_path), record)
        write_cell_answers(tmp_path, cell, np.random.default_rng(1), 0.5)
        write_examples(tmp_path, cell.task)
        runs = json.loads(cell.path(tmp_path).read_text())["seeds"]
        of_tasks.append([run["scores"]["dev"]["accuracy"] for run in runs])
    row = mean_of(table.build(tmp_path, grid, plan).frame, "full", "")
    assert row["by_seed"] == pytest.approx(np.mean(of_tasks, axis=0))
    expected = variances.deviations(row["by_seed"], 2)[:2]
    assert [row[name] for name in variances.SPREAD] == pytest.approx(expected)
