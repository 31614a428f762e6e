"""What the analysis reads of cells, and whether files are of the same examples."""

import json
from collections.abc import Iterable
from pathlib import Path

from pydantic import AliasPath, Field

from gpt1.cell import Arch
from tasks.common.errors import InputError
from tasks.common.records import REMEDY, Record, Scores
from tasks.examples import ExamplesFacts


def read_examples(results: Path, names: Iterable[str]) -> dict[str, ExamplesFacts]:
    """The facts of those tasks that were prepared. Raises InputError for a damaged file."""
    found = {name: ExamplesFacts.find(results / "examples" / f"{name}.json") for name in names}
    return {name: record for name, record in found.items() if record}


def check_examples(path: Path, digests: dict[str, str], other: Path, known: dict[str, str]) -> None:
    """Raise InputError unless the `digests` in `path`, by split, are those in the file `other`."""
    for split, digest in digests.items():
        if known.get(split) != digest:
            raise InputError(f"{path}: its {split} rows are not those of {other}; {REMEDY}")


class Run(Record):
    """One seed of a cell; `select_by_epoch` are the scores by which its epoch was chosen."""

    seed: int
    pretrain_seed: int
    scores: Scores
    alarms: list[str]
    select_by_epoch: list[dict[str, float]] = []
    train_tokens: float
    train_seconds: float
    peak_mb: float | None = None
    cpu: str = ""


class Baselines(Record):
    """The scores that any model has to beat."""

    majority: Scores
    bag_of_words: Scores


class CellRecord(Record):
    """`cells/LINE/TASK.json`; `predictions` is the SHA-256 of their file."""

    line: str
    task: str
    arch: Arch
    baselines: Baselines
    seeds: list[Run]
    predictions: str = Field(validation_alias=AliasPath("digests", "predictions"))


class Processor(Record):
    """The CPU of one seed of a cell: its model, and the instructions that torch used."""

    cpu: str = ""


class Environment(Record):
    """What a cell was trained with, by its JSON: runtime settings, CPUs, versions of packages."""

    runtime: dict[str, str | bool | int | None] = {}
    versions: dict[str, str] = {}
    seeds: list[Processor] = []

    @property
    def description(self) -> tuple[tuple[str, str], ...]:
        """All of it by name, as text; the CPUs are those of all seeds."""
        cpus = "; ".join(sorted({seed.cpu for seed in self.seeds}))
        named = {**self.runtime, "processor": cpus, **self.versions}
        texts = {k: v if isinstance(v, str) else json.dumps(v) for k, v in named.items()}
        return tuple((name, text) for name, text in texts.items() if text)
