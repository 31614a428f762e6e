"""One labelled row of the world, and how the rows of a split are drawn."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from tasks.world.pool import Pool


@dataclass(frozen=True)
class Row:
    """The texts of a row as its files hold them; `label` as the files write it."""

    first: str
    second: str = ""
    label: str = ""
    choices: tuple[str, ...] = ()
    group: str = ""


Make = Callable[[random.Random, Pool, str], Row]


def draw(
    rng: random.Random, make: Make, pool: Pool, labels: dict[str, float], n: int, used: set[str]
) -> list[Row]:
    """Draw n rows whose labels have these shares; texts in `used` are never drawn again."""
    total = sum(labels.values())
    plan: list[str] = []
    for label, share in labels.items():
        plan += [label] * round(n * share / total)
    plan = (plan + list(labels) * n)[:n]
    rng.shuffle(plan)
    return [_fresh(rng, make, pool, label, used) for label in plan]


def _fresh(rng: random.Random, make: Make, pool: Pool, label: str, used: set[str]) -> Row:
    while True:
        row = make(rng, pool, label)
        pair = sorted((row.first.lower(), row.second.lower()))
        key = "\n".join(pair + sorted(row.choices) * bool(row.group == "story"))
        if key not in used:
            used.add(key)
            return row
