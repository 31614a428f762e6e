"""From runs to numbers: a task's headline score, averages over tasks, mean and spread over seeds.

An average over tasks is taken within each seed first and only then over seeds, so that its
standard deviation is that of the average itself; a seed (or a cell) that lacks one of the tasks
gives no average at all, because a mean over fewer tasks is another quantity.
"""

from collections import Counter
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

import tasks
from workflow.analysis.collect import RUN, SPLITS_NOT_REPORTED

GROUPS = ("_middle", "_high")  # RACE's two halves, scored beside the whole


def reported(task: str, runs: pd.DataFrame | None = None) -> list[str]:
    """The splits that a task reports, main one first; those of its cells if there are any."""
    official = list(tasks.task(task).report)
    if runs is None or runs.empty:
        return official
    found = [
        split
        for split in runs.loc[runs["task"] == task, "split"].unique()
        if split not in SPLITS_NOT_REPORTED and not split.endswith(GROUPS)
    ]
    order = {split: place for place, split in enumerate(official)}
    return sorted(found, key=lambda split: (order.get(split, len(order)), split)) or official


def headline_splits(task: str, runs: pd.DataFrame | None = None) -> list[str]:
    """The splits behind a task's one number: both of MNLI (their mean, Table 5), else the first."""
    splits = reported(task, runs)
    return splits if task == "mnli" else splits[:1]


def bases(splits: list[str]) -> str:
    """Which official sets stand behind some splits: `dev` for dev_matched+dev_mismatched."""
    parts = {part.split("_")[0] for split in splits for part in split.split("+")}
    return "+".join(sorted(parts))


def headline(runs: pd.DataFrame, names: list[str], train: bool = False) -> pd.DataFrame:
    """One score per run and task: the main metric on the headline split or the training rows."""
    frames = []
    for name in names:
        splits = ["train"] if train else headline_splits(name, runs)
        mine = runs[(runs["task"] == name) & (runs["metric"] == tasks.task(name).metric)]
        mine = mine[mine["split"].isin(splits)]
        one = _merge(mine, RUN, cost="first")
        one = one[one["n_merged"] == len(splits)]
        frames.append(one.assign(task=name, metric=tasks.task(name).metric, split="+".join(splits)))
    return pd.concat(frames, ignore_index=True)


def average(heads: pd.DataFrame, names: list[str], label: str) -> pd.DataFrame:
    """Per seed the unweighted mean over all of `names`; tokens and seconds are summed."""
    mean = _merge(heads[heads["task"].isin(names)], RUN, cost="sum")
    return mean[mean["n_merged"] == len(names)].assign(task=label, metric="mean")


def _merge(rows: pd.DataFrame, by: list[str], cost: str) -> pd.DataFrame:
    return rows.groupby(by, sort=False, as_index=False).agg(
        n_merged=("score", "size"),
        score=("score", "mean"),
        majority=("majority", lambda values: values.mean(skipna=False)),
        bag_of_words=("bag_of_words", lambda values: values.mean(skipna=False)),
        train_tokens=("train_tokens", cost),
        train_seconds=("train_seconds", cost),
        peak_mb=("peak_mb", "max"),
        alarms=("alarms", (lambda a: a.iloc[0]) if cost == "first" else _chain),
        n_runs=("n_runs", cost),
    )


def summarise(runs: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Over the seeds of each group: n_seeds, mean, sd (n-1), 95 % t-interval, cost per run, alarms.

    sd and the interval are empty for one seed. `train_tokens` and `train_seconds` are means over
    seeds, `peak_mb` is the highest. `alarms` reads `name:raised/runs`, joined by a semicolon.
    """
    table = runs.groupby(by, sort=False, as_index=False).agg(
        n_seeds=("seed", "nunique"),
        mean=("score", "mean"),
        sd=("score", "std"),
        majority=("majority", "first"),
        bag_of_words=("bag_of_words", "first"),
        train_tokens=("train_tokens", "mean"),
        train_seconds=("train_seconds", "mean"),
        peak_mb=("peak_mb", "max"),
        alarms=("alarms", _chain),
        n_runs=("n_runs", "sum"),
    )
    low, high = interval(table["mean"], table["sd"], table["n_seeds"])
    table.insert(table.columns.get_loc("sd") + 1, "ci_low", low)
    table.insert(table.columns.get_loc("sd") + 2, "ci_high", high)
    table["alarms"] = [
        ";".join(f"{name}:{n}/{runs_}" for name, n in sorted(Counter(names).items()))
        for names, runs_ in zip(table["alarms"], table["n_runs"], strict=True)
    ]
    return table.drop(columns="n_runs")


def interval(
    mean: pd.Series, sd: pd.Series, n: pd.Series, level: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    """Student's t-interval for a mean over n seeds; NaN where n < 2 or sd is unknown."""
    n = n.to_numpy(dtype=float)
    several = np.where(n > 1, n, np.nan)
    half = stats.t.ppf((1 + level) / 2, several - 1) * sd.to_numpy(dtype=float) / np.sqrt(several)
    return mean.to_numpy(dtype=float) - half, mean.to_numpy(dtype=float) + half


def complete(table: pd.DataFrame, wanted: list[dict[str, Any]], on: list[str]) -> pd.DataFrame:
    """`wanted` rows in their order, with the numbers of `table`; what was not run has n_seeds 0."""
    keys = pd.DataFrame(wanted)
    extra = [column for column in table.columns if column not in keys.columns or column in on]
    rows = keys.merge(table[extra], on=on, how="left", validate="one_to_one")
    rows["n_seeds"] = rows["n_seeds"].fillna(0).astype(int)
    rows["alarms"] = rows["alarms"].astype(object).fillna("")
    return rows


def _chain(parts: pd.Series) -> tuple[str, ...]:
    return tuple(chain.from_iterable(parts))
