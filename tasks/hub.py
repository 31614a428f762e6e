"""A data set on the Hugging Face hub: its repository and commit, and the snapshot fetched from it.

Each task has its `HubSource` (tasks/paper.py), and so has each corpus (`CORPORA`). A
revision of None could not be looked up when this was written: such a source is refused until the
config pins it (`revision:`). A data set without a repository has to be requested: `by_hand` says
how.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from tasks.common.errors import InputError
from tasks.common.files import MANIFEST, check_files, inside, read_manifest

COMMIT = re.compile(r"[0-9a-f]{40}")
FETCH_AGAIN = "delete the folder and fetch it again"
THREE_SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class HubSource:
    """A data set on the hub. Splits have the suite's names (`dev`), not the hub's (`validation`).

    `files`: each split's file patterns in the repository. `rows`: the published row counts of a
    corpus. `texts`: the text columns; `index`: the column of the row's number within its split, or
    of RACE's article, empty where there is none. `labels`: the task's label for each value of the
    column `label`; empty for a score (STS-B) or a corpus. `named_labels`: whether the files also
    store the labels' names, which then must agree. `unlabelled`: splits whose labels are all -1.
    `lines`: whether the files are plain text with one row per line. `by_hand`: how to obtain a data
    set without a repository. `caution`: the warning on the data card.
    """

    name: str
    licence: str
    repo: str = ""
    revision: str | None = None
    config: str = ""
    files: dict[str, tuple[str, ...]] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    texts: tuple[str, ...] = ()
    index: str = ""
    label: str = ""
    labels: dict[int | str, str] = field(default_factory=dict)
    named_labels: bool = True
    unlabelled: tuple[str, ...] = ()
    lines: bool = False
    by_hand: str = ""
    note: str = ""
    caution: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return tuple(filter(None, (*self.texts, self.label, self.index)))

    @property
    def patterns(self) -> list[str]:
        """The patterns of the files of all splits."""
        return [pattern for patterns in self.files.values() for pattern in patterns]

    @property
    def heldout(self) -> str | None:
        """The split of a corpus that its publisher held out from training; None without one."""
        return next((split for split in ("test", "dev") if split in self.files), None)


def parquet_files(splits: Iterable[str], *folders: str) -> dict[str, tuple[str, ...]]:
    """Patterns by split for names such as `cola/validation-00000-of-00001.parquet` of dev."""
    names = {split: f"{split.replace('dev', 'validation')}-*.parquet" for split in splits}
    return {split: tuple(f"{folder}/{name}" for folder in folders) for split, name in names.items()}


# The corpora that the model can be pre-trained on.
CORPORA: tuple[HubSource, ...] = (
    HubSource(
        name="bookcorpus",  # one sentence per row, without book boundaries
        repo="bookcorpus/bookcorpus",
        # From a pull request with parquet files: the main branch is a script that no longer loads.
        revision="d904700c5e5d69e71bcadbe182d2c5201fbbb007",
        config="plain_text",
        licence="unknown (terms of Smashwords)",
        files=parquet_files(["train"], "plain_text"),
        rows={"train": 74_004_228},
        texts=("text",),
    ),
    HubSource(
        name="bookcorpus_text",  # one sentence per line, without book boundaries
        repo="rojagtap/bookcorpus",
        revision=None,
        licence="mit according to the uploader (unverified)",
        files={"train": ("books_large_p1.txt", "books_large_p2.txt")},
        lines=True,
        note="the commit begins with 7600e0b",
    ),
    HubSource(
        name="wikitext103",
        repo="Salesforce/wikitext",
        revision="b08601e04326c79dfdd32d625aee71d232d685c3",
        config="wikitext-103-raw-v1",
        licence="cc-by-sa-3.0, gfdl",
        files=parquet_files(THREE_SPLITS, "wikitext-103-raw-v1"),
        rows={"train": 1_801_350, "dev": 3_760, "test": 4_358},
        texts=("text",),
    ),
    HubSource(
        name="lm1b",
        repo="billion-word-benchmark/lm1b",
        # From the branch refs/convert/parquet: the main branch is a script.
        revision="8d52bfd3cc2819fc1166dbb8144c328e2690de3e",
        config="plain_text",
        licence="none on the card",
        files={split: (f"plain_text/{split}/*.parquet",) for split in ("train", "test")},
        rows={"train": 30_301_028, "test": 306_688},
        texts=("text",),
    ),
    HubSource(
        name="tinystories",
        repo="roneneldan/TinyStories",
        revision="f54c09fd23315a6f9c86f9dc80f725de7d8f9c64",
        config="default",
        licence="cdla-sharing-1.0",
        files=parquet_files(["train", "dev"], "data"),
        rows={"train": 2_119_719, "dev": 21_990},
        texts=("text",),
    ),
)


def corpus(name: str) -> HubSource:
    """The corpus of that name. Raises InputError for any other."""
    known = {source.name: source for source in CORPORA}
    if name not in known:
        raise InputError(f"no corpus {name!r} of the hub; the corpora are {' '.join(known)}")
    return known[name]


def fault(source: HubSource, revision: str | None = None) -> str | None:
    """Why a source cannot be fetched at `revision`, and the remedy; None if valid."""
    if not source.repo:
        return f"{source.name} is not on the hub; {source.by_hand}"
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
    return [
        path
        for path in paths
        if any(path.count("/") == p.count("/") and PurePosixPath(path).match(p) for p in patterns)
    ]


@dataclass(frozen=True)
class Snapshot:
    """A source as it was fetched into `folder` at `revision` (None: the source's own)."""

    source: HubSource
    folder: str | Path
    revision: str | None = None

    @property
    def origin(self) -> dict[str, str]:
        """Where the rows come from. Raises InputError if the folder has another repo or commit."""
        expected = {"repo": self.source.repo, "revision": pinned(self.source, self.revision)}
        own = self._manifest()
        for key, value in expected.items():
            if own.get(key) != value:
                raise InputError(
                    f"{self.folder}/{MANIFEST}: {key} is {own.get(key)!r}, expected "
                    f"{value!r}; {FETCH_AGAIN}"
                )
        return {"source": "hub", **expected, "config": self.source.config}

    def files(self, split: str) -> list[Path]:
        """The split's files, sorted. Raises InputError if the manifest lists none."""
        folder, patterns = Path(self.folder), self.source.files[split]
        names = matching(patterns, self._manifest()["files"])
        if not names:
            remedy = self.source.note or FETCH_AGAIN
            raise InputError(f"{folder}: no file {' or '.join(patterns)}; {remedy}")
        return inside(folder, [folder / name for name in sorted(names)])

    def checked_files(self, split: str) -> list[Path]:
        """The split's files, sorted, after all checks of repository, commit and content."""
        _ = self.origin
        folder, paths = Path(self.folder), self.files(split)
        files = self._manifest()["files"]
        names = (path.relative_to(folder).as_posix() for path in paths)
        check_files(folder, {name: files[name] for name in names}, FETCH_AGAIN)
        return paths

    def _manifest(self) -> dict[str, Any]:
        if not Path(self.folder, MANIFEST).is_file():
            raise InputError(f"{self.folder}: no {MANIFEST}; fetch {self.source.name} first")
        return read_manifest(Path(self.folder), FETCH_AGAIN)
