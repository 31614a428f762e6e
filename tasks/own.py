"""What a config says of a task of one's own. `tasks.own_task` makes a `Task` of it."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from tasks.common.settings import DataPath, Settings, unique
from tasks.formats import word

Kind = Literal["classification", "pair", "similarity", "multiple_choice"]
SCORES = tuple("012345")  # the classes that scores of 0 to 5 lie between


Word = Annotated[str, BeforeValidator(word)]


class Columns(Settings):
    """The columns of a task's files, or the keys of their objects, that are read."""

    text: str = "text"
    """the text; of multiple choice the document or story"""
    second: str = ""
    """the second text (of a pair by default second); of multiple choice a question, if there is
    one"""
    choices: str | Annotated[list[str], unique] = []
    """of multiple choice the columns of the choices, or the one that holds a list of them"""
    label: str = "label"
    """the label; of multiple choice which choice is right"""


class OwnTask(Settings):
    """What a task of one's own is; for one of the suite's tasks nothing of it is given."""

    kind: Kind | None = None
    """what makes this a task of your own: classification (of one text), pair (two texts in their
    order), similarity (in either order) or multiple_choice"""
    title: str = ""
    """its name in tables and figures (by default its key)"""
    files: DataPath | dict[Literal["train", "dev", "test"], DataPath] | None = None
    """its labelled files, such as {train: train.csv, dev: dev.csv, test: test.csv}, below folder or
    absolute: .csv, .tsv (without quoting), .jsonl or .parquet; test is reported, or else dev, or
    else a fifth of the rows of train, which may be given alone. With source: hub patterns of names
    in the repository"""
    repo: Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+$")] | None = None
    """with source: hub its repository, such as nyu-mll/glue; it needs a revision, too"""
    columns: Columns = Columns()
    labels: Annotated[list[Word], unique] | dict[Word, Word] = []
    """the words for the labels in the files, such as [bad, fair, good]; with names for them {0:
    bad, 1: good}; of multiple choice those for the choices in their order (by default 0, 1, ...)"""
    metric: Literal["accuracy", "f1", "matthews", "pearson"] = "accuracy"
    """f1 (of the second label) and matthews need two labels; pearson, scores from 0 to 5 in place
    of labels"""
    prompt: str | None = None
    """how a language model is asked without training: what stands before the choices, with columns
    in braces, such as "{review} All in all it was" (null: it is not asked)"""
    choices: list[Annotated[str, Field(min_length=1)]] = []
    """what there is to choose from, in the order of the labels, perhaps with columns (by default
    the labels; of multiple choice the row's own)"""

    @model_validator(mode="after")
    def _check_own(self) -> Self:
        for fault in self._faults() if self.kind else self._without_kind():
            raise ValueError(fault)
        return self

    def _without_kind(self) -> Iterator[str]:
        for key, field in OwnTask.model_fields.items():
            if getattr(self, key) != field.default:
                yield f"{key}: is of a task of your own; give its kind as well"

    def _faults(self) -> Iterator[str]:
        is_score, n = self.metric == "pearson", len(self.names)
        if "train" not in self.by_split:
            yield "files: none to train on; give {train: FILE, test: FILE}, or one file"
        if is_score and (self.labels or self.kind == "multiple_choice"):
            yield "metric: pearson is of scores from 0 to 5; give accuracy where there are labels"
        if n < 2:
            yield "labels: fewer than two; give the words that stand in the files"
        if self.metric in ("f1", "matthews") and n != 2:
            yield f"metric: {self.metric} is of two labels; give accuracy"
        if (self.kind == "multiple_choice") != bool(self.columns.choices):
            yield "columns: choices are those of multiple_choice; give either both or neither"
        if self.choices and (self.prompt is None or (len(self.choices) != n and not is_score)):
            yield f"choices: give a prompt and {n} of them, one for each label"

    @property
    def by_split(self) -> Mapping[str, str]:
        """Its files; a single one trains."""
        files = {"train": self.files} if isinstance(self.files, str) else self.files or {}
        return {str(split): path for split, path in files.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its labels in their order."""
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
