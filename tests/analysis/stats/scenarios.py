"""Simulated runs whose truth is known: fits that fail by chance, and controls that learn by chance.

    python -m tests.analysis.stats.scenarios

prints the tables of `docs/statistics.md`. A fit that fails scores `loss` points less. True of a
line is the mean of the fits that do not fail, which is the same for all lines; where half of a
cell's have failed, it is the mean of all.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from workflow.analysis.claims.finding import HOLDS, Finding, all_of
from workflow.analysis.stats.estimates import Estimate, SeedPool, TaskScores
from workflow.analysis.stats.scores import Score, alarms_of, equally, failed

TASKS, THREE = ("a", "b", "c", "d", "e", "f"), ("d", "e", "f")
POOLED = ("full", "no aux", "none", "neither", "lstm", "lstm, no aux")
LINES = (*POOLED, "control")  # which the pool lacks
KINDS = {
    **dict.fromkeys(("lstm", "lstm, no aux"), "lstm"),
    **dict.fromkeys(("none", "neither"), "transformer from scratch"),
}
EACH_LAYER = "each further layer, where one of three helps"
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


SCENARIOS = {
    "all fits fit": Scenario(),
    "fits of one variant fail": Scenario({"lstm": BY_CHANCE}),
    "of one variant, on one task": Scenario({"lstm": {"d": 0.4}}),
    "of one variant, by 30 points": Scenario({"lstm": BY_CHANCE}, loss=30.0),
    "of one variant, by 15 points": Scenario({"lstm": BY_CHANCE}, loss=15.0),
    "of both variants": Scenario({"full": BY_CHANCE, "lstm": BY_CHANCE}),
    "of every variant": Scenario(dict.fromkeys(POOLED, BY_CHANCE)),
    "a control learns by chance": Scenario(
        {"control": dict.fromkeys(TASKS, 0.65)}, "control", together=True
    ),
}


def seeds_of(*values: float, pretrain: tuple[int, ...] | None = None, **fields: Any) -> Score:
    """A score without chance from rows."""
    seeds, of_seeds = tuple(range(len(values))), np.array(values, dtype=float)
    rows = np.repeat(of_seeds[:, None], 9, axis=1)
    return Score(seeds, pretrain or seeds, of_seeds, rows, 100, **fields)


def with_alarms(score: Score, nothing: float = 65.0) -> Score:
    """The score of its fits, with the alarms of its seeds; below `nothing`, one learnt nothing."""
    low = [seed for seed, value in zip(score.seeds, score.values, strict=True) if value < nothing]
    score = replace(score, alarms=dict.fromkeys(low, ({"not_fitted"},)))
    alarms = {seed: (of,) for seed, of in alarms_of(score).items()}
    return replace(score, alarms=alarms).of_fits(failed(score))


def estimate(
    line: TaskScores,
    minus: TaskScores | None = None,
    tasks: Iterable[Any] | None = None,
    pool: Sequence[TaskScores] = (),
) -> Estimate:
    """The mean over `tasks`, or all tasks, of a line or its difference to another."""
    lines = [(1.0, line)] if minus is None else [(1.0, line), (-1.0, minus)]
    found = SeedPool(dict(enumerate(pool))).estimate(
        lines, equally(line if tasks is None else tasks)
    )
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


def truth(scenario: Scenario, found: Estimate, tasks: Sequence[str]) -> float:
    """The true difference of full to the other: of all fits, or of those that do not fail."""
    if not found.score.most_failed:
        return 0.0
    full, other = (scenario.fails.get(line, {}) for line in ("full", scenario.other))
    return float(np.mean([scenario.loss * (other.get(t, 0) - full.get(t, 0)) for t in tasks]))


def coverage(scenario: Scenario, n_seeds: int, n: int) -> dict[str, float]:
    """Of `n` runs, in how many of 100 the intervals contain the truth, or there is none."""
    rng, held = np.random.default_rng(n_seeds), []
    for _ in range(n):
        lines = {line: line_of(rng, n_seeds, line, scenario) for line in LINES}
        pair, pool = (lines["full"], lines[scenario.other]), [lines[line] for line in POOLED]
        scopes = (*((task,) for task in TASKS), TASKS, THREE)
        found = [(estimate(*pair, of, pool), of) for of in scopes]
        misses = [np.subtract(one.interval, truth(scenario, one, of)) for one, of in found]
        held.append([not (low > 0 or high < 0) for low, high in misses])
    *tasks, six, three = 100 * np.mean(held, axis=0)
    names = "tasks", "worst task", "mean of six", "mean of three"
    return dict(zip(names, map(float, (np.mean(tasks), min(tasks), six, three)), strict=True))


def one_layer_of_three(rng: np.random.Generator, n_seeds: int) -> bool:
    """Whether each of three steps to more layers is said to help where one alone does."""
    scenario, gains = Scenario(), np.cumsum([0.0, 0.0, 30.0, 0.0])
    scores = [line_of(rng, n_seeds, line, scenario)["a"] for line in POOLED[:4]]
    lines = [
        {"a": replace(of, values=of.values + gain)} for of, gain in zip(scores, gains, strict=True)
    ]
    each = [Finding("", "", estimate(b, a)) for a, b in pairwise(lines)]
    return all_of(each, "", 3).verdict == HOLDS


def error(n_seeds: int, n: int) -> float:
    """In how many of 100 runs that verdict is wrong."""
    rng = np.random.default_rng(n_seeds)
    return 100 * float(np.mean([one_layer_of_three(rng, n_seeds) for _ in range(n)]))


def main(n: int = 500) -> None:
    """Print both tables as Markdown."""
    for name, scenario in SCENARIOS.items():
        of = [coverage(scenario, n_seeds, n) for n_seeds in SEEDS]
        shown = (" · ".join(f"{one[k]:.0f}" for one in of) for k in of[0])
        print("|", " | ".join([name, *shown]), "|")
    print(f"| {EACH_LAYER} | {' · '.join(f'{error(s, 4 * n):.1f}' for s in SEEDS)} |")


if __name__ == "__main__":
    main()
