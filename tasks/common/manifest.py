"""`manifest.json`: the files of a folder as they were written or fetched, with size and SHA-256."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tasks.common.errors import InputError
from tasks.common.files import read_json, sha256_file

NAME = "manifest.json"
Files = dict[str, dict[str, Any]]  # by their paths below the folder


def describe(folder: Path, names: Iterable[str]) -> Files:
    """The manifest's entries for these files."""
    return {
        name: {"bytes": (folder / name).stat().st_size, "sha256": sha256_file(folder / name)}
        for name in names
    }


def read(folder: Path, remedy: str) -> dict[str, Any]:
    """Read a folder's manifest. Raises InputError if it is missing or does not list files."""
    path = folder / NAME
    content = read_json(path)
    files = content.get("files") if isinstance(content, dict) else None
    if not isinstance(files, dict) or not all(isinstance(own, dict) for own in files.values()):
        raise InputError(f"{path}: does not list files; {remedy}")
    return content


def check(folder: Path, files: Mapping[str, dict[str, Any]], remedy: str) -> None:
    """Raise InputError for the first of these files that is missing or has another digest."""
    for name, described in files.items():
        path = folder / name
        if not path.is_file():
            raise InputError(f"{path}: no such file; {remedy}")
        if sha256_file(path) != described.get("sha256"):
            raise InputError(f"{path}: not the file that {NAME} describes (sha256); {remedy}")
