"""A data set as it was fetched from the hub: a folder, and the manifest that tells of its files."""

from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from tasks.catalogue import entry, pinned
from tasks.common.errors import InputError
from tasks.common.files import read_json, sha256_file

AGAIN = "delete the folder and fetch it again"


@dataclass(frozen=True)
class Fetched:
    """An entry of the catalogue in `folder`, at `revision` (None: the catalogue's)."""

    name: str
    folder: Path
    revision: str | None = None

    @property
    def origin(self) -> dict[str, str]:
        """Where the rows come from. Raises InputError if another repository or commit is there."""
        each = entry(self.name)
        wanted = {"repo": each.repo, "revision": pinned(self.name, self.revision)}
        manifest = self._manifest()
        for key, value in wanted.items():
            if manifest[key] != value:
                raise InputError(
                    f"{self.folder}/manifest.json: {key} is {manifest[key]!r}, expected {value!r}; "
                    + AGAIN
                )
        return {"source": "hub", **wanted, "config": each.config}

    def paths(self, split: str) -> list[Path]:
        """The split's files, sorted: all that the manifest lists, and no other."""
        each = entry(self.name)
        patterns = each.files[split]
        listed = {
            name for name in self._manifest()["files"] if any(fnmatch(name, p) for p in patterns)
        }
        there = {
            path.relative_to(self.folder).as_posix()
            for pattern in patterns
            for path in self.folder.glob(pattern)
        }
        if not listed and not there:
            raise InputError(
                f"{self.folder}: no file {' or '.join(patterns)}; {each.note or AGAIN}"
            )
        for name in sorted(listed ^ there):
            where = "is not there" if name in listed else "is not in manifest.json"
            raise InputError(f"{self.folder}/{name}: {where}; {AGAIN}")
        return [self.folder / name for name in sorted(listed)]

    def check(self, paths: list[Path], whole: bool = True) -> None:
        """Raise InputError for a file that is not as it was fetched.

        Only the sizes are compared where `whole` is False: many jobs need not all read many GB.
        """
        listed = self._manifest()["files"]
        for path in paths:
            wanted = listed[path.relative_to(self.folder).as_posix()]
            if path.stat().st_size != wanted["size"] or (
                whole and sha256_file(path) != wanted["sha256"]
            ):
                raise InputError(f"{path}: not as it was fetched (see manifest.json); {AGAIN}")

    def _manifest(self) -> dict[str, Any]:
        path = self.folder / "manifest.json"
        if not path.is_file():
            raise InputError(f"{path}: no such file; fetch {self.name} first")
        return read_json(path)
