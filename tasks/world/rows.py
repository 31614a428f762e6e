"""One labelled row of the world, and how the rows of a split are drawn."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from tasks.common.errors import InputError
from tasks.world.draw import Degree, Draw


@dataclass(frozen=True)
class Row:
    """A row's texts and label, all as in the task's files, and its degree of difficulty."""

    first: str
    second: str = ""
    label: str = ""
    choices: tuple[str, ...] = ()
    group: str = ""
    degree: str = ""


@dataclass(frozen=True)
class ClozeItem:
    """A context, and continuations to choose from; the first is right."""

    context: str
    choices: tuple[str, ...]


Key = TypeVar("Key")
MakeRow = Callable[[Draw, str, Degree], Row]


def draw_rows(
    draw: Draw,
    make: MakeRow,
    labels: dict[str, float],
    degrees: dict[Degree, float],
    n: int,
    used: set[str],
) -> list[Row]:
    """Draw n rows with these shares of labels and, within a label, of degrees.

    No row repeats texts that are in `used`, and each row's texts are added to it.
    """
    plan = []
    for label, count in _counts(labels, n).items():
        plan += [(label, d) for d, k in _counts(degrees, count).items() for _ in range(k)]
    draw.shuffle(plan)
    return [_draw_new(draw, make, label, degree, used) for label, degree in plan]


def _counts(shares: dict[Key, float], n: int) -> dict[Key, int]:
    """Whole numbers that sum to n and are closest to these shares."""
    total = sum(shares.values())
    counts = {key: int(n * share / total) for key, share in shares.items()}
    by_rest = sorted(shares, key=lambda key: counts[key] - n * shares[key] / total)
    for key in by_rest[: n - sum(counts.values())]:
        counts[key] += 1
    return counts


def _draw_new(draw: Draw, make: MakeRow, label: str, degree: Degree, used: set[str]) -> Row:
    for _ in range(10_000):
        row = make(draw, label, degree)
        # Choices do not count, so that a passage has one question, as `degrees.csv` assumes.
        key = "\n".join(sorted((row.first.lower(), row.second.lower())))
        if key not in used:
            used.add(key)
            return row
    raise InputError(
        f"report or rows: no new {degree} row with label {label!r} in 10,000 draws; ask for fewer"
    )
