"""The coverage that `docs/statistics.md` states, simulated again: with few runs, or slowly."""

import re
from pathlib import Path

import numpy as np
import pytest

from tests.analysis.stats.scenarios import EACH_LAYER, SCENARIOS, SEEDS, coverage, error

TEXT = Path(__file__, "../../../../docs/statistics.md").resolve().read_text(encoding="utf-8")
N = [60, pytest.param(500, marks=pytest.mark.slow)]


def documented(name: str, n_seeds: int) -> list[float]:
    """The numbers of a row with so many seeds."""
    (row,) = re.findall(rf"^\| {re.escape(name)} \|(.*)\|$", TEXT, re.MULTILINE)
    cells = [cell.split("·") for cell in row.split("|")]
    return [float(cell[SEEDS.index(n_seeds)]) for cell in cells]


def margin(expected: float, n: int) -> float:
    """Three and a half standard errors of a share of 100 in `n` runs, and what was rounded off."""
    share = np.clip(expected / 100, 0.02, 0.98)
    return 350 * np.sqrt(share * (1 - share) / n) + 0.5


@pytest.mark.parametrize("n", N)
@pytest.mark.parametrize("n_seeds", SEEDS)
@pytest.mark.parametrize("name", SCENARIOS)
def test_intervals_hold_the_truth_as_often_as_documented(name, n_seeds, n):
    found = coverage(SCENARIOS[name], n_seeds, n)
    for (what, share), expected in zip(found.items(), documented(name, n_seeds), strict=True):
        assert share == pytest.approx(expected, abs=margin(expected, n)), what


def test_five_seeds_are_enough_where_fits_fail_by_chance():
    others = "of one variant, by 15 points", "a control learns by chance"
    rows = {name: documented(name, 5) for name in SCENARIOS if name not in others}
    assert len(rows) == 6 and min(map(min, rows.values())) >= 93


@pytest.mark.parametrize("n", N)
@pytest.mark.parametrize("n_seeds", SEEDS)
def test_a_verdict_along_curves_is_wrong_in_at_most_5_of_100_runs(n_seeds, n):
    (expected,) = documented(EACH_LAYER, n_seeds)
    assert expected <= 5 and error(n_seeds, 2 * n) <= expected + margin(expected, 2 * n)
