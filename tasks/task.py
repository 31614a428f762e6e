"""What a task is, and how its files become examples.

A task is data: columns, labels, splits, metric, where its files lie. Its layouts
(`tasks.read.Layout`) yield rows in one form; all checks that do not depend on a file's layout
(unknown label, empty text, a wrong score, too many flawed rows, an empty split) are in `Task.read`.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from tasks.common.errors import InputError
from tasks.common.files import inside
from tasks.common.parquet import class_names, open_parquet
from tasks.hub import HubSource, Snapshot
from tasks.layouts import hub_rows
from tasks.prompt import Prompt
from tasks.read import (
    OWN_ROWS,
    Layout,
    Row,
    Table,
    as_read,
    is_blank,
    unquoted,
    wrong,
)
from tasks.spec import Example, TaskSpec

UNLABELLED = -1
NO_GOLD_LABEL = "no gold label"
SCORE = re.compile(r"[0-9]+(\.[0-9]+)?")
# MNLI's diagnostic set, which GLUE has in a folder of its own and which may be missing.
DIAGNOSTIC = {"ax": ("diagnostic.tsv", "../diagnostic/diagnostic.tsv")}
Source = str | Path | Snapshot


@dataclass
class Tally:
    """Counts of the rows that were dropped or mended while a split was read.

    `dropped`: rows left out, by reason; `unquoted`: rows with texts whose CSV quoting was undone.
    """

    dropped: Counter[str] = field(default_factory=Counter)
    unquoted: int = 0


@dataclass(frozen=True)
class Task:
    """One data set: where it lies, how it is read, what is predicted and how that is scored."""

    name: str
    title: str
    family: str
    labels: tuple[str, ...]
    layouts: tuple[Layout, ...]  # the first one with a file for a split wins
    rows: dict[str, int]  # official row counts of the labelled splits; 0 for a user's own task
    obtain: str  # how to get the files
    hub: HubSource
    report: tuple[str, ...] = ("test",)  # the splits whose scores are reported, the main one first
    label_shares: tuple[float, ...] = ()  # the labels' approximate shares; () where all are equal
    # For some splits, the published count of each of `labels`.
    label_counts: dict[str, tuple[int, ...]] = field(default_factory=dict)
    # `prepare.rows_digest` of the splits whose published files are known from two copies.
    digests: dict[str, str] = field(default_factory=dict)
    metrics: tuple[str, ...] = ("accuracy",)  # the first one is the task's
    # Whether the task's single score is the mean of its reported splits, not the main one's.
    averages_splits: bool = False
    train: str = "train"
    select_fraction: float | None = None
    # The original files' words for the labels, where they differ from `labels`.
    coding: dict[str, int] = field(default_factory=dict)
    no_gold_label: tuple[str, ...] = ()  # the words that mean it, in files and on the hub
    groups: tuple[str, ...] = ()
    # The largest share of flawed rows to drop and count, for sets with known faults upstream.
    tolerated: float = 0.0
    # Whether texts with a quotation mark are published CSV-quoted, which is undone.
    csv_quoted: bool = False
    # How the hub's files become rows.
    hub_rows: Callable[[HubSource, list[Path]], Iterator[Row]] = hub_rows
    # The official row counts of the splits without public labels.
    unlabelled: dict[str, int] = field(default_factory=dict)
    unlabelled_index: str = "index"  # their column of row numbers
    # Whether rows whose guids differ only after the last slash share a text.
    several_rows_a_text: bool = False
    # How a language model is asked about a row zero-shot; None: it is not.
    prompt: Prompt | None = None

    @property
    def folder(self) -> str:
        """Its folder in the data folder: the title without blanks; "" for a user's own task."""
        return "" if self.is_own else self.title.replace(" ", "")

    @property
    def select(self) -> str | None:
        """The official split that selects the best epoch; if None, part of the training rows."""
        return "dev" if "dev" in self.rows and "dev" not in self.report else None

    @property
    def metric(self) -> str:
        """The metric of the task's score."""
        return self.metrics[0]

    @property
    def shares(self) -> tuple[float, ...]:
        """Each label's approximate share of the rows."""
        return self.label_shares or (1 / len(self.labels),) * len(self.labels)

    @property
    def main(self) -> str:
        """The split that stands for the task where one number is shown."""
        return self.report[0]

    @property
    def spec(self) -> TaskSpec:
        """The task without its files, as training knows it."""
        return TaskSpec(self.name, self.family, len(self.labels), self.metric, self.metrics)

    @property
    def random_score(self) -> float:
        """The score of random guessing, 0 to 100; for F1 that of always yes, which is higher."""
        if self.metric == "f1":
            share = self.shares[1]
            return 100 * 2 * share / (1 + share)
        return 100 / len(self.labels) if self.metric in ("accuracy", "macro_f1") else 0.0

    @property
    def soft_labels(self) -> bool:
        """Whether the label is a score between classes (STS-B: six classes, 0 to 5)."""
        return self.spec.soft_labels

    @property
    def is_own(self) -> bool:
        """Whether it is a task of the user's own, without official row counts."""
        return not any(self.rows.values())

    @property
    def table(self) -> Table | None:
        """The task's first layout if that is a table, else None."""
        layout = self.layouts[0]
        return layout if isinstance(layout, Table) else None

    def place(self, guid: str) -> str:
        """`task/split/number` of a row of the synthetic world, numbered from 0 in its file."""
        key = guid.rpartition("/")[0] if self.several_rows_a_text else guid  # RACE: the article
        return "/".join((*guid.split("/")[:2], re.split("[/-]", key)[-1]))

    def files(self, source: Source, split: str) -> list[Path]:
        """The files of a split, sorted. Raises InputError for none or too many."""
        if isinstance(source, Snapshot):
            return source.files(split)
        return self._layout(Path(source), split)[1]

    def read_rows(self, source: Source, split: str) -> Iterator[Row]:
        """The rows of a split; in a file without labels the row's number replaces the label."""
        if isinstance(source, Snapshot):
            return self.hub_rows(self.hub, source.checked_files(split))
        layout, paths = self._layout(Path(source), split)
        return layout.rows(paths)

    def unlabelled_files(self, folder: str | Path) -> dict[str, Path]:
        """The unlabelled files that are in a folder, by split."""
        paths = {}
        for split in self.unlabelled:
            for name in DIAGNOSTIC.get(split, (f"{split}.tsv",)):
                if split not in paths and (path := Path(folder) / name).is_file():
                    paths[split] = path
        return paths

    def missing_unlabelled(self, folder: str | Path) -> list[str]:
        """The names of the required unlabelled files that a folder lacks."""
        present = self.unlabelled_files(folder)
        return [f"{s}.tsv" for s in self.unlabelled if s not in present and s not in DIAGNOSTIC]

    def read(self, source: Source, split: str, tally: Tally | None = None) -> list[Example]:
        """The examples of an official split of a folder or a snapshot.

        Rows dropped or mended are counted in `tally`. Raises InputError, naming file and line, for
        anything that is not as published.
        """
        if split not in self.rows:
            known = ", ".join(self.rows)
            raise InputError(f"{self.name}: no labelled split {split!r}; it has {known}")
        if self.is_own and self.table:
            self._check_numbers(self.table.label, source, split)
        flaws: list[str] = []
        examples: list[Example] = []
        tally = tally or Tally()
        for row in self.read_rows(source, split):
            if self.csv_quoted:
                as_read = row
                row = row._replace(first=unquoted(row.first), second=unquoted(row.second))
                tally.unquoted += row != as_read
            example, reason, flaw = self._example(row, split)
            if flaw:
                flaws.append(f"{row.path}:{row.line}: {flaw}")
                if not (self.tolerated and reason):
                    raise InputError(flaws[-1])
            if reason:
                tally.dropped[reason] += 1
            else:
                examples.append(example)
        if len(flaws) > max(3, self.tolerated * len(examples)):
            raise InputError(f"{flaws[0]}; {len(flaws)} such rows are too many")
        if not examples:
            path = self.files(source, split)[0]
            remedy = "add rows below the names" if self.is_own else self.obtain
            raise InputError(f"{path}: split {split!r} has no usable row; {remedy}")
        return examples

    def read_unlabelled(self, source: Source) -> dict[str, list[Example]]:
        """All rows without public labels, by split; every label is -1.

        A guid ends in the row's official index. A malformed row of QQP, whose other files have a
        few, gets empty texts. Raises InputError, naming file and line, for a missing file or
        column, and for rows that are not numbered from 0 on.
        """
        folder = None if isinstance(source, Snapshot) else source
        if folder is not None and (missing := self.missing_unlabelled(folder)):
            raise InputError(
                f"{source}: {' and '.join(missing)} needed; {self.obtain}, or set "
                "experiment.submission to false"
            )
        mend = unquoted if self.csv_quoted else str
        splits: dict[str, list[Example]] = {}
        for split in self.unlabelled if folder is None else self.unlabelled_files(folder):
            examples: list[Example] = []
            malformed = 0
            for at, row in enumerate(self.read_rows(source, split)):
                malformed += bool(row.flaw)
                if malformed > (max(3, self.tolerated * (at + 1)) if self.tolerated else 0):
                    raise wrong(row.path, row.line, row.flaw)
                number = row.label
                if folder is None:  # the hub, where a labelled row is not an unlabelled one
                    hidden = split not in self.hub.unlabelled or row.label in ("-1", "-1.0")
                    number = row.key if hidden else f"labelled {row.label}"
                if not row.flaw and number != str(at):
                    numbering = f"{self.unlabelled_index} is {number!r}, expected {at}"
                    remedy = "rows are missing, moved or labelled: download the file again"
                    raise wrong(row.path, row.line, f"{numbering}; {remedy}")
                first, second = mend(row.first).strip(), mend(row.second).strip()
                examples.append(Example(f"{self.name}/{split}/{at}", first, second, (), UNLABELLED))
            if not examples:
                raise InputError(f"{self.files(source, split)[0]}: no rows; {self.obtain}")
            splits[split] = examples
        return splits

    def _layout(self, folder: Path, split: str) -> tuple[Layout, list[Path]]:
        if not os.path.isdir(folder):  # False also for a name that is too long
            raise InputError(f"{folder}: no such folder; {self.obtain}")
        layouts, root = self.layouts, folder
        if split in self.unlabelled:
            assert self.table, f"{self.name} has no table"
            numbered = replace(self.table, label=self.unlabelled_index, names=())
            names = DIAGNOSTIC.get(split, (f"{split}.tsv",))
            layouts = tuple(replace(numbered, files=name) for name in names)
            root = folder.parent  # MNLI's diagnostic set may lie beside the task's folder
        for layout in layouts:
            paths = layout.find(folder, split)
            if len(paths) > 1 and not self.groups:  # only RACE has many files per split
                both, pattern = " and ".join(repr(p.name) for p in paths), layout.pattern(split)
                raise InputError(f"{folder}: {both} both match {pattern}; keep only the right one")
            if paths:  # files that are named one by one may lie anywhere
                return layout, inside(root, paths) if isinstance(layout.files, str) else paths
        patterns = " or ".join(layout.pattern(split) for layout in layouts)
        raise InputError(f"{folder}: no file {patterns}; {self.obtain}")

    def _check_numbers(self, label: str, source: Source, split: str) -> None:
        """Raise InputError if a parquet file names its labels' numbers unlike those of train."""
        named: dict[Path, list[str]] = {}
        for path in (*self.files(source, self.train), *self.files(source, split)):
            if path.suffix == ".parquet":
                with open_parquet(path, "write it again") as file:
                    if names := class_names(file, label):
                        named[path] = names
        for path, names in named.items():
            first, known = next(iter(named.items()))
            if names != known:
                raise InputError(
                    f"{path}: labels 0, 1, .. are named {', '.join(names)}, in {first} "
                    f"{', '.join(known)}; write both with one order"
                )

    def _example(self, row: Row, split: str) -> tuple[Example, str, str]:
        """A row's example, the reason to drop it and its flaw; the latter two empty if none."""
        first, second = row.first.strip(), row.second.strip()
        choices = tuple(choice.strip() for choice in row.choices)
        pair = (first, second) if self.family in ("entailment", "similarity") else (first,)
        word = row.label.strip()
        label = self._label(word)
        reason, flaw = row.reason, row.flaw
        if not flaw and word in self.no_gold_label:
            # The annotators did not agree. The authors left such rows out too.
            reason = NO_GOLD_LABEL
        elif not flaw and any(is_blank(text) for text in (*pair, *choices)):
            reason, flaw = "empty text", "empty text; remove the row or restore it"
        elif not flaw and row.group and row.group not in self.groups:
            flaw = f"{row.group!r:.60} is none of {', '.join(self.groups)}; move its folder away"
        elif not flaw and label is None:
            known = f"{self.name} has {', '.join(self.coding or self.labels)}"
            expected = "expected a score from 0 to 5" if self.soft_labels else known
            remedy = (
                "correct the row" if self.soft_labels else "correct the row, or list it in labels"
            )
            if not self.is_own:
                remedy = OWN_ROWS
            elif self._label(word.strip('"')) is not None:
                remedy = "name the file .csv, or write it without quotation marks"
            elif self._label(first) is not None:
                remedy = "exchange text and label in columns or in the file"
            flaw = f"label {word!r:.60} is unknown; {expected}; {remedy}"
        guid = f"{self.name}/{split}/{row.key}"
        label = UNLABELLED if label is None else label
        return Example(guid, first, second, choices, label, row.group), reason, flaw

    def _label(self, word: str) -> int | float | None:
        """The label that a file's word stands for; None for an unknown word."""
        if not self.soft_labels:
            known = {**{name: k for k, name in enumerate(self.labels)}, **self.coding}
            return known.get(word, known.get(as_read(word)))
        # `float` alone would also accept `0_4` and digits of other scripts.
        if not SCORE.fullmatch(word):
            return None
        # The hub stores scores in 32 bits: keep only the digits that both layouts have.
        score = round(float(word), 4)
        return score if score <= 5.0 else None
