"""Axes, ticks and places of the figures, worked out by hand."""

import numpy as np
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


def test_ticks_may_be_sparse_and_more_may_be_given():
    assert ticks(1, 100, sparse=True) == [1, 10, 100]
    assert ticks(1, 10, 0) == [0, 1, 2, 5, 10]


def test_ticks_are_written_short():
    axis = Figure().add_subplot().xaxis
    style.log_ticks(axis, 1, 10)
    shown = [axis.get_major_formatter()(x, 0) for x in (0, 0.5, 1, 2000, 5e6)]
    assert shown == ["0", "0.5", "1", "2k", "5M"]
    assert list(axis.get_minorticklocs()) == []


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


def test_the_number_of_seeds_is_in_words():
    assert style.mean_over([4]) == "one seed" and style.mean_over([4, 5]) == "mean over 2 seeds"


def test_a_band_leaves_out_what_has_no_range_and_has_a_bar_at_each_point():
    ax, x = Figure().add_subplot(), np.array([1.0, 2.0, 3.0])
    low, high = pd.Series([1.0, np.nan, 3.0]), pd.Series([2.0, np.nan, 5.0])
    style.draw_range(ax, pd.Series(x), low, high, style.BLUE)
    bars = ax.collections[1].get_segments()
    assert [bar.tolist() for bar in bars] == [[[1, 1], [1, 2]], [[3, 3], [3, 5]]]


def test_names_that_would_hide_each_other_are_moved_apart_as_little_as_possible():
    assert _apart(np.array([0.5] * 3)) == pytest.approx([0.5 - GAP, 0.5, 0.5 + GAP])
    assert _apart(np.array([0.1, 0.5, 0.9])) == pytest.approx([0.1, 0.5, 0.9])
    assert _apart(np.array([0.0, 0.0])) == pytest.approx([0, GAP])
    assert _apart(np.array([1.0, 1.0])) == pytest.approx([1 - GAP, 1])
