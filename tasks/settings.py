"""Typed settings of the data: its source, which rows are used, and a task of the user's own."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from tasks.common.errors import InputError
from tasks.common.settings import Commit, Count, DataPath, Settings, SplitName, unique
from tasks.hub import HubSource
from tasks.prompt import Prompt, parts
from tasks.read import Table, word
from tasks.task import Task

Kind = Literal["classification", "pair", "similarity", "multiple_choice"]
SCORES = tuple("012345")  # the classes that scores of 0 to 5 lie between
FURTHER = {"pearson": "spearman", **dict.fromkeys(("f1", "macro_f1", "matthews"), "accuracy")}
CARVED = {"train": 0.8, "test": 0.2}  # shares of a single file
Word = Annotated[str, BeforeValidator(word)]


class Columns(Settings):
    """The columns, or JSON keys, to read from a task's files."""

    text: str = "text"
    """the text; for multiple choice, the document or story"""
    second: str = ""
    """the second text (default for pair and similarity: second); for multiple choice, the question,
    if there is one"""
    choices: str | Annotated[list[str], unique] = []
    """for multiple choice, the columns of the choices, or the single column that holds a list of
    them"""
    label: str = "label"
    """the label; for multiple choice, which choice is right"""


class OwnTask(Settings):
    """A user's own task; none of these keys is given for one of the suite's tasks."""

    kind: Kind | None = None
    """makes this a task of your own: classification (of one text), pair (two texts, ordered),
    similarity (two texts in either order) or multiple_choice"""
    title: str = ""
    """the task's name in tables and figures (default: its key)"""
    files: DataPath | dict[Literal["train", "dev", "test"], DataPath] | None = None
    """the labelled files, such as {train: train.csv, dev: dev.csv, test: test.csv}, below folder or
    absolute: .csv, .tsv (without quoting), .jsonl or .parquet; test is reported, or else dev, or
    else a fifth of the rows of train, which may be given alone. With source: hub, patterns of file
    names in the repository"""
    repo: Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+$")] | None = None
    """with source: hub, its repository, such as nyu-mll/glue; it needs a revision too"""
    columns: Columns = Columns()
    labels: Annotated[list[Word], unique] | dict[Word, Word] = []
    """the label words in the files, such as [bad, fair, good], or a mapping from them to names,
    such as {0: bad, 1: good}; for multiple choice, the words for the choices, in their order
    (default: 0, 1, ...)"""
    metric: Literal["accuracy", "macro_f1", "f1", "matthews", "pearson"] = "accuracy"
    """for rare labels macro_f1, the mean F1 of all; f1 (of the second label) and matthews need two
    labels; pearson needs scores from 0 to 5 in place of labels"""
    prompt: str | None = None
    """the zero-shot prompt of a language model: the text before the choices, with columns in
    braces, such as "{review} All in all it was" (null: no zero-shot evaluation)"""
    choices: list[Annotated[str, Field(min_length=1)]] = []
    """the choices of the prompt, in the order of the labels; they may have columns too (default:
    the labels; for multiple choice, the row's own choices)"""

    @model_validator(mode="after")
    def _check_own(self) -> Self:
        for fault in self._faults():
            raise ValueError(fault)
        return self

    def _faults(self) -> Iterator[str]:
        if not self.kind:
            fields = OwnTask.model_fields.items()
            given = (key for key, field in fields if getattr(self, key) != field.default)
            yield from (f"{key}: is of a task of your own; give its kind as well" for key in given)
            return
        is_score, n = self.metric == "pearson", len(self.names)
        if "train" not in self.by_split:
            yield "files: none to train on; give {train: FILE, test: FILE}, or one file"
        if is_score and (self.labels or self.kind == "multiple_choice"):
            yield "metric: pearson is of scores from 0 to 5; give accuracy where there are labels"
        if n < 2:
            yield "labels: fewer than two; give the words that stand in the files"
        if self.metric in ("f1", "matthews") and n != 2:
            yield f"metric: {self.metric} is of two labels; give accuracy"
        if self.kind == "classification" and self.columns.second:
            yield "columns: second is of two texts; give kind: pair, or leave second out"
        if (self.kind == "multiple_choice") != bool(self.columns.choices):
            yield "columns: choices are those of multiple_choice; give either both or neither"
        if self.choices and (self.prompt is None or (len(self.choices) != n and not is_score)):
            yield f"choices: give a prompt and {n} of them, one for each label"
        if is_score and len(self.choices) == 1:
            yield "choices: give two or more, from the lowest score to the highest"

    @property
    def by_split(self) -> Mapping[str, str]:
        """The files by split; a single file is the training split."""
        files = {"train": self.files} if isinstance(self.files, str) else self.files or {}
        return {str(split): path for split, path in files.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the labels, in order."""
        if self.metric == "pearson":
            return SCORES
        if self.kind == "multiple_choice" and not self.labels:
            columns = self.columns.choices
            return tuple(map(str, range(len(columns)))) if isinstance(columns, list) else ()
        words = self.labels.values() if isinstance(self.labels, dict) else self.labels
        return tuple(dict.fromkeys(words))

    @property
    def second(self) -> str:
        """The column of the second text; empty without one."""
        is_pair = self.kind in ("pair", "similarity")
        return "" if self.kind == "classification" else self.columns.second or "second" * is_pair


def own_task(name: str, of: OwnTask) -> Task:
    """The task that the config describes, without any published numbers.

    Raises InputError for an invalid prompt.
    """
    files, columns, labels = of.by_split, of.columns, of.names
    choices = [columns.choices] if isinstance(columns.choices, str) else columns.choices
    layout = Table(
        *(files, columns.text, columns.label, of.second),
        choices=tuple(choices),
        n_choices=len(labels) if choices else 0,
    )
    splits = dict.fromkeys([*files, *(CARVED if len(files) == 1 else ())], 0)
    coding = of.labels if isinstance(of.labels, dict) else {}
    try:
        prompt = _prompt(of)
    except ValueError as error:
        raise InputError(f"prompt: {error}") from None
    return Task(
        name=name,
        title=of.title or name,
        family="entailment" if of.kind == "pair" else of.kind or "",
        labels=labels,
        coding={word: labels.index(label) for word, label in coding.items()},
        layouts=(layout,),
        report=("test",) if "test" in splits else ("dev",),
        rows=splits,
        metrics=(of.metric, FURTHER[of.metric]) if of.metric in FURTHER else (of.metric,),
        prompt=prompt,
        obtain="give its path in files",
        hub=HubSource(
            name=name,
            licence="that of the repository" if of.repo else "yours to state",
            repo=of.repo or "",
            config=", ".join(files.values()),
            files={split: (pattern,) for split, pattern in files.items()},
            by_hand="give repo",
        ),
        hub_rows=lambda _, paths: layout.rows(paths),
    )


def _prompt(of: OwnTask) -> Prompt | None:
    """The task's prompt, with the columns of its files replaced by the fields of a `Row`."""
    if of.prompt is None:
        return None
    names = {of.columns.text: "first", **({of.second: "second"} if of.second else {})}

    def over_rows(template: str) -> str:
        found = list(parts(template))
        if unknown := [column for _, column in found if column not in (None, *names)]:
            known = ", ".join(f"{{{name}}}" for name in names)
            raise ValueError(f"no column {unknown[0]!r:.60} is read; give {known}")
        return "".join(w + (f"{{{names[column]}}}" if column else "") for w, column in found)

    choices = of.choices or (() if of.kind == "multiple_choice" else of.names)
    for choice in choices:
        if not any(words.strip() for words, _ in parts(choice)):
            raise ValueError(f"the choice {choice!r:.60} has no words beside columns; add some")
    if choices and not any(column for text in (of.prompt, *choices) for _, column in parts(text)):
        example = f"{{{of.columns.text}}}"
        raise ValueError(f"{of.prompt!r:.60} names no column; give one in braces, as {example}")
    return Prompt(over_rows(of.prompt), choices=tuple(map(over_rows, choices)))


class DataSource(Settings):
    """Where a data set comes from: a folder of the published files, or the Hugging Face hub."""

    folder: DataPath | None = None
    """the data set's folder: under the data folder, or, with the synthetic world, where the run
    starts"""
    source: Literal["hub"] | None = None
    """in place of folder: hub, for the Hugging Face hub"""
    revision: Commit | None = None
    """the commit of the hub's repository, 40 hexadecimal digits (default: the one that the task
    names)"""
    min_rows: dict[SplitName, Count] | None = None
    """if the files are a subset of the published ones, the minimum number of rows per split, such
    as {test: 9818}"""


class TaskRows(DataSource):
    """A task's source and which of its rows are used."""

    limit_train: Count | None = None
    """maximum number of training rows"""
    limit_report: Count | None = None
    """maximum number of rows of each reported split, and of an official split that selects the
    epoch"""
    train_from: SplitName | None = None
    """the official split to train on (default: the task's own)"""
    carve: dict[SplitName, Annotated[float, Field(gt=0, lt=1)]] | None = None
    """for a task with a single labelled file, that of train_from: the shares of its rows to train
    on and to report, such as {train: 0.8, dev: 0.2}; rows that share a sentence, question or
    article stay together"""
    report_on: Annotated[list[SplitName], Field(min_length=1), unique] | None = None
    """the official splits to report (default: the task's own)"""


class PrepareSettings(TaskRows):
    """The settings of `tasks.prepare` for one task.

    `own` describes a user's own task. `published` is False for own tasks and for the synthetic
    world, where no published number applies. `unlabelled` adds GLUE's test rows, whose labels are
    not public, as further splits.
    """

    own: OwnTask | None = None
    published: bool = True
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    select_fraction: Annotated[float, Field(gt=0, lt=1)] = 0.1
    unlabelled: bool = False

    @property
    def is_made(self) -> bool:
        """Whether the rows come from the synthetic world."""
        return not self.published and not self.own
