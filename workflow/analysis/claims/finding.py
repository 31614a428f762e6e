"""What a run says about a claim: an estimate, and the verdict on it.

A claim *holds* if the 95 % interval of its contrast lies on the claim's side of its border, and
*does not hold* if it lies on the other side. If neither, the contrast may still be *equal* to 0:
two one-sided tests at 5 % show that it is within the margin on both sides, that is, its 90 %
interval is (Schuirmann 1987, doi:10.1007/BF01068419). Otherwise it is *undecided*, and `needs` says
how many seeds and rows would decide it. Every CSV uses these words, whatever the data. For readers,
a claim that holds is called "reproduced" on published data and "holds here" on synthetic data.

A claim about every task holds if it holds on each, so each is tested without correction, and a line
before theirs counts them (intersection-union; Berger 1982, doi:10.1080/00401706.1982.10487790).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from workflow.analysis.stats.estimates import LEVEL, Estimate, holm

HOLDS, DOES_NOT_HOLD, EQUAL = "holds", "does not hold", "equal"
UNDECIDED, NOT_RUN = "undecided", "not run"
VERDICTS = HOLDS, EQUAL, DOES_NOT_HOLD, UNDECIDED, NOT_RUN
PUBLISHED, MADE = "published", "made"  # data
CELLS = "the cells of this contrast"


def shown(verdict: str, data: str) -> str:
    """One of VERDICTS in the words used for published or for synthetic data."""
    if verdict == HOLDS:
        return "reproduced" if data == PUBLISHED else "holds here"
    if verdict == DOES_NOT_HOLD:
        return "not reproduced" if data == PUBLISHED else "does not hold here"
    return verdict


@dataclass(frozen=True)
class Count:
    """A number of tasks; its interval runs from the sure ones to all but those surely lost.

    `needs` is what would decide it.
    """

    value: float
    interval: tuple[float, float]
    n_seeds: int
    p: float = np.nan
    alarms: str = ""
    needs: str = "what the tasks' own lines need"


# `interval` and `p` are NaN where there is none.
NOTHING = Count(np.nan, (np.nan, np.nan), 0)


@dataclass(frozen=True)
class Finding:
    """An estimate beside the paper's value; if `found` is None, `lacking` says what is missing.

    The claim is that the contrast is above `border`, or below it if `at_most` is set or the paper's
    value is negative. A contrast within `margin` of 0 is of no consequence; `margin` is 0 where
    none was stated. `printed` is the contrast by the paper's Table 5, with its tasks as the sample.
    """

    tasks: str
    contrast: str
    found: Estimate | Count | None
    paper: float | None = None
    margin: float = 0.0
    border: float = 0.0
    at_most: bool = False
    lacking: str = CELLS
    printed: Estimate | None = None

    @property
    def verdict(self) -> str:
        """One of VERDICTS."""
        if self.found is None:
            return NOT_RUN
        direction = -1 if self.at_most or (self.paper or 0) < 0 else 1
        low, high = sorted((end - self.border) * direction for end in self.found.interval)
        if low > 0 or high < 0:
            return HOLDS if low > 0 else DOES_NOT_HOLD
        return EQUAL if self.within() else UNDECIDED

    def within(self, n: int = 1) -> bool:
        """Whether it is within its margin of 0, as one of `n` tests (Bonferroni's correction)."""
        return isinstance(self.found, Estimate) and self.found.within(self.margin, n)

    @property
    def needs(self) -> str:
        """What would decide the claim, or is lacking if it was not run; empty if it is decided."""
        if self.found is None:
            return self.lacking
        if self.verdict != UNDECIDED:
            return ""
        if isinstance(self.found, Count):
            return self.found.needs
        effect = abs(self.found.value - self.border)
        return self.found.needs(max(effect, self.margin - effect))


def all_of(findings: Sequence[Finding], contrast: str, n: int, unit: str = "tasks") -> Finding:
    """The claim that a contrast holds on each of `n` tasks, with a count of those on its side.

    That all hold needs no correction for their number. That one of them does not hold, or is of no
    consequence, needs one.
    """
    known = [(one, one.found) for one in findings if one.found]
    whole = Finding(f"{n} {unit}", f"{contrast}, {unit}", None, border=n - 0.5)
    if len(known) < max(1, n):
        lacking = next((one.lacking for one in findings if not one.found), CELLS)
        return replace(whole, lacking=lacking)
    sure = holm([found.p for _, found in known]) < 1 - LEVEL
    n_lost = sum(
        is_sure if one.verdict == DOES_NOT_HOLD else one.verdict == EQUAL and one.within(len(known))
        for (one, _), is_sure in zip(known, sure, strict=True)
    )
    needs = NOTHING.needs
    if unit != "tasks":  # tasks have lines of their own
        undecided = (one for one, _ in known if one.verdict == UNDECIDED)
        needs = next((f"{one.contrast}: {one.needs}" for one in undecided), "")
    equal = [one for one, _ in known if one.verdict == EQUAL]
    if equal:  # there the difference is of no consequence
        names = (one.tasks if unit == "tasks" else one.contrast for one in equal)
        needs += f"; equal on {', '.join(names)}"
    alarms = {name.partition(":")[0] for _, of in known for name in of.alarms.split(";") if name}
    count = Count(
        sum((found.value > 0) == ((one.paper or 1) > 0) for one, found in known),
        (sum(one.verdict == HOLDS for one, _ in known), len(known) - n_lost),
        min(found.n_seeds for _, found in known),
        alarms=";".join(sorted(alarms)),
        needs=needs,
    )
    return replace(whole, found=count)
