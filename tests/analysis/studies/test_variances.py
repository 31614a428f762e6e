"""The deviations over language models and over fine-tuning: by hand, and of a known truth."""

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
    found = variances.deviations([10, 20, 30, 14, 20, 32], 3)
    assert found == pytest.approx([between**0.5, (10 / 3) ** 0.5])


def test_where_models_differ_less_than_their_fits_theirs_is_zero():
    assert variances.deviations([0, 10, 10, 0], 2)[0] == 0


@pytest.mark.parametrize("scores", [(), (80.0, 90.0, 85.0)])
def test_one_fit_of_each_model_tells_nothing_apart(scores):
    assert np.isnan(variances.deviations(scores, 3)).all()


def test_on_average_the_variances_are_those_of_which_scores_are_drawn():
    rng = np.random.default_rng(0)
    models, fits = 3 * rng.normal(size=(4000, 1, 5)), 2 * rng.normal(size=(4000, 2, 5))
    found = [variances.deviations((60 + of).ravel(), 5) for of in models + fits]
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
        both = variances.deviations(row["by_seed"], 2)
        assert [row[name] for name in variances.SPREAD] == pytest.approx(both)
        text = " / ".join(f"{of:.1f}" for of in both)
        assert f" {text} |" in found.markdown.partition(variances.HEADING)[2]
