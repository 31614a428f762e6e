"""The run at a glance, which stands on top of the page, and which of its runs raised an alarm."""

from dataclasses import dataclass

import pandas as pd

from workflow.analysis import markdown
from workflow.analysis.page.run import Run

VERDICTS = ("reproduced", "undecided", "not reproduced", "not run")
MODEL = ["arch", "corpus", "aux", "n_transfer"]


@dataclass(frozen=True)
class Glance:
    """What the tables say in a few numbers; None where a table is not there.

    `checks` are those of the positive control that hold, and all; `verdicts` counts the claims of
    each; `gain` is what pre-training adds on average, with its interval; `runs` are all fine-tuning
    runs, and those with an alarm.
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
    same = "arch == 'transformer' and aux == 'on' and corpus == 'books' and n_transfer == 'none'"
    rows = ablation[ablation["task"] == "avg_all"].query(same)
    for diff, low, high in rows[["diff", "diff_low", "diff_high"]].itertuples(index=False):
        return None if pd.isna(diff) else markdown.interval(-diff, -high, -low)
    return None


def _runs(cells: pd.DataFrame) -> tuple[int, int]:
    runs = _fine_tuning(cells)
    return len(runs), int(runs["alarms"].notna().sum())


def _fine_tuning(cells: pd.DataFrame) -> pd.DataFrame:
    """The runs of `cells.csv`, whose rows are scores: one row each."""
    return cells.dropna(subset="seed").drop_duplicates([*MODEL, "task", "seed"])


def alarms(cells: pd.DataFrame) -> pd.DataFrame:
    """How many runs of each kind of model raised each alarm, as text; empty where none did."""
    runs = _fine_tuning(cells)
    raised = runs["alarms"].fillna("").str.get_dummies(";")
    raised = raised.drop(columns="", errors="ignore")  # which pandas makes of a run without any
    table = runs[MODEL].join(raised).groupby(MODEL, sort=False)[list(raised)].sum()
    table.insert(0, "runs", runs.groupby(MODEL, sort=False).size())
    table = table[(table[list(raised)] > 0).any(axis=1)].reset_index()
    heads = {"arch": "model", "n_transfer": "layers"}
    heads |= {name: name.replace("_", " ") for name in raised}
    return table.rename(columns=heads).set_index("model").astype(str)
