"""What a run says about a claim: an estimate, and the verdict on it.

A claim is *reproduced* if the 95 % interval of its contrast lies on the claim's side of its border,
and *not reproduced* if it lies on the other side. It is *equal*, and so not reproduced either, if
two one-sided tests at 5 % show that the contrast is within the margin on both sides, that is, if
its 90 % interval is (Schuirmann 1987, doi:10.1007/BF01068419). Else it is *undecided*, and `needs`
says how many seeds and rows would do.

A claim about every task holds if it holds on each, so each is tested without correction; the line
before theirs counts them (intersection-union; Berger 1982, doi:10.1080/00401706.1982.10487790).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from workflow.analysis.stats.estimate import Estimate
from workflow.analysis.stats.trends import RankTrend, Trend

REPRODUCED, NOT_REPRODUCED, EQUAL = "reproduced", "not reproduced", "equal"
UNDECIDED, NOT_RUN = "undecided", "not run"
VERDICTS = REPRODUCED, EQUAL, NOT_REPRODUCED, UNDECIDED, NOT_RUN
CELLS = "the cells of this contrast"


@dataclass(frozen=True)
class Count:
    """A number of tasks; its interval runs from the `sure` ones to all but the `lost` ones."""

    value: float
    interval: tuple[float, float]
    n_seeds: int
    p: float = np.nan

    @classmethod
    def of(cls, found: Sequence["Found"], sure: Iterable[bool], lost: Iterable[bool]) -> Self:
        """Of the tasks with an estimate each, how many are above 0."""
        n = sum(one.value > 0 for one in found)
        return cls(n, (sum(sure), len(found) - sum(lost)), min(one.n_seeds for one in found))

    def within(self, margin: float) -> bool:
        """False: a count has no margin."""
        return False

    def needs(self, distance: float) -> str:
        """What each of the tasks needs."""
        return "what the tasks' own lines need"


# `interval` and `p` are NaN where there is none; `needs` names what would show a given effect.
Found = Estimate | Trend | RankTrend | Count


@dataclass(frozen=True)
class Finding:
    """An estimate beside the paper's value; `found` is None for want of what is `lacking`.

    The claim lies above the `border`, or below it where the paper's value is negative. A contrast
    within `margin` of 0 is of no consequence; `margin` is 0 where none was stated. `alarms` are
    those of the runs behind the estimate.
    """

    tasks: str
    contrast: str
    found: Found | None
    paper: float | None = None
    margin: float = 0.0
    border: float = 0.0
    lacking: str = CELLS
    alarms: str = ""

    @property
    def p(self) -> float:
        """The two-sided p-value."""
        return self.found.p if self.found else np.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval; NaN where there is none."""
        return self.found.interval if self.found else (np.nan, np.nan)

    @property
    def verdict(self) -> str:
        """One of VERDICTS."""
        if self.found is None:
            return NOT_RUN
        direction = -1 if (self.paper or 0) < 0 else 1
        low, high = sorted((end - self.border) * direction for end in self.interval)
        if low > 0 or high < 0:
            return REPRODUCED if low > 0 else NOT_REPRODUCED
        return EQUAL if self.found.within(self.margin) else UNDECIDED

    @property
    def needs(self) -> str:
        """What would decide it; if it was not run, what is lacking."""
        if self.found is None:
            return self.lacking
        if self.verdict != UNDECIDED:
            return ""
        effect = abs(self.found.value - self.border)
        return self.found.needs(max(effect, self.margin - effect))
