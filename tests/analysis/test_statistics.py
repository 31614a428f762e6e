"""From rows of `cells.csv` to numbers: each step on a table of a few rows."""

import numpy as np
import pandas as pd
import pytest

from workflow.analysis import statistics
from workflow.analysis.uncertainty import Component, Estimate

PLACE = {"arch": "lstm", "corpus": "books", "aux": "on", "n_transfer": "1"}


def cells(task: str, metric: str, **scores: list[float]) -> pd.DataFrame:
    """Rows of a task: by split, the scores of seeds 0, 1, ..."""
    rows = [
        {**PLACE, "task": task, "metric": metric, "split": split, "seed": seed, "score": score}
        | {"majority": 40.0 + len(split), "bag_of_words": 50.0, "train_tokens": 100.0 + seed}
        | {"alarms": "late;low" if seed else ""}
        for split, values in scores.items()
        for seed, score in enumerate(values)
    ]
    return pd.DataFrame(rows)


MNLI = cells("mnli", "accuracy", train=[99, 99], dev_mismatched=[60, 70], dev_matched=[80, 72])
RTE = cells("rte", "accuracy", dev=[50.0, 60.0], select=[1.0, 2.0])
BOTH = pd.concat([MNLI, RTE], ignore_index=True)


def test_what_a_task_reports_is_in_its_own_order_without_training_and_halves():
    assert statistics.reported("mnli", MNLI) == ["dev_matched", "dev_mismatched"]
    race = cells("race", "accuracy", test=[1.0], test_high=[1.0], test_middle=[1.0], train=[1.0])
    assert statistics.reported("race", race) == ["test"]
    assert statistics.reported("rte", RTE.assign(seed=np.nan)) == ["dev"]
    odd = cells("rte", "accuracy", zebra=[1.0], dev=[1.0], ape=[1.0])
    assert statistics.reported("rte", odd) == ["dev", "ape", "zebra"]
    assert statistics.headline_splits("rte", odd) == ["dev"]
    assert statistics.headline_splits("mnli", MNLI) == ["dev_matched", "dev_mismatched"]


def test_an_official_set_is_named_once():
    assert statistics.official_sets("dev_matched+dev_mismatched") == "dev"
    assert statistics.official_sets("test+dev_matched") == "dev+test"


def test_a_headline_is_the_mean_of_its_splits_within_each_seed():
    found = statistics.headline(BOTH, ["mnli", "rte"])
    assert list(found["score"]) == [70, 71, 50, 60]
    assert list(found["task"]) == ["mnli"] * 2 + ["rte"] * 2
    assert list(found["split"].unique()) == ["dev_matched+dev_mismatched", "dev"]
    assert list(found["train_tokens"]) == [100, 101, 100, 101]  # of one run, not of its splits
    assert list(found["alarms"]) == ["", "late;low"] * 2 and set(found["n_runs"]) == {1}
    assert list(found["majority"].unique()) == [40 + (11 + 14) / 2, 43]
    assert list(statistics.headline(MNLI, ["mnli"], train=True)["score"]) == [99, 99]
    lacking = BOTH[~((BOTH["split"] == "dev_matched") & (BOTH["seed"] == 1))]
    assert list(statistics.headline(lacking, ["mnli"])["seed"]) == [0]


def test_an_average_is_taken_within_seeds_over_every_task_and_sums_the_tokens():
    heads = statistics.headline(BOTH, ["mnli", "rte"])
    found = statistics.average(heads, ["mnli", "rte"], "avg")
    assert list(found["score"]) == [60, 65.5] and set(found["task"]) == {"avg"}
    assert list(found["train_tokens"]) == [200, 202] and set(found["n_runs"]) == {2}
    assert list(found["alarms"]) == [";", "late;low;late;low"]
    assert statistics.average(heads, ["mnli", "rte", "cola"], "avg").empty
    unknown = heads.assign(majority=[np.nan, 1.0, 2.0, 3.0])
    majority = statistics.average(unknown, ["mnli", "rte"], "avg")["majority"]
    assert np.isnan(majority.iloc[0]) and majority.iloc[1] == 2


def test_a_summary_has_mean_and_spread_over_seeds_and_counts_the_alarms():
    heads = statistics.headline(BOTH, ["mnli", "rte"])
    table = statistics.summarise(
        pd.concat([heads, statistics.average(heads, ["mnli", "rte"], "avg")]), ["task"]
    ).set_index("task")
    assert list(table.index) == ["mnli", "rte", "avg"] and set(table["n_seeds"]) == {2}
    assert list(table["mean"]) == [70.5, 55, 62.75]
    spread = [np.sqrt(0.5), np.sqrt(50), np.std([60, 65.5], ddof=1)]
    assert list(table["sd"]) == pytest.approx(spread)
    assert list(table["train_tokens"]) == [100.5, 100.5, 201]
    assert list(table["alarms"]) == ["late:1/2;low:1/2"] * 2 + ["late:2/4;low:2/4"]
    assert "n_runs" not in table
    lone = statistics.summarise(RTE[RTE["seed"] == 0], ["split"]).set_index("split")
    assert np.isnan(lone.loc["dev", "sd"]) and lone.loc["dev", "alarms"] == ""


def test_limits_stand_beside_their_own_rows():
    table = pd.DataFrame({"task": ["a", "b"], "line": ["x", "x"], "mean": [1.0, 2.0]})
    one = Estimate(5.0, (Component(0.0, 1),), Component(1.0, 1e9), 2, 9)
    found = statistics.add_interval(table, {("b", "x"): one}, ["task", "line"])
    assert found["ci_low"].isna().tolist() == [True, False]
    assert found.loc[1, "ci_low"] == pytest.approx(5 - 1.96, abs=1e-3)
    assert found.loc[1, "ci_high"] == pytest.approx(5 + 1.96, abs=1e-3)


def test_what_was_not_run_is_in_its_place_without_seeds():
    table = pd.DataFrame({"task": ["b"], "n_seeds": [2], "alarms": ["late:1/2"], "mean": [3.0]})
    wanted = pd.DataFrame({"task": ["a", "b"], "note": ["", "few"]})
    found = statistics.complete(table, wanted, ["task"])
    assert list(found["task"]) == ["a", "b"] and list(found["n_seeds"]) == [0, 2]
    assert list(found["alarms"]) == ["", "late:1/2"] and list(found["note"]) == ["", "few"]
    assert np.isnan(found.loc[0, "mean"]) and found.loc[1, "mean"] == 3
