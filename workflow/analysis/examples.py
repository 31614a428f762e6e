"""The facts of the prepared tasks, and a check that files are of the same examples."""

from collections.abc import Iterable
from pathlib import Path

from tasks.common.errors import InputError
from tasks.common.records import REMEDY
from tasks.examples import ExamplesFacts


def read_examples(results: Path, names: Iterable[str]) -> dict[str, ExamplesFacts]:
    """The facts of the tasks that were prepared. Raises InputError for a damaged file."""
    found = {name: ExamplesFacts.find(results / "examples" / f"{name}.json") for name in names}
    return {name: record for name, record in found.items() if record}


def check_examples(path: Path, digests: dict[str, str], other: Path, known: dict[str, str]) -> None:
    """Raise InputError unless the `digests` in `path`, by split, equal those in `other`."""
    for split, digest in digests.items():
        if known.get(split) != digest:
            raise InputError(f"{path}: its {split} rows are not those of {other}; {REMEDY}")
