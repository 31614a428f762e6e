"""With which config and code each file of the results was made: a list that lies beside them.

Snakemake reruns by the records in the folder that it is started in, and takes a file without one as
it is. Results that were moved, copied or mounted have no records, or those of other files of their
names; the list goes where they go.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from tasks.common.errors import InputError
from tasks.common.files import read_json, sha256_json, write_json
from workflow.configuration.model import Config
from workflow.results_folder import UNCHANGING, changes


class Provenance:
    """The list: a digest of config and code for each file, and when its job started.

    The time, None until a run has ended, tells the record of the file from that of another one;
    `started` looks it up there. Every method takes jobs of Snakemake, and means their outputs.
    """

    def __init__(
        self, config: Config, code: Iterable[str], started: Callable[[Any], float | None]
    ) -> None:
        values = config.model_dump(mode="json", exclude=UNCHANGING)
        self.config, self.own = config, sha256_json([values, sorted(code)])
        self.path, self.started = Path(config.results, "provenance.json"), started
        self.listed: dict[str, Any] = read_json(self.path) if self.path.is_file() else {}

    def refusal(self, jobs: Iterable[Any]) -> str:
        """Why a run must not take them as they are: made otherwise, and without a record."""
        for name, file, own in self._outputs(jobs):
            digest, time = self.listed.get(name, (None, None))
            if digest != own and os.path.lexists(file):
                started = self.started(file)
                if started is None or time not in (None, started):
                    keys = ", ".join(changes(self.config)[:3])
                    return (
                        f"error: results: {file} was made with another config ({keys or 'unknown'})"
                        f" or other code, and Snakemake has no record of it in {os.getcwd()}; make "
                        "all anew with --forceall, name another folder with --config "
                        "results=FOLDER, or start in the folder that has the records"
                    )
        return ""

    def begin(self, jobs: Iterable[Any]) -> None:
        """Before they are made: those that are there, made otherwise, are listed no more."""
        before = set(self.listed)
        for name, file, own in self._outputs(jobs):
            digest, _ = self.listed.pop(name, (None, None))
            if digest == own or not os.path.lexists(file):
                self.listed[name] = own, None
        try:
            write_json(self.path, self.listed)
        except InputError:  # a full disk
            if before - set(self.listed):
                raise

    def end(self, jobs: Iterable[Any]) -> None:
        """After a run that made them or found them right."""
        for name, file, own in self._outputs(jobs):
            if os.path.lexists(file) and (started := self.started(file)):
                self.listed[name] = own, started
        write_json(self.path, self.listed)

    def _outputs(self, jobs: Iterable[Any]) -> Iterator[tuple[str, Any, str]]:
        """Each by its name in the folder, with the digest that this run gives it.

        Files of the hub are not listed: they may be copied, and their manifests tell them.
        """
        for job in jobs:
            studies = [job.params.get(name) for name in ("study", "studies")]
            own = sha256_json([self.own, *studies])[:12]
            for file in job.output:
                name = os.path.relpath(file, self.config.results)
                if not name.startswith(f"raw{os.sep}"):
                    yield name, file, own
