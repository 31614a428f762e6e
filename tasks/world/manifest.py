"""Check that the files of the synthetic world are still those that were written.

Code that reads a folder of the world calls `check` first.
"""

from pathlib import Path

from tasks.common import manifest
from tasks.common.errors import InputError, make_again


def check(folder: Path) -> None:
    """Raise InputError where a file in a folder of a synthetic world is missing, changed or added.

    A folder that no manifest beside it lists is a user's own data, and passes.
    """
    world, path = folder.parent, folder.parent / manifest.NAME
    if not path.is_file():
        return
    files = manifest.read(world, make_again(path))["files"]
    listed = {name: own for name, own in files.items() if name.startswith(f"{folder.name}/")}
    if not listed:
        return
    manifest.check(world, listed, make_again(path))
    there = (p.relative_to(world).as_posix() for p in folder.rglob("[!.]*") if p.is_file())
    if added := sorted({*there} - {*listed}):
        raise InputError(f"{world / added[0]}: a file that {path.name} does not list; take it out")
