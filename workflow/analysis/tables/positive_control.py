"""The positive control: what a suite that works must see in the embedded world.

There pre-training teaches what the tasks need, by construction; so a run that does not see it is
not working. A run on other data has no such table. Each line says what is wanted and what was
found; the intervals are those of `ablation.csv`, and Fieller's for the share that shuffled books
leave of the gain. Whether a line is met is judged by the value, but for the first two.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from workflow.analysis.claims.evidence import Evidence, minus
from workflow.analysis.notes import fewer_seeds
from workflow.analysis.paper import FULL, LSTM, NEITHER, NO_PRETRAINING, SHUFFLED, Variant
from workflow.analysis.stats.estimate import mean_of, ratio_interval
from workflow.analysis.stats.samples import Samples
from workflow.analysis.table import Table, read_csv
from workflow.grid import Grid

INPUTS = ("endpoints", "shuffled", "ablation.csv", "layer_transfer.csv", "zero_shot.csv")
LAST = 4  # checkpoints along which zero-shot scores must rise


class Check(NamedTuple):
    """One line: `met` is "yes" or "no", or "" for what is only reported."""

    check: str
    wanted: str
    ours: float
    ci_low: float
    ci_high: float
    met: str


def build(results: Path, grid: Grid) -> Table:
    """One row per check; `ours` is in points, a number of tasks, a correlation or a share."""
    ablation = read_csv(results / "ablation.csv")
    checks = [*_transfer(ablation, len(grid.tasks))]
    if grid.shuffled:
        run = Evidence(results, grid, Samples.of_grid(results, grid, INPUTS))
        checks.append(_share(ablation, run))
    checks += _reported(ablation, grid)
    checks += _layers(read_csv(results / "layer_transfer.csv"), grid)
    checks += _zero_shot(read_csv(results / "zero_shot.csv"))
    frame = pd.DataFrame(checks)
    numbers = frame[["ours", "ci_low", "ci_high"]].map(lambda x: "" if pd.isna(x) else f"{x:.2f}")
    shown = frame.assign(**numbers).astype(str).set_index("check")
    shown = shown[["met", *shown.columns.drop("met")]]
    missed, n_checks = (frame["met"] == "no").sum(), (frame["met"] != "").sum()
    verdict = f"{missed} of {n_checks} checks fail" if missed else "Every check holds"
    parts = [
        "# The positive control",
        f"The embedded world is made so that pre-training helps. **{verdict}.**",
        shown,
        "Differences and the share are paired by row and seed, with their 95 % intervals over "
        "both; the bar of the share is for its value. This shows "
        "that the suite can measure; it is no evidence about English.",
        *fewer_seeds(grid),
    ]
    return Table(frame, parts, words=("met", "wanted"))


def _reported(ablation: pd.DataFrame, grid: Grid) -> Iterator[Check]:
    """Differences that are reported and judged by no bar.

    The auxiliary loss costs a model without pre-training points, so the gain is given over the
    model that has neither as well.
    """
    others = {NEITHER: "no pre-training and no auxiliary loss"} if "off" in grid.aux else {}
    others |= {LSTM: "LSTM"} if "lstm" in grid.arch else {}
    for variant, name in others.items():
        low, high, diff = _gain(ablation, variant, "avg_all")
        yield Check(f"full minus {name}, mean of all tasks", "reported", diff, low, high, "")


def _check(
    name: str, wanted: str, ours: float, met: bool, low: float = np.nan, high: float = np.nan
) -> Check:
    return Check(name, wanted, float(ours), low, high, "yes" if met else "no")


def _gain(ablation: pd.DataFrame, variant: Variant, task: str) -> tuple[float, float, float]:
    """The full transformer minus a variant: the interval's ends and the difference."""
    row = ablation[(ablation["variant"] == variant.title) & (ablation["task"] == task)].iloc[0]
    return -row["diff_high"], -row["diff_low"], -row["diff"]


def _transfer(ablation: pd.DataFrame, n_tasks: int) -> Iterator[Check]:
    low, high, gain = _gain(ablation, NO_PRETRAINING, "avg_all")
    met = gain >= 15 and low > 8
    wanted = "at least 15 points, interval above 8"
    yield _check("full minus no pre-training, mean of all tasks", wanted, gain, met, low, high)
    single = ablation[~ablation["task"].isin(["avg", "avg_all"])]
    none, full = (
        single[single["variant"] == variant.title].set_index("task")
        for variant in (NO_PRETRAINING, FULL)
    )
    n = ((none["diff"] <= -5) & (none["diff_high"] < 0)).sum()
    least = round(n_tasks * 9 / 12)
    wanted = f"at least {least} of {n_tasks}"
    yield _check("tasks with 5 points more and the interval above 0", wanted, n, n >= least)
    for baseline, share in (("bag_of_words", 10 / 12), ("majority", 11 / 12)):
        n, least = (full["mean"] > full[baseline]).sum(), round(n_tasks * share)
        name = f"tasks above the {baseline.replace('_', ' ')} baseline"
        yield _check(name, f"at least {least} of {n_tasks}", n, n >= least)


def _share(ablation: pd.DataFrame, run: Evidence) -> Check:
    """What shuffled books leave of the gain; its interval is made of the samples."""
    gain = _gain(ablation, NO_PRETRAINING, "avg_all")[2]
    kept = (gain - _gain(ablation, SHUFFLED, "avg_all")[2]) / gain if gain > 0 else np.nan
    above, below = (
        mean_of(run.contrasts(minus(variant, NO_PRETRAINING)), run.grid.tasks)
        for variant in (SHUFFLED, FULL)
    )
    limits = ratio_interval(above, below) if above and below else (np.nan, np.nan)
    name = "share of the gain that is left with shuffled books"
    return _check(name, "at most a third", kept, kept <= 1 / 3, *limits)


def _layers(table: pd.DataFrame, grid: Grid) -> Iterator[Check]:
    mine = table[(table["arch"] == "transformer") & (table["aux"] == "on")]
    mine = mine[(mine["task"] == "mean") & (mine["split"] == "reported")]
    mine = mine[mine["n_transfer"] != "none"]
    layers, scores = mine["n_transfer"].astype(int), mine["mean"]
    rho = stats.spearmanr(layers, scores).statistic if len(mine) > 1 else np.nan
    name = "rank correlation of the mean score with the layers transferred"
    # Rounded: of five points one swap of neighbours is 0.9, which SciPy puts just below.
    yield _check(name, "at least 0.9", rho, round(rho, 6) >= 0.9)
    by_layer = dict(zip(layers, scores, strict=True))
    rise = by_layer.get(grid.n_layer["transformer"], np.nan) - by_layer.get(0, np.nan)
    yield _check("all layers minus embeddings alone", "at least 8 points", rise, rise >= 8)


def _zero_shot(table: pd.DataFrame) -> Iterator[Check]:
    mine = table[table["arch"] == "transformer"].sort_values("update")
    mean = mine[mine["task"] == "mean"]["relative"].to_numpy()
    yield _check("zero-shot mean at the end", "at least 0.4", mean[-1], mean[-1] >= 0.4)
    rises = (mean[-LAST:][1:] > mean[-LAST:][:-1]).sum()
    name = f"rises of that mean along the last {LAST} checkpoints"
    yield _check(name, f"all {LAST - 1}", rises, rises == LAST - 1)
    last = mine[(mine["update"] == mine["update"].max()) & (mine["task"] != "mean")]
    n, n_tasks = (last["relative"] > 0.15).sum(), len(last)
    least = round(n_tasks * 0.75)
    name = "zero-shot tasks above 0.15 at the end"
    yield _check(name, f"at least {least} of {n_tasks}", n, n >= least)
