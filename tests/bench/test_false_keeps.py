"""The rules on trial and the trial itself, on simulated pools whose truth is known."""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bench.false_keeps import rules, trial
from tasks.common.errors import InputError

ROOT = Path(__file__).parents[2]
ROWS = 400
HALF = {"task 0": 50.0, "task 1": 50.0}  # what a constant answer scores


def side(seed: int, n: int, mean: float, sd: float = 0.0, tasks: int = 2) -> rules.Runs:
    """Runs of `n` seeds whose shares of right answers vary by `sd`, on rows that are alike hard."""
    rng = np.random.default_rng(seed)
    shares = np.clip(rng.normal(mean, sd, (tasks, n, 1)), 0.01, 0.99)
    answers = (rng.random((tasks, n, ROWS)) < shares) * 1.0
    return {f"task {i}": right for i, right in enumerate(answers)}


def pool_of(effects: dict[str, float], n_base: int = 40, sd: float = 0.02) -> trial.Pool:
    """A pool of simulated runs: `base`, and variants that score so many points less."""
    variants = {trial.BASE: 0.0} | effects
    answers = {
        name: side(i, n_base if name == trial.BASE else 20, 0.8 - lost / 100, sd)
        for i, (name, lost) in enumerate(variants.items())
    }
    seeds = {name: range(len(of["task 0"])) for name, of in answers.items()}
    return trial.Pool(answers, seeds, HALF)


@pytest.fixture(scope="module")
def named() -> dict[str, rules.Rule]:
    return trial.named_rules(pool_of({}))


def test_every_rule_keeps_a_large_gain_and_keeps_no_large_loss(named):
    worse, better = side(1, 5, 0.6, 0.01), side(2, 5, 0.9, 0.01)
    assert {name: rule(worse, better) for name, rule in named.items()} == dict.fromkeys(
        named, "keep"
    )
    assert {name: rule(better, worse) for name, rule in named.items()} == dict.fromkeys(
        named, "discard"
    )


def test_no_rule_keeps_a_candidate_with_the_same_answers(named):
    same = side(1, 5, 0.8, 0.01)
    assert {rule(same, same) for name, rule in named.items() if name != "higher"} == {"undecided"}
    assert named["higher"](same, same) == "discard"


def test_rules_over_seeds_decide_nothing_by_one_seed(named):
    worse, better = side(1, 1, 0.6), side(2, 1, 0.9)
    silent = [name for name, rule in named.items() if rule(worse, better) == "undecided"]
    assert {*silent} >= {"Welch's t over seeds", "paired t over seeds", "this suite's interval"}
    assert "McNemar over rows" not in silent


def test_mcnemar_is_the_exact_test_of_rows_that_one_side_alone_gets_right():
    a, b = (np.zeros((1, ROWS)) for _ in range(2))
    a[0, :5], b[0, 5:19] = 1, 1  # 5 and 14 discordant rows: p = 0.064; 15: p = 0.041
    assert rules.mcnemar({"t": a}, {"t": b}) == "undecided"
    b[0, 19] = 1
    assert rules.mcnemar({"t": a}, {"t": b}) == "keep"


def test_the_unpaired_z_has_the_standard_errors_that_harnesses_print():
    a, b = side(1, 1, 0.80, tasks=1)["task 0"], side(2, 1, 0.86, tasks=1)["task 0"]
    errors = [stats.sem(of[0]) for of in (a, b)]
    z = (b.mean() - a.mean()) / np.hypot(*errors)
    assert (rules.unpaired_rows({"t": a}, {"t": b}) == "keep") == (z > 1.96)
    assert z > 0


def test_the_mixed_model_has_the_p_of_another_library(monkeypatch):
    found = []
    monkeypatch.setattr(rules, "by_p", lambda difference, p: found.append(p))
    for seed, sd in ((3, 0.02), (4, 0.05)):
        rules.mixed_model(side(seed, 3, 0.8, sd), side(seed + 10, 3, 0.8, sd))
    # MixedLM of statsmodels 0.15.0 with method="cg".
    assert found == pytest.approx([0.118966, 0.398543], abs=2e-4)


@pytest.mark.parametrize("sd", [0.0, 0.03])
def test_rules_over_rows_keep_falsely_where_seeds_vary_and_rules_over_seeds_do_not(sd, named):
    names = ["McNemar over rows", "z over rows, unpaired", "Welch's t over seeds"]
    kept = dict.fromkeys(names, 0)
    for seed in range(150):
        a, b = side(2 * seed, 5, 0.8, sd, 1), side(2 * seed + 1, 5, 0.8, sd, 1)
        for name in names:
            kept[name] += named[name](a, b) != "undecided"
    assert kept["Welch's t over seeds"] < 16
    assert (kept["McNemar over rows"] > 40) == (sd > 0)


def test_effects_are_those_of_the_seeds_that_both_have():
    pool = pool_of({"worse": 5.0})
    effect, error = pool.effects["worse"]
    ours, theirs = (
        rules.scores(pool.runs(of, range(20), pool.tasks)) for of in ("worse", trial.BASE)
    )
    assert effect == pytest.approx((theirs - ours).mean())
    assert error == pytest.approx(stats.sem(theirs - ours))


def test_pairs_are_disjoint_and_within_half_of_the_pool():
    for k in trial.SEEDS:
        halves = trial.pairs(pool_of({}), k, 40)
        assert sum(map(len, halves)) == 40
        for half in halves:
            assert all(len({*a, *b}) == 2 * k for a, b in half)
            assert len({int(seed) for a, b in half for seed in (*a, *b)}) <= 20


@pytest.mark.parametrize(
    ("rule", "k", "share"),
    [(rules.mcnemar, 1, 12.9), (rules.welch, 5, 2.0)],  # by 20,000 simulated pairs
)
def test_the_interval_of_a_share_covers_it_over_pools(rule, k, share):
    covered = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        answers = {trial.BASE: side(seed, 60, 0.8, 0.03, 1)}
        pool = trial.Pool(answers, {trial.BASE: rng.permutation(60).tolist()}, HALF)
        runs = partial(pool.runs, trial.BASE, tasks=["task 0"])
        halves = trial.pairs(pool, k, 200)
        found = trial.with_interval(
            [[rule(runs(a), runs(b)) == "keep" for a, b in half] for half in halves]
        )
        covered += found["low"] <= share <= found["high"]
    assert covered >= 35


def frame_of(pool: trial.Pool) -> pd.DataFrame:
    """A pool as the file has it, in any order of rows."""
    rows = [
        {"variant": of, "seed": seed, "task": task, "row": i, "label": i % 2}
        | {"prediction": i % 2 if right else 1 - i % 2}
        for of, runs in pool.answers.items()
        for task, answers in runs.items()
        for seed, one in zip(pool.seeds[of], answers, strict=True)
        for i, right in enumerate(one)
    ]
    return pd.DataFrame(rows).sample(frac=1, random_state=0)


def test_a_pool_is_read_whatever_the_order_of_its_rows(tmp_path):
    pool = pool_of({"worse": 5.0})
    frame_of(pool).to_parquet(tmp_path / "pool.parquet")
    found = trial.Pool.read(tmp_path / "pool.parquet")
    assert found.constant == HALF
    for variant, runs in pool.answers.items():
        assert [*found.seeds[variant]] == [*pool.seeds[variant]]
        for task, right in runs.items():
            np.testing.assert_array_equal(found.answers[variant][task], right)


@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        (lambda of: of.drop(columns="label"), "give columns variant, seed"),
        (lambda of: of[of["seed"] < 39], "fewer than 40 seeds of a variant base"),
        (lambda of: of.drop(index=of.index[0]), "lacks rows of some seeds"),
        (lambda of: pd.concat([of, of.head(1)]), "has a row twice"),
        (lambda of: of[(of["variant"] == "base") | (of["task"] == "task 1")], "has other tasks"),
    ],
)
def test_a_pool_that_cannot_be_judged_is_refused_in_one_line(tmp_path, damage, fault):
    damage(frame_of(pool_of({"worse": 5.0}))).to_parquet(tmp_path / "pool.parquet")
    with pytest.raises(InputError, match=fault):
        trial.Pool.read(tmp_path / "pool.parquet")


def test_a_pool_without_a_worse_variant_is_refused_before_it_is_tried(tmp_path):
    frame_of(pool_of({})).to_parquet(tmp_path / "pool.parquet")
    with pytest.raises(InputError, match="no variant is surely worse than base; add one"):
        trial.main([str(tmp_path / "pool.parquet"), "--out", str(tmp_path / "out")])


def test_coverage_is_also_of_each_half_of_the_bases_seeds(monkeypatch):
    monkeypatch.setattr(trial, "SEEDS", (1, 2, 3))
    pool = pool_of({}, n_base=48)
    found = pd.DataFrame(trial.coverage(pool, 20)).set_index(["half", "seeds", "task"])
    assert {*found.index.get_level_values("half")} == {"all", "first", "second"}
    failing = {task: of.copy() for task, of in pool.answers[trial.BASE].items()}
    failing["task 0"][30:34] = 0.0  # of the second half
    other = trial.Pool({trial.BASE: failing}, pool.seeds, HALF)
    again = pd.DataFrame(trial.coverage(other, 20)).set_index(["half", "seeds", "task"])
    pd.testing.assert_frame_equal(found.loc["first"], again.loc["first"])
    assert (again.loc[("second", 3, "task 0"), "with_failed"]) > 50
    assert found.loc[("second", 3, "task 0"), "with_failed"] == 0


def test_a_search_has_the_same_changes_whatever_the_rule_and_the_number_of_seeds(named):
    pool = pool_of({"worse": 8.0, "worst": 16.0})
    of = [
        trial.search(pool, named[rule], k, 3)
        for rule in ("higher", "Welch's t over seeds")
        for k in (1, 3)
    ]
    assert len({found["available"] for found in of}) == 1
    sure = trial.search(pool, lambda a, b: "keep" if rules.gain(a, b) > 4 else "discard", 3, 3)
    assert sure["gain"] == sure["available"] and not sure["false keeps"] + sure["missed"]


def test_what_compare_says_of_seeds_alone_is_of_the_kept_pool():
    pool = trial.Pool.read(ROOT / "bench/false_keeps/pool.parquet")
    kept = pd.read_csv(ROOT / "workflow/analysis/stats/seeds_alone.csv")
    found = pd.DataFrame(trial.seeds_alone(pool))
    pd.testing.assert_frame_equal(found, kept, check_dtype=False, rtol=1e-3)


def test_the_kept_predictions_are_of_rules_on_trial(named):
    predicted = pd.read_csv(ROOT / "bench/false_keeps/predicted.csv")
    assert {*predicted["rule"]} == {*named}


def test_the_trial_of_a_pool_writes_its_tables_and_figure(tmp_path, monkeypatch):
    monkeypatch.setattr(trial, "SEEDS", (1, 3, 5))
    frame_of(pool_of({"worse": 8.0})).to_parquet(tmp_path / "pool.parquet")
    guesses = [("z over rows, unpaired", 1, 40, 1), ("Welch's t over seeds", 1, 0, 0)]
    predicted = pd.DataFrame(guesses, columns=["rule", "seeds", "false_keeps", "power"])
    predicted.to_csv(tmp_path / "predicted.csv", index=False)
    argv = [str(tmp_path / "pool.parquet"), "--predicted", str(tmp_path / "predicted.csv")]
    trial.main([*argv, "--pairs", "20", "--out", str(tmp_path / "out")])
    made = {path.name for path in (tmp_path / "out").iterdir()}
    verdicts = pd.read_csv(tmp_path / "out" / "verdicts.csv").set_index("rule")
    assert verdicts.loc["Welch's t over seeds", ["false_keeps_right", "power_right"]].all()
    assert not verdicts.loc["z over rows, unpaired", "power_right"]
    assert made >= {"false_keeps.csv", "power.md", "search.csv", "coverage.csv", "false_keeps.svg"}
    kept = pd.read_csv(tmp_path / "out" / "false_keeps.csv").set_index(["rule", "seeds", "task"])
    assert 10 <= kept.loc[("higher", 1, "mean"), "share"] <= 90
    power = pd.read_csv(tmp_path / "out" / "power.csv").set_index(["rule", "seeds"])
    assert power.loc[("Welch's t over seeds", 5), "share"] == 100
    assert power.loc[("Welch's t over seeds", 1), "share"] == 0
    searches = pd.read_csv(tmp_path / "out" / "search.csv").set_index(["rule", "seeds"])
    assert searches.loc[("higher", 1), "false keeps"] > 5
    assert searches.loc[("Welch's t over seeds", 5), "gain"] > 20
