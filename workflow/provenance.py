"""The config, code and packages that each file of the results was made with: a list beside them.

Snakemake decides what to rerun from its records in the folder where it is started, and takes a file
without a record as it is. Results that were moved, copied or mounted have no records there, or
those of other files with the same names; the list goes where they go.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from tasks.common.errors import InputError
from tasks.common.files import read_json, sha256_file, sha256_json, write_json
from workflow.configuration.model import Config
from workflow.results_folder import LIST, PROJECT, UNCHANGING, changes


class Provenance:
    """The list: for each file a digest of config and code, and one of the packages' lock files.

    `ended` gives the time that Snakemake has recorded for a file of that name, None without a
    record. Every method takes Snakemake's jobs and acts on their outputs.
    """

    def __init__(
        self, config: Config, code: Iterable[str], ended: Callable[[Any], float | None]
    ) -> None:
        values = config.model_dump(mode="json", exclude=UNCHANGING)
        self.config, self.own = config, sha256_json([values, sorted(code)])
        locks = [*PROJECT.glob("requirements.lock"), *PROJECT.glob("requirements-torch.lock")]
        self.locks = sha256_json([sha256_file(path) for path in locks])[:12]
        self.path, self.ended = Path(config.results, LIST), ended
        self.listed = _read(self.path)

    def refusal(self, jobs: Iterable[Any]) -> str:
        """Why a run must not reuse the outputs: one was made differently and has no record."""
        for name, file, own in self._outputs(jobs):
            made, _ = self._entry(name)
            if made != own and os.path.lexists(file) and not self._is_recorded(file):
                keys = ", ".join(changes(self.config)[:3])
                why = f"{file} was made with another config{keys and f' ({keys})'} or other code"
                if not (made or keys):
                    why = f"nothing in {self.path} tells with which config and code {file} was made"
                return (
                    f"error: results: {why}, and Snakemake has no record of it in {os.getcwd()}; "
                    "make all anew with --forceall, name another folder with --config "
                    "results=FOLDER, or start in the folder that has the records"
                )
        return ""

    def with_other_packages(self, jobs: Iterable[Any]) -> list[str]:
        """The outputs that were made with other lock files."""
        found = ((file, self._entry(name)[1]) for name, file, _ in self._outputs(jobs))
        return [str(file) for file, locks in found if locks not in ("", self.locks)]

    def begin(self, jobs: Iterable[Any]) -> None:
        """Before the jobs run: list the files to come, drop existing ones made differently."""
        before = dict(self.listed)
        for name, file, own in self._outputs(jobs):
            if not os.path.lexists(file):
                self.listed[name] = f"{own} {self.locks}"
            elif self._entry(name)[0] != own:
                self.listed.pop(name, None)
        try:
            write_json(self.path, self.listed)
        except InputError:  # a full disk
            if any(self.listed.get(name) != made for name, made in before.items()):
                raise

    def end(self, made: Iterable[Any], right: Iterable[Any]) -> None:
        """After a run: list the outputs that it made and those that it found to be right."""
        for name, _, own in self._outputs(made):
            self.listed[name] = f"{own} {self.locks}"
        for name, file, own in self._outputs(right):
            if os.path.lexists(file):
                self.listed[name] = f"{own} {self._entry(name)[1] or self.locks}"
        write_json(self.path, self.listed)

    def _entry(self, name: str) -> tuple[str, str]:
        """The digests of a file; empty if it is not listed."""
        own, _, locks = str(self.listed.get(name, "")).partition(" ")
        return own, locks

    def _is_recorded(self, file: Any) -> bool:
        """Whether Snakemake's record is of this file, not of another one with the same name."""
        stamp = Path(file, ".snakemake_timestamp")  # of a folder
        time = os.stat(stamp if stamp.exists() else file, follow_symlinks=False).st_mtime
        ended = self.ended(file)
        return ended is not None and time in (ended, int(ended))  # an archive keeps whole seconds

    def _outputs(self, jobs: Iterable[Any]) -> Iterator[tuple[str, Any, str]]:
        """Each output: its name in the folder, the file, and the digest that this run gives it.

        Files from the hub are not listed: they may be copied, and their manifests identify them.
        """
        for job in jobs:
            given = [job.params.get(name) for name in ("study", "studies", "grid", "lines")]
            own = sha256_json([self.own, *given])[:12]
            for file in job.output:
                name = os.path.relpath(file, self.config.results)
                if not name.startswith(f"raw{os.sep}"):
                    yield name, file, own


def _read(path: Path) -> dict[str, Any]:
    """The list in a file; empty if the file is missing or damaged."""
    try:
        listed = read_json(path)
    except InputError:
        return {}
    return listed if isinstance(listed, dict) else {}
