"""The config, code and packages that each file of the results was made with: a list beside them.

Snakemake decides what to rerun from its records in the folder where it is started, and takes a file
without a record as it is. Results that were moved, copied or mounted have no records there, or
those of other files with the same names; the list goes where they go. A file is listed when it has
been made, with a digest of its content, so that the list tells nothing of a file put in its place.
"""

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

from tasks.common.errors import InputError
from tasks.common.files import read_json, sha256_file, sha256_json, write_json
from workflow.configuration.model import Config
from workflow.results_folder import PROJECT, UNCHANGING, changes

SAVE_SECONDS = 10.0  # between two saved lists of a run
STAMP = ".snakemake_timestamp"  # in a folder that a job has made
Entry = dict[str, str]  # digests: "config", "code", "packages" and "content"; "stat" of the file


class Provenance:
    """The list, as it is when a run is planned.

    `ended` gives the time that Snakemake has recorded for a file of that name, None without a
    record. `unchecked` is an option of Snakemake, if one was given, that keeps it from comparing
    config and code with its records, which then tell nothing. Every method takes Snakemake's jobs
    and acts on their outputs.
    """

    def __init__(
        self,
        config: Config,
        code: Iterable[str],
        ended: Callable[[Any], float | None],
        unchecked: str = "",
    ) -> None:
        self.config, self.ended, self.unchecked = config, ended, unchecked
        self.values = config.model_dump(mode="json", exclude=UNCHANGING)
        digests = {"code": sorted(code), "packages": _packages()}
        self.own = {key: sha256_json(value)[:12] for key, value in digests.items()}
        self.path = Path(config.results, "provenance.json")
        self.listed = _read(self.path)
        self.done: set[Any] = set()
        self.saved = time.monotonic()

    def refusal(self, jobs: Iterable[Any]) -> str:
        """Why a run must not reuse the outputs: one was made differently and has no record."""
        for name, file, config in self._outputs(jobs):
            if not os.path.lexists(file):
                continue
            entry, same = self.listed.get(name, {}), self._is_as_made(name, file)
            ours = same and entry["config"] == config
            if self.unchecked:
                fits = ours if entry else self.unchecked == "--touch"
                record = f"{self.unchecked} takes it as it is; leave that option out"
            else:
                fits = (ours and entry["code"] == self.own["code"]) or self._is_recorded(file)
                record = f"Snakemake has no record of it in {os.getcwd()}"
            if fits:
                continue
            keys = ", ".join(changes(self.config)[:3])
            why = f"{file} was made with another config{keys and f' ({keys})'} or other code"
            if entry and not same:
                why = f"{file} is not what its job made, or was changed since"
            elif not (entry or keys):
                why = f"nothing in {self.path} tells with which config and code {file} was made"
            return (
                f"error: results: {why}, and {record}; make all anew with --forceall, name another "
                "folder with --config results=FOLDER, or start in the folder that has the records"
            )
        return ""

    def with_other(self, key: str, jobs: Iterable[Any]) -> list[str]:
        """The outputs that were listed with another `config`, or with other `packages`."""
        return [
            str(file)
            for name, file, config in self._outputs(jobs)
            if (entry := self.listed.get(name))
            and entry[key] != {**self.own, "config": config}[key]
        ]

    def add(self, job: Any) -> None:
        """List the outputs of a job that has ended well; the list is saved from time to time."""
        self._list([job], {})
        self.done.add(job)
        if time.monotonic() - self.saved > SAVE_SECONDS:
            with contextlib.suppress(InputError):  # a full disk, which the run's end tells
                self._save()

    def end(self, made: Iterable[Any], right: Iterable[Any]) -> None:
        """After a run: list the outputs that it made and those that it found to be right."""
        if self.unchecked != "--touch":
            self._list(set(made) - self.done, {})
        if not self.unchecked:
            self._list(right, self.listed)
        self._save()

    def _list(self, jobs: Iterable[Any], before: dict[str, Entry]) -> None:
        """List outputs with this run's digests, but with the packages of those listed `before`."""
        for name, file, config in self._outputs(jobs):
            if os.path.lexists(file):
                same = self._is_as_made(name, file)
                entry = self.listed[name] if same else _described(file)
                packages = before[name]["packages"] if name in before else self.own["packages"]
                self.listed[name] = {**entry, **self.own, "config": config, "packages": packages}

    def _save(self) -> None:
        write_json(self.path, self.listed)
        self.saved = time.monotonic()

    def _is_as_made(self, name: str, file: Any) -> bool:
        """Whether a file is the listed one; its content is read only if its stat is another."""
        if (entry := self.listed.get(name)) is None:
            return False
        if entry["stat"] != _stat(file):
            if entry["content"] != (found := _described(file))["content"]:
                return False
            entry |= found
        return True

    def _is_recorded(self, file: Any) -> bool:
        """Whether Snakemake's record is of this file, not of another one with the same name."""
        stamp = Path(file, STAMP)
        time = os.stat(stamp if stamp.exists() else file, follow_symlinks=False).st_mtime
        ended = self.ended(file)
        return ended is not None and time in (ended, int(ended))  # an archive keeps whole seconds

    def _outputs(self, jobs: Iterable[Any]) -> Iterator[tuple[str, Any, str]]:
        """Each output: its name in the folder, the file, and the digest of its config.

        Files from the hub are not listed: they may be copied, and their manifests identify them.
        """
        for job in jobs:
            given = [job.params.get(name) for name in ("study", "page", "grid")]
            config = sha256_json([self.values, *given])[:12]
            for file in job.output:
                name = os.path.relpath(file, self.config.results)
                if not name.startswith(f"raw{os.sep}"):
                    yield name, file, config


def _files(path: Any) -> list[Path]:
    """A file, or the files in a folder, in order."""
    found = (one for one in Path(path).rglob("*") if one.is_file() and one.name != STAMP)
    return sorted(found) if os.path.isdir(path) else [Path(path)]


def _stat(path: Any) -> str:
    """A digest that another file, or one that is written again, does not share."""
    stats = [(os.path.relpath(one, path), one.lstat()) for one in _files(path)]
    return sha256_json([[n, s.st_ino, s.st_size, s.st_mtime_ns] for n, s in stats])[:12]


def _packages() -> list[str]:
    """Digests of a clone's locks; of the installed package, the versions of what it needs."""
    locks = [*PROJECT.glob("requirements.lock"), *PROJECT.glob("requirements-torch.lock")]
    needed: list[str] = []
    if not locks:
        with contextlib.suppress(PackageNotFoundError):  # a copy of some of the clone
            needed = [of for of in requires("gpt1-suite") or () if "extra ==" not in of]
    names = [re.split(r"[^\w-]", of)[0] for of in needed]
    return [*map(sha256_file, locks), *(f"{name} {version(name)}" for name in names)]


def _described(path: Any) -> Entry:
    """The entries that tell a file, or a folder, from others."""
    stat, files = _stat(path), _files(path)
    content = [[os.path.relpath(one, path), one.is_file() and sha256_file(one)] for one in files]
    return {"stat": stat, "content": sha256_json(content)}


def _read(path: Path) -> dict[str, Entry]:
    """The list in a file; empty if the file is missing, damaged or of an earlier version."""
    try:
        listed = read_json(path)
    except InputError:
        return {}
    keys = {"config", "code", "packages", "stat", "content"}
    entries = listed.items() if isinstance(listed, dict) else ()
    return {name: one for name, one in entries if isinstance(one, dict) and one.keys() == keys}
