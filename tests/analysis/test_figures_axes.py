"""Axes and ticks of the figures, worked out by hand."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from workflow.analysis.figures import style


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1, 1000, [1, 10, 100, 1000]),  # long
        (2, 1000, [2, 5, 10, 20, 50, 100, 200, 500, 1000]),
        (20, 50, [20, 30, 40, 50]),  # short
        (0.01, 0.02, [0.01, 0.012, 0.014, 0.016, 0.018, 0.02]),
    ],
)
def test_a_log_axis_has_round_ticks_over_what_is_drawn(low, high, expected):
    ax = Figure().add_subplot()
    ax.plot([low, np.nan, high], [1, 2, 3])
    style.log_axis(ax.xaxis, margin=1)
    ticks = [tick for tick in ax.get_xticks() if low <= tick <= high * 1.001]
    assert ax.get_xlim() == (low, high) and ticks == pytest.approx(expected)


def test_an_axis_of_updates_has_the_untrained_model_on_it():
    ax = Figure().add_subplot()
    style.updates_axis(ax, [300, 0, 30])
    assert ax.get_xlim() == pytest.approx((-6, 390))
    assert list(ax.get_xticks())[:4] == [0, 50, 100, 200]
    assert ax.xaxis.get_transform().linthresh == 30
    ax = Figure().add_subplot()
    style.updates_axis(ax, [30, 300])
    assert ax.get_xlim() == pytest.approx((24, 390)) and 0 not in ax.get_xticks()
    ax = Figure().add_subplot()
    style.updates_axis(ax, [37])  # of published weights
    assert list(ax.get_xticks()) == [37]


def test_an_axis_ends_where_scores_and_differences_do():
    ax = Figure().add_subplot()
    for given, expected in (((-50, 150), (-20, 103)), ((10, 90), (10, 90))):
        ax.set_ylim(*given)
        style.limit_to_scores(ax)
        assert ax.get_ylim() == expected
    ax.set_xlim(-150, 30)
    style.limit_to_differences(ax.xaxis)
    assert ax.get_xlim() == (-110, 30)
