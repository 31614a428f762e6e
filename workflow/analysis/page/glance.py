"""The run at a glance: what stands on top of the page, before any table."""

from dataclasses import dataclass

import pandas as pd

from workflow.analysis import markdown
from workflow.analysis.page import alarms
from workflow.analysis.page.run import Run

VERDICTS = ("reproduced", "undecided", "not reproduced", "not run")


@dataclass(frozen=True)
class Glance:
    """What the tables say in a few numbers; None where a table is not there.

    `checks` are those of the positive control that hold, and all; `gain` is what pre-training adds
    on average, with its interval; `runs` are all fine-tuning runs, and those with an alarm;
    `verdicts` counts the claims of each.
    """

    checks: tuple[int, int] | None
    verdicts: dict[str, int] | None
    gain: str | None
    runs: tuple[int, int] | None

    @classmethod
    def of(cls, run: Run) -> "Glance":
        """Read the run's tables. Raises InputError for a damaged one."""
        control, claims = run.table("positive_control"), run.table("claims")
        ablation, cells = run.table("ablation"), run.table("cells")
        return cls(
            checks=None if control is None else _checks(control),
            verdicts=None if claims is None else _verdicts(claims),
            gain=None if ablation is None else _gain(ablation),
            runs=None if cells is None else _runs(cells),
        )


def _checks(control: pd.DataFrame) -> tuple[int, int]:
    judged = control["met"].dropna()
    return int((judged == "yes").sum()), len(judged)


def _verdicts(claims: pd.DataFrame) -> dict[str, int]:
    return {name: int((claims["verdict"] == name).sum()) for name in VERDICTS}


def _gain(ablation: pd.DataFrame) -> str | None:
    """The full transformer minus the same recipe with nothing transferred, over all tasks."""
    same = {"arch": "transformer", "aux": "on", "corpus": "books", "n_transfer": "none"}
    rows = ablation[ablation["task"] == "avg_all"]
    for column, value in same.items():
        rows = rows[rows[column] == value]
    for diff, low, high in rows[["diff", "diff_low", "diff_high"]].itertuples(index=False):
        return None if pd.isna(diff) else markdown.interval(-diff, -high, -low)
    return None


def _runs(cells: pd.DataFrame) -> tuple[int, int]:
    found = alarms.runs(cells)
    return len(found), int(found["alarms"].notna().sum())
