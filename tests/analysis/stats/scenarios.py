"""Simulated runs whose truth is known: fits that fail by chance, and controls that learn by chance.

    python -m tests.analysis.stats.scenarios

prints the tables of `docs/statistics.md`. A fit that fails scores `loss` points less. True of a
line is the mean of all its fits, failed ones included: what other seeds find on average.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from workflow.analysis.claims.finding import HOLDS, Finding, all_of
from workflow.analysis.stats.estimates import Estimate, Line, SeedPool
from workflow.analysis.stats.scores import Score, alarms_of, equally, failed

TASKS, THREE = ("a", "b", "c", "d", "e", "f"), ("d", "e", "f")
POOLED = ("full", "no aux", "none", "neither", "lstm", "lstm, no aux")
LINES = (*POOLED, "control")  # which the pool lacks
KINDS = {
    **dict.fromkeys(("lstm", "lstm, no aux"), "lstm"),
    **dict.fromkeys(("none", "neither"), "transformer from scratch"),
}
MARGIN = 5.0
SEEDS = 2, 3, 5
FIT, COMMON, ROWS = 1.0, 0.5, 0.7  # deviations: a fit, what a seed does to all tasks, the rows
BY_CHANCE = {"b": 0.05, "c": 0.2, "d": 0.4}  # the share of fits that fail, by task


@dataclass(frozen=True)
class Scenario:
    """By line and task the share of fits that fail; the contrast is full minus `other`.

    If they fail `together`, a seed fails on all tasks or on none. A fit that fails loses `loss`.
    """

    fails: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    other: str = "lstm"
    together: bool = False
    loss: float = 60.0

    def lost(self) -> dict[str, float]:
        """By task, the larger share of fits that fail of the contrast's two lines."""
        own, other = (self.fails.get(line, {}) for line in ("full", self.other))
        return {task: max(own.get(task, 0.0), other.get(task, 0.0)) for task in TASKS}


SCENARIOS = {
    "all fits fit": Scenario(),
    "fits of one line fail": Scenario({"lstm": BY_CHANCE}),
    "of one line, on one task": Scenario({"lstm": {"d": 0.4}}),
    "of one line, by 30 points": Scenario({"lstm": BY_CHANCE}, loss=30.0),
    "of one line, by 15 points": Scenario({"lstm": BY_CHANCE}, loss=15.0),
    "of both lines": Scenario({"full": BY_CHANCE, "lstm": BY_CHANCE}),
    "of every line": Scenario(dict.fromkeys(POOLED, BY_CHANCE)),
    "a control learns by chance": Scenario(
        {"control": dict.fromkeys(TASKS, 0.65)}, "control", together=True
    ),
}


def seeds_of(*values: float, pretrain: tuple[int, ...] | None = None, **fields: Any) -> Score:
    """A score without chance from rows."""
    seeds, of_seeds = tuple(range(len(values))), np.array(values, dtype=float)
    rows = np.repeat(of_seeds[:, None], 9, axis=1)
    return Score(seeds, pretrain or seeds, of_seeds, rows, 100, **fields)


def with_alarms(score: Score) -> Score:
    """The score with the alarms that its seeds raise together."""
    nothing = replace(score, alarms={s: ("not_fitted",) for s in score.seeds if is_low(score, s)})
    alarms = {seed: (";".join(of),) for seed, of in alarms_of(nothing).items()}
    return replace(score, alarms=alarms).of_fits(failed(nothing))


def is_low(score: Score, seed: int) -> bool:
    """Whether a fit of simulated scores learnt nothing."""
    return bool(score.values[score.seeds.index(seed)] < 65)


def estimate(
    line: Line,
    minus: Line | None = None,
    tasks: Iterable[Any] | None = None,
    pool: Sequence[Line] = (),
) -> Estimate:
    """The mean over `tasks`, or all tasks, of a line or its difference to another."""
    lines = [(1.0, line)] if minus is None else [(1.0, line), (-1.0, minus)]
    found = SeedPool(pool).estimate(lines, equally(line if tasks is None else tasks))
    assert found is not None
    return found


def line_of(
    rng: np.random.Generator, n_seeds: int, line: str, scenario: Scenario
) -> dict[str, Score]:
    """A line's scores by task."""
    seeds, kind, can_fail = tuple(range(n_seeds)), KINDS.get(line, "transformer"), scenario.fails
    common, luck = COMMON * rng.normal(size=n_seeds), rng.random((len(TASKS), n_seeds))
    found = {}
    for task, own_luck in zip(TASKS, luck, strict=True):
        rows = ROWS * rng.normal(size=31)
        share = can_fail.get(line, {}).get(task, 0.0)
        failed = (luck[0] if scenario.together else own_luck) < share
        values = 90 + common + FIT * rng.normal(size=n_seeds) + rows[0] - scenario.loss * failed
        score = Score(seeds, seeds, values, values[:, None] + rows[1:], 1000, kind=kind)
        found[task] = with_alarms(score)
    return found


def contrasts(
    scenario: Scenario, n_seeds: int, n: int
) -> tuple[dict[str, float], list[dict[str, Estimate]]]:
    """What is true of each task and of two means, and what `n` runs estimate."""
    rng, truth = np.random.default_rng(n_seeds), scenario.truth()
    means = {"mean": TASKS, "mean of three": THREE}
    found = []
    for _ in range(n):
        lines = {line: line_of(rng, n_seeds, line, scenario) for line in LINES}
        pair, pool = (lines["full"], lines[scenario.other]), [lines[line] for line in POOLED]
        members = {**{task: (task,) for task in TASKS}, **means}
        found.append({name: estimate(*pair, of, pool) for name, of in members.items()})
    return truth | {k: float(np.mean([truth[t] for t in of])) for k, of in means.items()}, found


def coverage(scenario: Scenario, n_seeds: int, n: int) -> dict[str, float]:
    """In how many of 100 runs the intervals hold the truth, and `equal` is said of what is not."""
    truth, found = contrasts(scenario, n_seeds, n)
    held = {
        name: np.mean([of[name].interval[0] <= true <= of[name].interval[1] for of in found])
        for name, true in truth.items()
    }
    unequal = [task for task in TASKS if abs(truth[task]) >= MARGIN]
    wrong = [np.mean([of[task].within(MARGIN) for of in found]) for task in unequal]
    shares = {"tasks": np.mean([held[t] for t in TASKS]), "worst task": min(held[t] for t in TASKS)}
    shares |= {"mean of six": held["mean"], "mean of three": held["mean of three"]}
    return {k: 100 * float(v) for k, v in (shares | {"equal": max(wrong, default=np.nan)}).items()}


def one_layer_of_three(rng: np.random.Generator, n_seeds: int) -> bool:
    """Whether each of three steps to more layers is said to help where one alone does."""
    scenario, gains = Scenario(), np.cumsum([0.0, 0.0, 30.0, 0.0])
    scores = [line_of(rng, n_seeds, line, scenario)["a"] for line in POOLED[:4]]
    lines = [
        {"a": replace(of, values=of.values + gain)} for of, gain in zip(scores, gains, strict=True)
    ]
    each = [Finding("", "", estimate(b, a)) for a, b in pairwise(lines)]
    return all_of(each, "", 3).verdict == HOLDS


VERDICTS: dict[str, Callable[[np.random.Generator, int], bool]] = {
    "each further layer, where one of three helps": one_layer_of_three,
}


def error(verdict: str, n_seeds: int, n: int) -> float:
    """In how many of 100 runs a verdict is wrong."""
    rng = np.random.default_rng(n_seeds)
    return 100 * float(np.mean([VERDICTS[verdict](rng, n_seeds) for _ in range(n)]))


def main(n: int = 500) -> None:
    """Print both tables as Markdown."""
    for name, scenario in SCENARIOS.items():
        of = [coverage(scenario, n_seeds, n) for n_seeds in SEEDS]
        shown = (
            " · ".join(f"{one[k]:.0f}" for one in of).replace("nan · nan · nan", "–") for k in of[0]
        )
        print("|", " | ".join([name, *shown]), "|")
    for name in VERDICTS:
        print(f"| {name} | {' · '.join(f'{error(name, s, 4 * n):.1f}' for s in SEEDS)} |")


if __name__ == "__main__":
    main()
