"""The files of the made world, and whether they are still those that were written.

`manifest.json` lies beside the folders of a world and lists the files in them, each with its size
and SHA-256. What reads a folder of text asks `check` first.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tasks.common.errors import InputError, make_again
from tasks.common.files import read_json, sha256_file

NAME = "manifest.json"


def describe(world: Path, names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """What a manifest says of the files of these names, which are paths below `world`."""
    return {
        name: {"bytes": (world / name).stat().st_size, "sha256": sha256_file(world / name)}
        for name in names
    }


def check(folder: Path) -> None:
    """Raise InputError where a file in a folder of a made world is missing, changed or added.

    A folder beside which there is no manifest that lists it is somebody's own data, and passes.
    """
    manifest = folder.parent / NAME
    if not manifest.is_file():
        return
    described = read_json(manifest)
    files = described.get("files") if isinstance(described, dict) else None
    if not (isinstance(files, dict) and all(isinstance(own, dict) for own in files.values())):
        raise InputError(f"{manifest}: does not list the files of a world; {make_again(manifest)}")
    listed = [name for name in files if name.startswith(f"{folder.name}/")]
    if not listed:
        return
    for name in listed:
        path = folder.parent / name
        if not path.is_file():
            raise InputError(f"{path}: no such file; {make_again(manifest)}")
        if sha256_file(path) != files[name].get("sha256"):
            raise InputError(
                f"{path}: not the file that {NAME} describes (sha256); {make_again(manifest)}"
            )
    there = (p for p in folder.rglob("[!.]*") if p.is_file())
    if added := sorted({p.relative_to(folder.parent).as_posix() for p in there} - set(listed)):
        raise InputError(
            f"{folder.parent / added[0]}: a file that {NAME} does not list; take it out"
        )
