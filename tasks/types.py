"""What a task is, and what its rows become: the same typed examples for every task.

A task is data (columns, labels, splits, metric) plus one small function that parses a file into
`Row`s. All checks that do not depend on a file's layout (unknown label, empty text, a wrong score,
too many flawed rows, an empty split) stand once, in `Task.read`.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tasks.common.errors import InputError
from tasks.spec import TaskSpec


@dataclass(frozen=True, slots=True)
class Example:
    """One example. Which text is which depends on the task's family:

    - classification: `first` is the text;
    - entailment: `first` is the premise (QNLI: the question), `second` the hypothesis;
    - similarity: `first` and `second` are the two sentences, in no order;
    - choice: `first` is the document or story, `second` the question (may be empty), `choices` the
      answers. DPRD: the text before and after the pronoun, and its two candidates.

    `label` is an index into the task's labels (or choices), for STS-B a float from 0 to 5.
    """

    split: str
    guid: str
    first: str
    second: str
    choices: tuple[str, ...]
    label: int | float
    group: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A row as a file has it: `line` is 1-based, `label` still the file's own word."""

    line: int
    first: str
    label: str
    second: str = ""
    choices: tuple[str, ...] = ()
    group: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True)
class Flaw:
    """A row that cannot be used: `reason` is its kind (counted), `found` says what stood there."""

    line: int
    reason: str
    found: str


Parser = Callable[[Path], Iterator[Row | Flaw]]


@dataclass(frozen=True)
class Task:
    """One data set: where it lies, how it is read, what is predicted and how that is scored.

    `files`: for an official split, patterns relative to the task's folder; the first that matches
    wins. `coding`: the file's label words that differ from `labels`. `rows`: official row counts of
    the labelled splits. `shares`: about which share of the rows has each label; `counts`: exactly
    how many, of the splits that were counted. `select`: the official split that selects the best
    epoch; None means that it is carved out of the training rows. `report`: the splits whose scores
    are reported, the main one first. `tolerated`: the share of flawed rows that is dropped and
    counted instead of being an error, for sets with known faults upstream.
    """

    name: str
    title: str
    family: str
    labels: tuple[str, ...]
    metric: str
    folder: str
    files: tuple[str, ...]
    parse: Parser
    report: tuple[str, ...]
    rows: dict[str, int]
    shares: tuple[float, ...]
    source: str
    counts: dict[str, tuple[int, ...]] = field(default_factory=dict)
    metrics: tuple[str, ...] = ("accuracy",)
    train: str = "train"
    select: str | None = None
    select_fraction: float | None = None
    coding: dict[str, int] = field(default_factory=dict)
    no_label: str | None = None
    groups: tuple[str, ...] = ()
    tolerated: float = 0.0
    version: int = 1

    @property
    def main(self) -> str:
        """The split that stands for the task where one number is shown."""
        return self.report[0]

    @property
    def spec(self) -> TaskSpec:
        """The task without its files, as training knows it."""
        return TaskSpec(self.name, self.family, len(self.labels), self.metric, self.metrics)

    @property
    def soft_labels(self) -> bool:
        """Whether the label is a score between classes (STS-B: six classes, 0 to 5)."""
        return self.spec.soft_labels

    def paths(self, folder: str | Path, split: str) -> list[Path]:
        """The files of an official split, sorted. Raises InputError for none or too many.

        Only a task with groups (RACE) has more than one file a split.
        """
        folder = Path(folder)
        if not folder.is_dir():
            raise InputError(f"{folder}: no such folder; {self.source}")
        patterns = [pattern.format(split=split) for pattern in self.files]
        for pattern in patterns:
            # Unpacking on another system leaves hidden twins (`._1.txt`) beside the real files.
            found = sorted(p for p in folder.glob(pattern) if not p.name.startswith("."))
            if len(found) > 1 and not self.groups:
                names = " and ".join(repr(path.name) for path in found)
                raise InputError(f"{folder}: {names} both match {pattern}; keep the right one only")
            if found:
                return found
        raise InputError(f"{folder}: no file {' or '.join(patterns)}; {self.source}")

    def read(
        self, folder: str | Path, split: str, dropped: Counter[str] | None = None
    ) -> list[Example]:
        """Read an official split in its original layout. Raises InputError like `examples`."""
        self.known(split)
        return self.examples(
            split, [(path, self.parse(path)) for path in self.paths(folder, split)], dropped
        )

    def known(self, split: str) -> None:
        """Raise InputError unless the task has a labelled split of that name."""
        if split not in self.rows:
            known = ", ".join(self.rows)
            raise InputError(f"{self.name}: no labelled split {split!r}; it has {known}")

    def examples(
        self,
        split: str,
        parsed: list[tuple[Path, Iterator[Row | Flaw]]],
        dropped: Counter[str] | None = None,
    ) -> list[Example]:
        """The examples of a split out of its files' rows, whatever the files' layout.

        Rows left out are counted in `dropped` by reason. Raises InputError, naming file and line,
        for whatever is not as published.
        """
        dropped = Counter() if dropped is None else dropped
        examples: list[Example] = []
        flaws: list[tuple[Path, Flaw]] = []
        for path, rows in parsed:
            for position, row in enumerate(rows):
                # SNLI's `-`: the annotators did not agree. The authors left such rows out too.
                if isinstance(row, Row) and self.no_label and row.label == self.no_label:
                    dropped["no gold label"] += 1
                    continue
                example = self._example(row, split, position) if isinstance(row, Row) else row
                if isinstance(example, Example):
                    examples.append(example)
                elif self.tolerated and example.reason != "unknown label":
                    flaws.append((path, example))
                else:
                    raise InputError(_told(path, example))
        if len(flaws) > max(3, self.tolerated * len(examples)):
            raise InputError(f"{_told(*flaws[0])}; {len(flaws)} such rows are too many")
        dropped.update(flaw.reason for _, flaw in flaws)
        first = parsed[0][0]
        if not examples:
            raise InputError(f"{first}: split {split!r} has no usable row; {self.source}")
        for group in self.groups:
            if not any(example.group == group for example in examples):
                raise InputError(f"{first}: no {group!r} rows in {split!r}; {self.source}")
        return examples

    def _example(self, row: Row, split: str, position: int) -> Example | Flaw:
        first, second = row.first.strip(), row.second.strip()
        choices = tuple(choice.strip() for choice in row.choices)
        paired = self.family in ("entailment", "similarity")
        if "" in choices or (paired and not second) or not first:
            return Flaw(row.line, "empty text", "a text is empty; every row needs its texts")
        label: int | float | None
        if self.soft_labels:
            label = _score(row.label)
            wanted = "a score from 0 to 5 is needed"
        else:
            label = self._index(row.label.strip())
            wanted = f"{self.name} has {', '.join(self.coding or self.labels)}"
        if label is None:
            return Flaw(row.line, "unknown label", f"label {row.label!r} is unknown; {wanted}")
        guid = f"{self.name}/{split}/{row.key or position}"
        return Example(split, guid, first, second, choices, label, row.group)

    def _index(self, word: str) -> int | None:
        if self.coding:
            return self.coding.get(word)
        return self.labels.index(word) if word in self.labels else None


def _score(word: str) -> float | None:
    try:
        # The hub holds scores in 32 bits: as many digits as both layouts tell.
        score = round(float(word), 4)
    except ValueError:
        return None
    return score if 0.0 <= score <= 5.0 else None


def _told(path: Path, flaw: Flaw) -> str:
    return f"{path}:{flaw.line}: {flaw.found}"
