"""What a run says about a claim: an estimate, and the verdict on it.

A claim is *reproduced* if the 95 % interval of its contrast lies on the claim's side of its border,
*not reproduced* if it lies on the other side, or within the margin of it on either side (an effect
of no consequence); else *undecided*, and `needs` says how many seeds and rows would do. Where a
claim is about several tasks, Holm's p-value must be below 0.05 as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from workflow.analysis.stats.estimate import LEVEL, MARGIN, Estimate
from workflow.analysis.stats.trends import RankTrend, Trend

REPRODUCED, NOT_REPRODUCED = "reproduced", "not reproduced"
UNDECIDED, NOT_RUN = "undecided", "not run"
CELLS = "the cells of this contrast"


@dataclass(frozen=True)
class Count:
    """A number of tasks; its interval counts those of which it is sure, and all but the lost."""

    value: float
    interval: tuple[float, float]
    n_seeds: int
    p: float = np.nan

    @classmethod
    def of(cls, found: Sequence[Estimate]) -> Self:
        """How many estimates are above 0."""
        low = sum(one.interval[0] > 0 for one in found)
        high = sum(not one.interval[1] <= 0 for one in found)  # not lost where there is no interval
        return cls(sum(one.value > 0 for one in found), (low, high), found[0].n_seeds)

    def needs(self, distance: float, n_tests: int = 1) -> str:
        """What each of the tasks needs."""
        return "what the tasks' own lines need"


# `interval` and `p` are NaN where there is none; `needs` names what would show a given effect.
Found = Estimate | Trend | RankTrend | Count


@dataclass(frozen=True)
class Finding:
    """An estimate beside the paper's value; None if it was not run for want of what is `lacking`.

    The claim lies above the `border`, or below it where the paper's value is negative. A difference
    within `margin` of it is of no consequence. `alarms` are those of the runs behind the estimate.
    """

    tasks: str
    contrast: str
    found: Found | None
    paper: float | None = None
    margin: float = MARGIN
    border: float = 0.0
    lacking: str = CELLS
    alarms: str = ""

    @property
    def p(self) -> float:
        """The p-value by itself, before Holm's correction."""
        return self.found.p if self.found else np.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval; NaN where there is none."""
        return self.found.interval if self.found else (np.nan, np.nan)

    def verdict(self, p: float) -> str:
        """The verdict, where `p` is the p-value among those of the claim (NaN: no test)."""
        if self.found is None:
            return NOT_RUN
        direction = -1 if (self.paper or 0) < 0 else 1
        low, high = sorted((end - self.border) * direction for end in self.interval)
        tested = np.isnan(p) or p < 1 - LEVEL
        if low > 0 and tested:
            return REPRODUCED
        if (high < 0 and tested) or (-self.margin < low and high < self.margin):
            return NOT_REPRODUCED
        return UNDECIDED

    def needs(self, verdict: str, n_tests: int) -> str:
        """What would decide it, or what it was not run for want of."""
        if self.found is None:
            return self.lacking
        if verdict != UNDECIDED:
            return ""
        effect = abs(self.found.value - self.border)
        return self.found.needs(max(effect, self.margin - effect), n_tests)
