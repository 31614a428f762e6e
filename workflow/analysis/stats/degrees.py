"""Which rows of the synthetic world are of which degree of difficulty.

A class of words settles a lexical row; one of two clauses counts in a relational row; in a
compositional row a word reverses another (`tasks.world`).
"""

from pathlib import Path

import pandas as pd

import tasks
from tasks.common import manifest

DEGREES = ("lexical", "relational", "compositional")


def read_degrees(path: Path) -> dict[str, set[str]]:
    """The rows of each degree, as `place` names them, by the file that the world writes.

    Raises InputError if it is missing or not the one of the manifest beside it.
    """
    remedy = "make the world again"
    described = manifest.read(path.parent, remedy)["files"].get(path.name, {})
    manifest.check(path.parent, {path.name: described}, remedy)
    rows: dict[str, set[str]] = {degree: set() for degree in DEGREES}
    for task, split, row, degree in pd.read_csv(path, dtype=str).itertuples(index=False):
        rows[degree].add(f"{task}/{split}/{row}")
    return rows


def place(guid: str) -> str:
    """`task/split/number` of a row of the world, the number counted from 0 in its file."""
    name, split, *_ = guid.split("/")
    return f"{name}/{split}/{tasks.task(name).row_of(guid)}"
