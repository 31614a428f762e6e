"""The degree of difficulty of each row of the synthetic world.

A class of words settles a lexical row; one of two clauses counts in a relational row; in a
compositional row a word reverses another (`tasks.world.feelings`).
"""

import csv
from pathlib import Path

from tasks import task as task_named
from tasks.common import manifest
from tasks.world.settings import DEGREES


def read_degrees(path: Path) -> dict[str, set[str]]:
    """Read the world's file of degrees: the rows of each degree, named as by `place`.

    Raises InputError if it is missing or differs from the manifest beside it.
    """
    remedy = "make the world again"
    described = manifest.read(path.parent, remedy)["files"].get(path.name, {})
    manifest.check(path.parent, {path.name: described}, remedy)
    rows: dict[str, set[str]] = {degree: set() for degree in DEGREES}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            rows[row["degree"]].add(f"{row['task']}/{row['split']}/{row['row']}")
    return rows


def place(guid: str) -> str:
    """`task/split/number` of a row of the world, the number counted from 0 in its file."""
    name, split, *_ = guid.split("/")
    return f"{name}/{split}/{task_named(name).row_of(guid)}"
