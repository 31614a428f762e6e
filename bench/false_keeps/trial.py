"""How often each rule keeps a change that does nothing, and one that helps, on a pool of seeds.

    python -m bench.false_keeps.trial bench/false_keeps/pool.parquet --out FOLDER

A pool has many training runs of one recipe, its `base`, and some of others, each on the same rows.
Pairs of `base` with itself have no difference but the seeds': what a rule keeps there it keeps
falsely (A/A). The others' true effects are known from all their seeds.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy import stats

from bench.false_keeps import rules
from bench.false_keeps.pool import BASE, COLUMNS, MEAN, Pool, Seeds
from bench.false_keeps.rules import Rule, Runs, scores
from tasks.common.errors import InputError
from tasks.common.programs import run
from workflow.analysis.figures import style
from workflow.analysis.stats.estimates import LEVEL
from workflow.analysis.table import Table

SEEDS = 1, 2, 3, 5, 10  # a side; at most a quarter of `pool.FEWEST`
HALVES = 20  # random halves of the pool, between which a share varies
FOUR_DIGITS = "{:.4g}".format
# How each table is shown as Markdown: rows, columns, values and its heading.
WIDE = {
    "false_keeps": (["rule"], "seeds", "share", "# Kept, of 100 changes that do nothing"),
    "power": (["rule"], "seeds", "share", "# Kept, of 100 changes that help"),
    "search": (["rule", "seeds"], None, None, "# Searches of 100 changes, 90 of which do nothing"),
    "coverage": (["task"], "seeds", "share", "# Intervals of this suite that contain 0, of 100"),
}


def named_rules(pool: Pool) -> dict[str, Rule]:
    """The rules by what tables call them.

    The fixed sigma is that of the first ten seeds of `base`, which are in some of the pairs, too.
    """
    ten = pool.runs(BASE, pool.seeds[BASE][: max(SEEDS)], pool.tasks)
    sigma = {task: scores({task: ten[task]}).std(ddof=1) for task in pool.tasks}
    sigma[MEAN] = scores(ten).std(ddof=1)

    def fixed(a: Runs, b: Runs) -> rules.Verdict:
        return rules.fixed_sigma(a, b, sigma[MEAN if len(a) > 1 else next(iter(a))])

    return {
        "higher": rules.higher,
        "two sigma of the baseline's runs": rules.two_sigma,
        "fixed sigma of ten runs": fixed,
        "z over rows, unpaired": rules.unpaired_rows,
        "McNemar over rows": rules.mcnemar,
        "paired bootstrap over rows": rules.paired_rows,
        "sign test over tasks and seeds": rules.sign_test,
        "Welch's t over seeds": rules.welch,
        "paired t over seeds": rules.paired_seeds,
        "BCa bootstrap over seeds": rules.bca_seeds,
        "mixed model": rules.mixed_model,
        "multi-bootstrap": rules.multi_bootstrap,
        "this suite's interval": partial(rules.suite, constant=pool.constant),
    }


def pairs(pool: Pool, k: int, n: int) -> list[list[tuple[Seeds, Seeds]]]:
    """`n` pairs of disjoint sets of k seeds of `base`: a list for each random half of the pool."""
    rng = np.random.default_rng(k)
    found: list[list[tuple[Seeds, Seeds]]] = []
    for _ in range(HALVES):
        half = rng.permutation(pool.seeds[BASE])[: len(pool.seeds[BASE]) // 2]
        drawn = [rng.permutation(half)[: 2 * k] for _ in range(n // HALVES)]
        found.append([(seeds[:k], seeds[k:]) for seeds in drawn])
    return found


def with_interval(by_half: Sequence[Sequence[bool]]) -> dict[str, float]:
    """A share in % with its 95 % interval, which counts that the same few seeds are in many pairs.

    Its variance is that between random halves of the pool, as it would be between pools (the
    delete-half jackknife), and that of the draw of pairs. The interval is Wilson's for as many
    independent pairs as would vary as much, by Student's t. Where 2.5 or 16 of 100 normal samples
    are kept, 92 to 98 of 100 intervals contain it.
    """
    hits = np.array(by_half, dtype=float)
    share, means = hits.mean(), hits.mean(axis=1)
    of_draw = (means * (1 - means)).mean() / max(1, hits.shape[1] - 1)
    variance = max(0.0, means.var(ddof=1) - of_draw) + of_draw / len(hits)
    n = np.clip(share * (1 - share) / variance, 1, hits.size) if variance else hits.size
    t = stats.t.ppf((1 + LEVEL) / 2, len(hits) - 1) / np.sqrt(n)
    middle, half = share + t**2 / 2, t * np.sqrt(share * (1 - share) + t**2 / 4)
    low, high = np.clip([middle - half, middle + half] / (1 + t**2), 0, 1)
    return {"share": 100 * share, "low": 100 * low, "high": 100 * high}


def false_keeps(pool: Pool, named: Mapping[str, Rule], n: int) -> Iterator[dict[str, Any]]:
    """By rule, seeds a side and scope: how many of 100 pairs of `base` with itself are kept."""
    for k in SEEDS:
        drawn = pairs(pool, k, n)
        for scope, tasks in pool.scopes.items():
            sides = [
                [(pool.runs(BASE, a, tasks), pool.runs(BASE, b, tasks)) for a, b in half]
                for half in drawn
            ]
            for name, rule in named.items():
                verdicts = [[rule(a, b) for a, b in half] for half in sides]
                found = with_interval([[one == "keep" for one in half] for half in verdicts])
                decided = np.mean([one != "undecided" for half in verdicts for one in half])
                yield {"rule": name, "seeds": k, "task": scope, **found, "decided": 100 * decided}


def power(pool: Pool, named: Mapping[str, Rule], n: int) -> Iterator[dict[str, Any]]:
    """By rule, seeds a side and variant: of 100 pairs, how many keep `base` in its place.

    The pairs are of the same seeds, or of any where a variant has seeds of its own.
    """
    rng = np.random.default_rng(0)
    for variant, (effect, error) in pool.effects.items():
        for k in SEEDS:
            sides = []
            for _ in range(n):
                own = rng.permutation(pool.common(variant) or pool.seeds[variant])[:k]
                same = own if pool.common(variant) else rng.permutation(pool.seeds[BASE])[:k]
                a, b = pool.runs(variant, own, pool.tasks), pool.runs(BASE, same, pool.tasks)
                sides.append((a, b))
            for name, rule in named.items():
                verdicts = [rule(a, b) for a, b in sides]
                share, wrong = (100 * verdicts.count(of) / n for of in ("keep", "discard"))
                row = {"rule": name, "seeds": k, "variant": variant, "effect": effect}
                yield row | {"error": error, "share": share, "wrong": wrong}


def search(pool: Pool, rule: Rule, k: int, seed: int) -> dict[str, float]:
    """What a search ends with that tries 100 changes, one after the other, and keeps by a rule.

    90 change nothing, 5 are better and 5 worse, by one of the pool's planted changes each: the same
    for every rule and number of seeds. Effects add up; `available` is the sum of the better ones'.
    What is kept keeps its seeds as the baseline of the next change. A planted change is always one
    between `base` and a variant, as the pool has no runs of several changes together.
    """
    changes, rng = np.random.default_rng([seed, 0]), np.random.default_rng([seed, k])
    planted = [*pool.planted]
    common = sorted(set.intersection(*({*pool.seeds[of]} for of in [BASE, *planted])))
    names = ["available", "gain", "false keeps", "kept worse", "missed", "runs"]
    found = dict.fromkeys(names, 0.0) | {"runs": float(k)}
    current = rng.permutation(common)[:k]
    for change in changes.permutation([*["better"] * 5, *["worse"] * 5, *["none"] * 90]):
        variant = BASE if change == "none" else str(changes.choice(planted))
        own = rng.permutation([one for one in common if one not in current])[:k]
        before, after = (variant, BASE) if change == "better" else (BASE, variant)
        verdict = rule(pool.runs(before, current, pool.tasks), pool.runs(after, own, pool.tasks))
        effect = {"better": 1, "worse": -1, "none": 0}[change] * pool.planted.get(variant, 0.0)
        found["runs"] += k
        found["available"] += max(0.0, effect)
        found["missed"] += change == "better" and verdict != "keep"
        if verdict == "keep":
            current = own
            found["gain"] += effect
            found["false keeps"] += change == "none"
            found["kept worse"] += change == "worse"
    return found


def searches(pool: Pool, named: Mapping[str, Rule], n: int) -> Iterator[dict[str, Any]]:
    """By rule and seeds a side, the means over `n` searches."""
    for name, rule in named.items():
        for k in (k for k in SEEDS if k <= 5):
            found = pd.DataFrame([search(pool, rule, k, seed) for seed in range(n)]).mean()
            yield {"rule": name, "seeds": k, **found}


def coverage(pool: Pool, n: int) -> Iterator[dict[str, Any]]:
    """This suite's verdicts on pairs of `base` with itself: of 100 intervals, how many contain 0.

    An open one, which decides nothing, counts among them.

    With all seeds of `base`, and with each half of them. `with_failed` is the share of pairs with a
    failed fit, `of_failed` that of their intervals.
    """
    seeds = [*pool.seeds[BASE]]
    middle = len(seeds) // 2
    for name, of in (("all", seeds), ("first", seeds[:middle]), ("second", seeds[middle:])):
        part = Pool(pool.answers, {**pool.seeds, BASE: of}, pool.constant)
        for k in (k for k in SEEDS if k > 1):
            if 4 * k > len(of):
                continue
            for scope, tasks in pool.scopes.items():
                drawn = pairs(part, k, n)
                yield {"half": name, "seeds": k, "task": scope, **_verdicts(pool, drawn, tasks)}


def _verdicts(
    pool: Pool, drawn: Sequence[Sequence[tuple[Seeds, Seeds]]], tasks: Sequence[str]
) -> dict[str, float]:
    found = [[pool.estimate(a, b, tasks) for a, b in half] for half in drawn]
    covers = np.array(
        [[not (of.interval[0] > 0 or of.interval[1] < 0) for of in half] for half in found]
    )
    failed = np.array([[of.score.lost > 0 for of in half] for half in found])
    margin = 2 if len(tasks) > 1 else 5
    return {
        **with_interval(covers.tolist()),
        "equal": 100 * float(np.mean([of.within(margin) for half in found for of in half])),
        "with_failed": 100 * failed.mean(),
        "of_failed": 100 * covers[failed].mean() if failed.any() else np.nan,
    }


def seeds_alone(pool: Pool) -> Iterator[dict[str, Any]]:
    """How much pairs of one seed of `base` each differ: `points`, by so many of 100 pairs.

    By scope, of single tasks together and of their mean: `z` is the same in standard errors over
    rows, `error` is the mean of these, and `sd` the standard deviation over seeds of one run.
    """
    single = [(tasks, scope == MEAN) for scope, tasks in pool.scopes.items()]
    shares = np.arange(0.5, 100)
    for scope in ("task", MEAN):
        points, errors, deviations = [], [], []
        for tasks in (tasks for tasks, is_mean in single if is_mean == (scope == MEAN)):
            deviations.append(scores(pool.runs(BASE, pool.seeds[BASE], tasks)).std(ddof=1))
            for a, b in (pair for half in pairs(pool, 1, 400) for pair in half):
                of = pool.estimate(a, b, tasks)
                points.append(abs(of.value))
                errors.append(np.sqrt(of.score.over_rows.variance))
        z = np.divide(points, errors, out=np.zeros(len(points)), where=np.array(errors) > 0)
        columns = (np.percentile(of, 100 - shares) for of in (points, z))
        for share, least, in_errors in zip(shares, *columns, strict=True):
            row = {"scope": scope, "sd": np.mean(deviations), "error": np.mean(errors)}
            yield row | {"share": share, "points": least, "z": in_errors}


def judged(
    predicted: pd.DataFrame, kept: pd.DataFrame, found: pd.DataFrame, planted: Sequence[str]
) -> pd.DataFrame:
    """What was predicted of each rule beside what was found, all of 100.

    A prediction of false keeps is right within the interval, one of power within ten.
    """
    of = ["rule", "seeds"]
    shares = kept[kept["task"] == MEAN].set_index(of)[["share", "low", "high"]]
    power = found[found["variant"].isin(planted)].groupby(of)["share"].mean().rename("found_power")
    table = predicted.set_index(of).join(shares).join(power)
    low, high = table["low"] - 0.05, table["high"] + 0.05
    table["false_keeps_right"] = table["false_keeps"].between(low, high)
    table["power_right"] = (table["power"] - table["found_power"]).abs() <= 10
    return table.reset_index()


def figure(kept: pd.DataFrame, found: pd.DataFrame, planted: Sequence[str]) -> Figure:
    """By rule and seeds a side: false keeps, with intervals, beside power on planted changes."""
    shown = {1: style.VERMILLION, 3: style.ORANGE, 5: style.BLUE}
    names = [*kept["rule"].unique()]
    chart = Figure(figsize=(11, 0.42 * len(names) + 1.8), layout="constrained")
    left, right = chart.subplots(1, 2, sharey=True)
    for place, (k, color) in enumerate(shown.items()):
        at = np.arange(len(names)) + 0.22 * (place - 1)
        look = {"color": color, "label": f"{k} seed{'s' * (k > 1)} a side"}
        rows = kept[(kept["task"] == MEAN) & (kept["seeds"] == k)].set_index("rule").loc[names]
        errors = [rows["share"] - rows["low"], rows["high"] - rows["share"]]
        left.errorbar(rows["share"], at, xerr=np.abs(errors), fmt="o", markersize=5, **look)
        of_k = found[(found["seeds"] == k) & found["variant"].isin(planted)]
        power = of_k.groupby("rule")["share"].mean().loc[names]
        right.plot(power, at, "o", markersize=5, **look)
    left.axvline(2.5, color=style.GREY, linestyle=":")
    left.set_yticks(range(len(names)), names)
    left.invert_yaxis()
    left.set_title("kept, of 100 that do nothing")
    right.set_title("kept, of 100 that help")
    chart.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return chart


def show(
    tables: Mapping[str, pd.DataFrame], pool: Pool, out: Path, predicted: pd.DataFrame | None
) -> None:
    """Write the tables and the figure to a folder, and what became of the predictions."""
    kept, found, planted = tables["false_keeps"], tables["power"], [*pool.planted]
    for name, frame in tables.items():
        by, columns, values, heading = WIDE[name]
        rows = frame[frame["task"] == MEAN] if name == "false_keeps" else frame
        rows = frame[frame["variant"].isin(planted)] if name == "power" else rows
        rows = frame[frame["half"] == "all"] if name == "coverage" else rows
        wide = rows.pivot_table(values, by, columns, sort=False) if columns else rows.set_index(by)
        shown = wide.map("{:.1f}".format).reset_index().astype(str).set_index(by[:1])
        shown.columns = shown.columns.map(str)
        table = Table(frame, [heading, shown], dict.fromkeys(frame, 4), ["rule", "task"])
        table.write(out / f"{name}.csv")
    style.save(partial(figure, kept, found, planted), out / "false_keeps.png")
    if predicted is not None:
        verdicts = judged(predicted, kept, found, planted)
        verdicts.to_csv(out / "verdicts.csv", index=False, float_format=FOUR_DIGITS)


def main(argv: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pool", type=Path, help="Parquet with the columns " + ", ".join(COLUMNS))
    parser.add_argument("--pairs", type=int, default=400, help="that are drawn for each share")
    parser.add_argument("--predicted", type=Path, help="CSV of rule, seeds, false_keeps, power")
    parser.add_argument("--out", type=Path, required=True, help="the folder to write to")
    args = parser.parse_args(argv)
    pool = Pool.read(args.pool)
    if not pool.planted:
        raise InputError(
            f"{args.pool}: no variant is surely worse than {BASE}; add one, with its seeds"
        )
    predicted = pd.read_csv(args.predicted) if args.predicted else None
    named = named_rules(pool)
    tables = {
        "false_keeps": pd.DataFrame(false_keeps(pool, named, args.pairs)),
        "power": pd.DataFrame(power(pool, named, args.pairs // 8)),
        "search": pd.DataFrame(searches(pool, named, args.pairs // 20)),
        "coverage": pd.DataFrame(coverage(pool, args.pairs)),
    }
    show(tables, pool, args.out, predicted)
    alone = pd.DataFrame(seeds_alone(pool))
    alone.to_csv(args.out / "seeds_alone.csv", index=False, float_format=FOUR_DIGITS)


if __name__ == "__main__":
    sys.exit(run(main))
