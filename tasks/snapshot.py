"""A task's rows from its hub repository: the parquet files of a local snapshot, as it was fetched.

They end in the same examples as the original layout. A row's guid has its number in the split:
GLUE's `idx`, else the position (MRPC's `idx` counts on over train and dev, so its position too).
RACE has one row a question; its guid is made of school, article and the question's number, and the
rows are sorted as the original files are. A score is a 32-bit float there, which is why scores have
four decimals.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from tasks import dprd, race
from tasks.catalogue import ENTRIES, Entry, entry
from tasks.common.errors import InputError
from tasks.fetched import AGAIN, Fetched
from tasks.types import Example, Flaw, Row, Task

TEXTS = (("premise", "hypothesis"), ("question", "sentence"), ("question1", "question2"))
TEXTS += (("sentence1", "sentence2"), ("sentence",))


@dataclass(frozen=True)
class Snapshot:
    """A repository in `folder` with its `manifest.json`, at `revision` (None: the catalogue's)."""

    task: Task
    folder: str | Path
    revision: str | None = None

    @property
    def origin(self) -> dict[str, str]:
        """Where the rows come from. Raises InputError if another repository or commit is there."""
        return self._fetched.origin

    def paths(self, split: str) -> list[Path]:
        """The split's files, sorted: all that the manifest lists, and no other."""
        return self._fetched.paths(split)

    def read(self, split: str, dropped: Counter[str]) -> list[Example]:
        """The examples of an official split; rows left out are counted in `dropped`.

        Raises InputError for a file that is not as it was fetched, or not this task's.
        """
        self.task.known(split)
        paths = self.checked(split)
        numbers: Counter[Any] = Counter()
        parsed = [(path, rows(self.task, path, numbers)) for path in paths]
        examples = self.task.examples(split, parsed, dropped)
        return sorted(examples, key=race.place) if self.task is race.race else examples

    def checked(self, split: str) -> list[Path]:
        """The split's files. Raises InputError for one that is not as it was fetched."""
        _ = self.origin
        paths = self.paths(split)
        self._fetched.check(paths)
        return paths

    @property
    def _fetched(self) -> Fetched:
        return Fetched(self.task.name, Path(self.folder), self.revision)


def rows(task: Task, path: Path, numbers: Counter[Any]) -> Iterator[Row | Flaw]:
    """The rows of one parquet file. `numbers` goes on counting over all files of a split.

    Raises InputError for a file that is cut off, of another task, or whose labels are coded
    otherwise than the catalogue says.
    """
    each = entry(task.name)
    for line, record in records(path, each):
        number = numbers[""]
        numbers[""] += 1
        label = _word(task, each, record[each.label])
        if task.name == "race":
            article = record["example_id"]
            texts = [record[name] for name in ("article", "question", "options")]
            yield race.row(
                line, path.parent.name, article, numbers[article], *texts, record["answer"]
            )
            numbers[article] += 1
        elif task.name == "dprd":
            texts = [record[name] for name in ("sentence", "pronoun", "candidates")]
            yield dprd.item(path, line, *texts, label, str(number))
        else:
            texts = [record[name] for name in texts_of(each)]
            if None in texts:
                yield Flaw(line, "empty text", "a text is null; every row needs its texts")
                continue
            key = record["idx"] if "idx" in record and task.name != "mrpc" else number
            yield Row(line, texts[0], label, *texts[1:], key=str(key))


def texts_of(each: Entry) -> tuple[str, ...]:
    """The columns of a task's one or two texts."""
    return next(names for names in TEXTS if set(names) <= set(each.columns))


def records(path: Path, each: Entry) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (row number from 1, the catalogue's columns of the row)."""
    # Here, because the original layouts do not need it and it takes a while to import.
    import pyarrow
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            _check_columns(path, file.schema_arrow, each)
            batches = file.iter_batches(columns=list(each.columns))
            yield from enumerate(chain.from_iterable(b.to_pylist() for b in batches), start=1)
    except pyarrow.ArrowException as error:
        raise InputError(f"{path}: not a whole parquet file ({error}); {AGAIN}") from None


def _check_columns(path: Path, schema: Any, each: Entry) -> None:
    """This task's columns, and labels that mean what the catalogue says."""
    missing = [name for name in each.columns if name not in schema.names]
    if missing:
        others = [e for e in ENTRIES if e.columns and set(e.columns) <= set(schema.names)]
        whose = f" ({others[0].name} has these)" if others else ""
        raise InputError(
            f"{path}: columns {', '.join(each.columns)} expected, found {', '.join(schema.names)}"
            f"{whose}; {each.note or AGAIN}"
        )
    kind = str(schema.field(each.label).type)
    known = {int: "int", str: "string"}[type(min(each.labels))] if each.labels else "float"
    if known not in kind:
        raise InputError(
            f"{path}: {each.label!r} holds {kind}, a label of {each.name} is {known}; {AGAIN}"
        )
    # DPRD's labels are places in a list and have no names of their own.
    if known == "int" and each.name != "dprd":
        found, wanted = _label_names(schema, each.label), list(each.labels.values())
        if found != wanted:
            raise InputError(
                f"{path}: labels 0, 1, .. are named {', '.join(found) or 'nothing'}, expected "
                f"{', '.join(wanted)}; take the catalogue's revision, whose files name them so"
            )


def _label_names(schema: Any, column: str) -> list[str]:
    """The names of a column's classes, as `datasets` keeps them in a file's schema."""
    kept = (schema.metadata or {}).get(b"huggingface", b"{}")
    features = json.loads(kept).get("info", {}).get("features", {})
    return features.get(column, {}).get("names", [])


def _word(task: Task, each: Entry, value: Any) -> str:
    """A label as the original files have it: class 1 of CoLA is `1`, of RTE `not_entailment`."""
    if value == -1 and task.no_label:
        return task.no_label
    if value not in each.labels:
        return str(value)
    index = task.labels.index(each.labels[value])
    return next((word for word, k in task.coding.items() if k == index), task.labels[index])
