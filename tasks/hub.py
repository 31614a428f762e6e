"""A data set of the Hugging Face hub: its repository and commit, and what was fetched of it.

A task has its `HubSource` (tasks/nli.py and so on), a corpus too (tasks/corpora.py). A commit of
None could not be looked up when this was written: such a source is refused until the config pins it
(`revision:`). A data set without a repository has to be requested: `by_hand` says how.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from tasks.common.errors import InputError
from tasks.common.files import inside, read_json, sha256_file

COMMIT = re.compile(r"[0-9a-f]{40}")
MANIFEST = "manifest.json"
FETCH_AGAIN = "delete the folder and fetch it again"
THREE_SPLITS = {"train": "train", "dev": "validation", "test": "test"}


@dataclass(frozen=True)
class HubSource:
    """A data set on the hub. Splits have the suite's names (`dev`), not the hub's (`validation`).

    `files`: for each split the patterns of its files in the repository. `rows`: the hub's own row
    counts, so SNLI's include the rows without a gold label. `columns`: all that are read; `texts`:
    those of the one or two texts; `index`: the row's number within its split, empty where the file
    has none. `labels`: the hub's value of the column `label` and the task's label that it stands
    for; empty for a score (STS-B) or a corpus. `named_labels`: whether the files hold these names
    too, which then must agree. `unlabelled`: splits whose labels are all -1.
    `lines`: whether the files are text with a row per line; else a corpus has a column `text`.
    `by_hand`: how to obtain what has no repository; `folder` is its place under the data folder.
    `caution`: what the data card warns of.
    """

    name: str
    licence: str
    rows: dict[str, int]
    repo: str = ""
    revision: str | None = None
    config: str = ""
    files: dict[str, tuple[str, ...]] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    index: str = ""
    label: str = ""
    labels: dict[int | str, str] = field(default_factory=dict)
    named_labels: bool = True
    unlabelled: tuple[str, ...] = ()
    lines: bool = False
    by_hand: str = ""
    folder: str = ""
    note: str = ""
    caution: str = ""

    @property
    def patterns(self) -> list[str]:
        """The patterns of the files of all splits."""
        return [pattern for patterns in self.files.values() for pattern in patterns]

    @property
    def heldout(self) -> str | None:
        """The split of a corpus that its publisher held out from training; None without one."""
        return next((split for split in ("test", "dev") if split in self.files), None)


def parquet_files(config: str, splits: dict[str, str]) -> dict[str, tuple[str, ...]]:
    """The usual layout, `cola/train-00000-of-00001.parquet`; `splits` maps our names to theirs."""
    return {ours: (f"{config}/{theirs}-*.parquet",) for ours, theirs in splits.items()}


def fault(source: HubSource, revision: str | None = None) -> str | None:
    """Why a source cannot be fetched at `revision`, and the remedy; None if valid."""
    if not source.repo:
        return (
            f"{source.name} is not on the hub; {source.by_hand}, then set "
            f"{{folder: {source.folder}}}"
        )
    if revision is None and source.revision is None:
        return (
            f"no commit of {source.repo} is known here ({source.note}); look it up on the hub and "
            "give revision: with its 40 hexadecimal digits"
        )
    if revision is not None and not COMMIT.fullmatch(revision):
        return (
            f"{revision!r} is not a commit; a branch moves and a short hash may not be unique: "
            "give the 40 hexadecimal digits"
        )
    return None


def pinned(source: HubSource, revision: str | None = None) -> str:
    """The commit to fetch, 40 hexadecimal digits. Raises InputError if there is none."""
    wrong = fault(source, revision)
    if wrong:
        raise InputError(wrong)
    return revision or source.revision or ""


def matching(patterns: Iterable[str], paths: Iterable[str]) -> list[str]:
    """The paths that match one of the patterns, whose `*` stays within one folder."""

    def fits(path: str, pattern: str) -> bool:
        return path.count("/") == pattern.count("/") and PurePosixPath(path).match(pattern)

    return [path for path in paths if any(fits(path, pattern) for pattern in patterns)]


def as_recorded(path: Path, facts: dict[str, Any]) -> bool:
    """Whether a file has the size and the sha256 that a manifest records."""
    if not path.is_file() or path.stat().st_size != facts.get("size"):
        return False
    return sha256_file(path) == facts.get("sha256")


@dataclass(frozen=True)
class Snapshot:
    """A source as it was fetched into `folder` at `revision` (None: its own)."""

    source: HubSource
    folder: str | Path
    revision: str | None = None

    @property
    def origin(self) -> dict[str, str]:
        """Where the rows come from. Raises InputError if the folder has another repo or commit."""
        expected = {"repo": self.source.repo, "revision": pinned(self.source, self.revision)}
        manifest = self.manifest()
        for key, value in expected.items():
            if manifest.get(key) != value:
                raise InputError(
                    f"{self.folder}/{MANIFEST}: {key} is {manifest.get(key)!r}, expected "
                    f"{value!r}; {FETCH_AGAIN}"
                )
        return {"source": "hub", **expected, "config": self.source.config}

    def files(self, split: str) -> list[Path]:
        """The split's files, sorted. Raises InputError unless they are those of the manifest."""
        folder, patterns = Path(self.folder), self.source.files[split]
        recorded = set(matching(patterns, self.manifest()["files"]))
        paths = (path for pattern in patterns for path in folder.glob(pattern))
        existing = {path.relative_to(folder).as_posix() for path in paths}
        if not recorded and not existing:
            remedy = self.source.note or FETCH_AGAIN
            raise InputError(f"{folder}: no file {' or '.join(patterns)}; {remedy}")
        for name in sorted(recorded ^ existing):
            state = "is missing" if name in recorded else f"is not in {MANIFEST}"
            raise InputError(f"{folder}/{name}: {state}; {FETCH_AGAIN}")
        return inside(folder, [folder / name for name in sorted(recorded)])

    def check(self, paths: Iterable[Path]) -> None:
        """Raise InputError for a file that is not as it was fetched."""
        recorded = self.manifest()["files"]
        for path in paths:
            if not as_recorded(path, recorded[path.relative_to(self.folder).as_posix()]):
                raise InputError(f"{path}: not as it was fetched (see {MANIFEST}); {FETCH_AGAIN}")

    def checked_files(self, split: str) -> list[Path]:
        """The split's files, sorted, after all checks of repository, commit and content."""
        _ = self.origin
        paths = self.files(split)
        self.check(paths)
        return paths

    def manifest(self) -> dict[str, Any]:
        """What was fetched. Raises InputError if nothing was, or if that cannot be read."""
        path = Path(self.folder) / MANIFEST
        if not path.is_file():
            raise InputError(f"{path}: no such file; fetch {self.source.name} first")
        found = read_json(path)
        files = found.get("files") if isinstance(found, dict) else None
        if not isinstance(files, dict) or not all(isinstance(f, dict) for f in files.values()):
            raise InputError(f"{path}: not a list of fetched files; {FETCH_AGAIN}")
        return found
