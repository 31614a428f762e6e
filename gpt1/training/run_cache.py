"""A cache of finished runs, outside the declared outputs, so that interrupted jobs resume.

Snakemake deletes the outputs of a failed job, good cells included. A run's record is stored under a
hash of everything that determines its result, so a stale record is never found, and it contains
this key, so a renamed one is not used.
"""

from pathlib import Path
from typing import Any

from gpt1.weights.checkpoint import read_tensors
from tasks.common.errors import InputError
from tasks.common.files import sha256_json, sweep
from tasks.common.records import Record

Key = dict[str, Any]


class CachedRun(Record):
    """A file of the cache."""

    key: Key
    record: dict[str, Any]


class RunCache:
    """A folder of JSON records named by the hash of their key.

    Leftovers of killed writes are removed, whatever their keys.
    """

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        sweep(self.folder)

    def path(self, key: Key) -> Path:
        """The path of the record of `key`, whether it exists or not."""
        return self.folder / f"{sha256_json(key)}.json"

    def weights(self, key: Key) -> Path:
        """The path of the weights of the run of `key`, if they are kept."""
        return self.path(key).with_suffix(".safetensors")

    def has_weights(self, key: Key) -> bool:
        """Whether the weights of the run of `key` are there and whole, else with a warning."""
        path = self.weights(key)
        if not path.exists():
            return False
        try:
            read_tensors(path, of=path.stem)
        except InputError as error:  # the run can be repeated
            print(f"warning: {error}; training again", flush=True)
            return False
        return True

    def get(self, key: Key) -> dict[str, Any] | None:
        """The record of `key`, or None (with a warning) if it is damaged or another's."""
        path = self.path(key)
        if not path.exists():
            return None
        try:
            found = CachedRun.read(path)
            if sha256_json(found.key) != path.stem:
                raise InputError(f"{path}: of another run, its key is not that of its name")
            return found.record
        except InputError as error:  # the run can be repeated
            print(f"warning: {error}; training again", flush=True)
            return None

    def put(self, key: Key, record: dict[str, Any]) -> None:
        """Write the record of `key` atomically."""
        CachedRun(key=key, record=record).write(self.path(key))
