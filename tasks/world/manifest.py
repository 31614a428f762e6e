"""Check that the files of the synthetic world are still those that were written.

Code that reads a folder of the world calls `check` first.
"""

from pathlib import Path

from tasks.common import manifest
from tasks.common.errors import InputError, make_again


def check(folder: Path) -> bool:
    """Whether a folder is one of a synthetic world, not a user's own, which no manifest lists.

    Raises InputError where one of the world's files is missing, changed or added.
    """
    world, path = folder.parent, folder.parent / manifest.NAME
    if not path.is_file():
        return False
    files = manifest.read(world, make_again(path))["files"]
    listed = {name: own for name, own in files.items() if name.startswith(f"{folder.name}/")}
    if not listed:
        return False
    manifest.check(world, listed, make_again(path))
    there = (p.relative_to(world).as_posix() for p in folder.rglob("[!.]*") if p.is_file())
    if added := sorted({*there} - {*listed}):
        raise InputError(f"{world / added[0]}: a file that {path.name} does not list; take it out")
    return True
