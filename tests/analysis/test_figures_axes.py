"""Axes, ticks and places of the figures, worked out by hand."""

import pandas as pd
import pytest
from matplotlib.figure import Figure

from workflow.analysis.figures import style
from workflow.analysis.figures.aux_gain import GAP, _apart


def ticks(low: float, high: float, *more: float, sparse: bool = False) -> list[float]:
    axis = Figure().add_subplot().xaxis
    style.log_ticks(axis, low, high, more, sparse)
    return list(axis.get_majorticklocs())


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1, 1000, [1, 10, 100, 1000]),  # long
        (2, 1000, [2, 5, 10, 20, 50, 100, 200, 500, 1000]),
        (20.1, 49.6, [20, 50]),  # a hundredth beyond its ends
        (20.3, 49.4, [20.3, 49.4]),
        (9, 12, [9, 12]),  # 10 is too near to the end
        (6, 14, [6, 10, 14]),
        (0.01, 0.02, [0.01, 0.02]),
        (1e24, 2e24, [1e24, 2e24]),
    ],
)
def test_ticks_are_round_numbers_or_the_ends_of_a_short_axis(low, high, expected):
    assert ticks(low, high) == pytest.approx(expected)


def test_an_axis_of_updates_has_the_untrained_model_on_it():
    ax = Figure().add_subplot()
    style.updates_axis(ax, [300, 0, 30])
    assert ax.get_xlim() == pytest.approx((-6, 390))
    assert list(ax.xaxis.get_majorticklocs()) == [0, 50, 100, 200]
    assert ax.xaxis.get_transform().linthresh == 30
    ax = Figure().add_subplot()
    style.updates_axis(ax, [30, 300])
    assert ax.get_xlim() == pytest.approx((24, 390))
    assert 0 not in ax.xaxis.get_majorticklocs()


def test_an_axis_of_scores_ends_where_scores_do():
    ax = Figure().add_subplot()
    ax.set_ylim(-50, 150)
    style.limit_to_scores(ax)
    assert ax.get_ylim() == (-20, 103)
    ax.set_ylim(10, 90)
    style.limit_to_scores(ax)
    assert ax.get_ylim() == (10, 90)


def test_names_that_would_hide_each_other_are_moved_apart_as_little_as_possible():
    assert _apart(pd.Series([0.5] * 3)) == pytest.approx([0.5 - GAP, 0.5, 0.5 + GAP])
    assert _apart(pd.Series([0.1, 0.5, 0.9])) == pytest.approx([0.1, 0.5, 0.9])
    assert _apart(pd.Series([0.0, 0.0])) == pytest.approx([0, GAP])
    assert _apart(pd.Series([1.0, 1.0])) == pytest.approx([1 - GAP, 1])
