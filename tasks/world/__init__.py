"""The synthetic world as others see it: whether its files are as written, and its rows' degrees.

A class of words settles a lexical row; one of two clauses counts in a relational row; in a
compositional row a word reverses another (`tasks.world.feelings`).
"""

import csv
from pathlib import Path

from tasks.common.errors import InputError, make_again
from tasks.common.files import MANIFEST, check_files, read_manifest
from tasks.world.settings import DEGREES


def is_made(folder: Path) -> bool:
    """Whether a folder is one of a synthetic world, not a user's own, which no manifest lists.

    Raises InputError where one of the world's files is missing, changed or added.
    """
    world, path = folder.parent, folder.parent / MANIFEST
    if not path.is_file():
        return False
    files = read_manifest(world, make_again(path))["files"]
    listed = {name: own for name, own in files.items() if name.startswith(f"{folder.name}/")}
    if not listed:
        return False
    check_files(world, listed, make_again(path))
    there = (p.relative_to(world).as_posix() for p in folder.rglob("[!.]*") if p.is_file())
    if added := sorted({*there} - {*listed}):
        raise InputError(f"{world / added[0]}: a file that {MANIFEST} does not list; take it out")
    return True


def read_degrees(path: Path) -> dict[str, set[str]]:
    """Read the world's file of degrees: the rows of each degree, named as by `Task.place`.

    Raises InputError if it is missing or differs from the manifest beside it.
    """
    remedy = "make the world again"
    described = read_manifest(path.parent, remedy)["files"].get(path.name, {})
    check_files(path.parent, {path.name: described}, remedy)
    rows: dict[str, set[str]] = {degree: set() for degree in DEGREES}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            rows[row["degree"]].add(f"{row['task']}/{row['split']}/{row['row']}")
    return rows
