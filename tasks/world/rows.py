"""One labelled row of the world, and how the rows of a split are drawn."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from tasks.world.word_pool import WordPool


@dataclass(frozen=True)
class Row:
    """The texts of a row and its label, all as the task's files hold them."""

    first: str
    second: str = ""
    label: str = ""
    choices: tuple[str, ...] = ()
    group: str = ""


MakeRow = Callable[[random.Random, WordPool, str], Row]


def draw_rows(
    rng: random.Random,
    make: MakeRow,
    pool: WordPool,
    labels: dict[str, float],
    n: int,
    used: set[str],
) -> list[Row]:
    """Draw n rows whose labels have these shares; never repeat a text of `used`, and add to it."""
    total = sum(labels.values())
    plan: list[str] = []
    for label, share in labels.items():
        plan += [label] * round(n * share / total)
    plan = (plan + list(labels) * n)[:n]
    rng.shuffle(plan)
    return [_draw_new(rng, make, pool, label, used) for label in plan]


def _draw_new(rng: random.Random, make: MakeRow, pool: WordPool, label: str, used: set[str]) -> Row:
    while True:
        row = make(rng, pool, label)
        pair = sorted((row.first.lower(), row.second.lower()))
        key = "\n".join(pair + sorted(row.choices) * (row.group == "story"))
        if key not in used:
            used.add(key)
            return row
