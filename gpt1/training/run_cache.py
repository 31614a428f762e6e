"""A record of finished runs, outside the declared outputs, so that a killed job goes on.

Snakemake removes a failed job's outputs, the good cells with the bad one. A run's record is kept
under a key that hashes all that decides its result, so a stale record is never found.
"""

from pathlib import Path
from typing import Any

from tasks.common.errors import InputError
from tasks.common.files import read_json, sha256_json, write_json


class Journal:
    """A folder of JSON records named by their key."""

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)

    def path(self, key: dict[str, Any]) -> Path:
        """Where the record of `key` is, or would be."""
        return self.folder / f"{sha256_json(key)}.json"

    def get(self, key: dict[str, Any]) -> dict[str, Any] | None:
        """The record of `key`, or None where there is none or a damaged one."""
        path = self.path(key)
        if not path.exists():
            return None
        try:
            return read_json(path)["record"]
        except InputError as error:  # the run can be had again
            print(f"warning: {error}; training anew", flush=True)
            return None

    def put(self, key: dict[str, Any], record: dict[str, Any]) -> None:
        """Write the record of `key`, whole or not at all; the key is kept beside it to be read."""
        write_json(self.path(key), {"key": key, "record": record})
