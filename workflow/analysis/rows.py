"""The rows behind the scores: their stored predictions, and notes on those that are a subset.

`tasks.prepare` writes a note for each task into `examples/TASK.json`. In a Markdown table a dagger
marks the task, and a line below the table gives the numbers; every CSV has a column `note`.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

import tasks
from gpt1.cell import SHUFFLED, Cell
from gpt1.records import CellRecord
from tasks import Task
from tasks.common.errors import InputError, make_again
from tasks.common.files import sha256_file
from tasks.common.records import REMEDY
from tasks.examples import ExamplesFacts
from tasks.settings import OwnTask
from workflow.grid import Grid

PREDICTED = ["seed", "split", "guid", "group", "label", "prediction"]
DAGGER = "†"


@dataclass(frozen=True)
class Predictions:
    """A cell's predictions: `rows` with PREDICTED, and the digests of the `examples` by split."""

    path: Path
    rows: pd.DataFrame
    examples: dict[str, str]


def read_predictions(results: Path, cell: Cell) -> Predictions | None:
    """A cell's predictions; None if it was not run.

    Raises InputError if the file does not match its digest in the cell's JSON.
    """
    path, facts = cell.predictions(results), cell.path(results)
    if not path.exists() or not facts.exists():
        return None
    if sha256_file(path) != CellRecord.read(facts, **vars(cell)).digests.predictions:
        raise InputError(
            f"{path}: not the predictions that {facts} was written with; {make_again(path)}"
        )
    table = pq.read_table(path, columns=PREDICTED)
    examples = json.loads(table.schema.metadata[b"gpt1"])["examples"]
    return Predictions(path, table.to_pandas(), examples)


def answers(task: Task, predictions: pd.Series) -> np.ndarray:
    """Predictions [n] in the form the metrics take: class indices, or real numbers for STS-B."""
    return predictions.to_numpy(dtype=float if task.soft_labels else np.int64)


def read_examples(results: Path, names: Iterable[str]) -> dict[str, ExamplesFacts]:
    """The facts of the tasks that were prepared. Raises InputError for a damaged file."""
    found = {name: ExamplesFacts.find(results / "examples" / f"{name}.json") for name in names}
    return {name: record for name, record in found.items() if record}


def check_examples(path: Path, digests: dict[str, str], other: Path, known: dict[str, str]) -> None:
    """Raise InputError unless the `digests` in `path`, by split, equal those in `other`."""
    for split, digest in digests.items():
        if known.get(split) != digest:
            raise InputError(f"{path}: its {split} rows are not those of {other}; {REMEDY}")


@dataclass(frozen=True)
class Notes:
    """Each task's note, as "dev: 400 of 872 rows", or nothing; `own` are the user's own tasks."""

    by_task: dict[str, str]
    own: Mapping[str, OwnTask] = field(default_factory=dict)

    @classmethod
    def read(cls, results: Path, names: Iterable[str]) -> "Notes":
        """The notes of the tasks that were prepared. Raises InputError for a damaged file."""
        names = list(names)
        known = read_examples(results, names)
        own = {name: of.settings.own for name, of in known.items() if of.settings.own}
        return cls({name: known[name].note if name in known else "" for name in names}, own)

    def title(self, name: str) -> str:
        """A task's title."""
        return tasks.task(name, self.own.get(name)).title

    def of(self, name: str) -> str:
        """A task's note; empty for a task that is not in the grid."""
        return self.by_task.get(name, "")

    def joined(self, names: Iterable[str]) -> str:
        """The notes behind one number that combines several tasks, for a CSV."""
        chosen = replace(self, by_task={name: self.of(name) for name in names})
        parts = (f"{name} ({note})" for name, note in chosen.by_task.items() if note)
        return chosen._shared or "; ".join(parts)

    def mark(self, name: str, title: str = "") -> str:
        """A task's title, with a dagger if its note is not the same as that of every other task."""
        dagger = DAGGER if self.of(name) and not self._shared else ""
        return (title or self.title(name)) + dagger

    def footnote(self) -> list[str]:
        """The paragraph that explains the notes; none where all rows are the published ones."""
        if self._shared:
            return [f"Rows of every task: {self._shared}."]
        titles: dict[str, list[str]] = {}
        for name, note in self.by_task.items():
            if note:
                titles.setdefault(note, []).append(self.title(name))
        parts = [f"{', '.join(named)}: {note}." for note, named in titles.items()]
        published = any(note and name not in self.own for name, note in self.by_task.items())
        lead = [DAGGER, *(["not all of the published rows."] if published else [])]
        return [" ".join([*lead, *parts])] if parts else []

    @property
    def _shared(self) -> str:
        """The note that all of several tasks share; empty if there is no such note."""
        words = set(self.by_task.values())
        return words.pop() if len(self.by_task) > 1 and len(words) == 1 else ""


def single_control(grid: Grid) -> list[str]:
    """The caveat of a table that compares several pre-trained models with a single control."""
    n, controls = len(grid.seeds.sources()), SHUFFLED.values()
    n_control = min(
        (len(c.pretrain) for c in grid.variants.values() if c.corpus in controls), default=n
    )
    if n_control > 1 or n == 1:
        return []
    return [
        "Shuffled books have one pre-training seed, the models that they are compared with "
        f"{n}: how much another model of shuffled books would differ is in no interval."
    ]
