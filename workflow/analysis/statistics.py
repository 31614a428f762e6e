"""From seeds to numbers: a task's headline score, averages over tasks, mean and spread over seeds.

An average over tasks is taken within each seed first and only then over seeds, so that its
standard deviation is that of the average itself; a seed (or a cell) that lacks one of the tasks
gives no average at all, because a mean over fewer tasks is another quantity.
"""

from collections import Counter
from collections.abc import Mapping
from itertools import chain
from typing import Any

import pandas as pd

import tasks
from workflow.analysis.uncertainty import Estimate

RUN = ["arch", "corpus", "aux", "n_transfer", "seed"]
NOT_REPORTED = ("train", "select")
GROUPS = ("_middle", "_high")  # RACE's two halves, scored beside the whole


def reported(task: str, cells: pd.DataFrame) -> list[str]:
    """The splits that a task reports, main one first; those of its cells if any was run."""
    official = list(tasks.task(task).report)
    splits = cells.loc[(cells["task"] == task) & cells["seed"].notna(), "split"].unique()
    found = [s for s in splits if s not in NOT_REPORTED and not s.endswith(GROUPS)]
    order = {split: place for place, split in enumerate(official)}
    return sorted(found, key=lambda split: (order.get(split, len(order)), split)) or official


def headline_splits(task: str, cells: pd.DataFrame) -> list[str]:
    """The splits behind a task's one number: both of MNLI (their mean, Table 5), else the first."""
    splits = reported(task, cells)
    return splits if task == "mnli" else splits[:1]


def official_sets(split: str) -> str:
    """The official set behind some splits: `dev` for dev_matched+dev_mismatched."""
    return "+".join(sorted({part.split("_")[0] for part in split.split("+")}))


def headline(cells: pd.DataFrame, names: list[str], train: bool = False) -> pd.DataFrame:
    """One score per run and task: the main metric on the headline split or the training rows."""
    frames = []
    for name in names:
        splits = ["train"] if train else headline_splits(name, cells)
        metric = tasks.task(name).metric
        scores = cells[(cells["task"] == name) & (cells["metric"] == metric)]
        one = _merge(scores[scores["split"].isin(splits)].dropna(subset="seed"), cost="first")
        one = one[one["n_merged"] == len(splits)]
        frames.append(one.assign(task=name, metric=metric, split="+".join(splits), n_runs=1))
    return pd.concat(frames, ignore_index=True)


def average(heads: pd.DataFrame, names: list[str], label: str) -> pd.DataFrame:
    """Per seed the unweighted mean over all of `names`; tokens are summed."""
    mean = _merge(heads[heads["task"].isin(names)], cost="sum")
    mean = mean[mean["n_merged"] == len(names)]
    return mean.assign(task=label, metric="mean", n_runs=len(names))


def _merge(rows: pd.DataFrame, cost: str) -> pd.DataFrame:
    return rows.groupby(RUN, sort=False, as_index=False).agg(
        n_merged=("score", "size"),
        score=("score", "mean"),
        majority=("majority", lambda values: values.mean(skipna=False)),
        bag_of_words=("bag_of_words", lambda values: values.mean(skipna=False)),
        train_tokens=("train_tokens", cost),
        alarms=("alarms", "first" if cost == "first" else ";".join),
    )


def summarise(runs: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Over the seeds of each group: n_seeds, mean, sd (n-1), tokens per run, alarms.

    `runs` are rows of `cells.csv`, or of `headline` and `average`; what was not run gives no row.
    sd is empty for one seed. `train_tokens` is the mean over seeds. `alarms` reads
    `name:raised/runs`, joined by a semicolon.
    """
    runs = runs.dropna(subset="seed")
    runs = runs if "n_runs" in runs else runs.assign(n_runs=1)
    table = runs.groupby(by, sort=False, as_index=False).agg(
        n_seeds=("seed", "nunique"),
        mean=("score", "mean"),
        sd=("score", "std"),
        majority=("majority", "first"),
        bag_of_words=("bag_of_words", "first"),
        train_tokens=("train_tokens", "mean"),
        alarms=("alarms", list),
        n_runs=("n_runs", "sum"),
    )
    table["alarms"] = list(map(_count, table["alarms"], table["n_runs"]))
    return table.drop(columns="n_runs")


def _count(alarms: list[str], n_runs: int) -> str:
    names = Counter(chain.from_iterable(text.split(";") for text in alarms))
    return ";".join(f"{name}:{n}/{n_runs}" for name, n in sorted(names.items()) if name)


def add_interval(
    table: pd.DataFrame, found: Mapping[Any, Estimate], keys: list[str]
) -> pd.DataFrame:
    """`table` with `ci_low` and `ci_high`, empty where `keys` lead to no estimate."""
    empty = float("nan"), float("nan")
    places = table[keys].itertuples(index=False, name=None)
    limits = [found[place].interval if place in found else empty for place in places]
    return table.assign(ci_low=[low for low, _ in limits], ci_high=[high for _, high in limits])


def complete(table: pd.DataFrame, wanted: pd.DataFrame, on: list[str]) -> pd.DataFrame:
    """`wanted` rows in their order, with the numbers of `table`; what was not run has n_seeds 0."""
    extra = [column for column in table.columns if column not in wanted.columns or column in on]
    rows = wanted.merge(table[extra], on=on, how="left", validate="one_to_one")
    rows["n_seeds"] = rows["n_seeds"].fillna(0).astype(int)
    rows["alarms"] = rows["alarms"].astype(object).fillna("")
    return rows
