"""The plan of a study: its points, each a line at a value of the axis, and its tasks.

Light, like `workflow.grid`, because the Snakefile plans with it.
"""

from typing import Literal

from pydantic import Field

import tasks
from gpt1.cell import (
    PERMUTED,
    VECTORS,
    Arch,
    Cell,
    Corpus,
    NTransfer,
    PretrainedModel,
    needs_model,
)
from tasks import Task
from tasks.common.settings import Settings
from tasks.own import OwnTask

Aux = Literal["on", "off"]  # with or without the auxiliary LM loss


class OfTasks(Settings):
    """A list of tasks by name; `own` describes those that are the user's own."""

    tasks: list[str]
    own: dict[str, OwnTask] = {}

    def task(self, name: str) -> Task:
        """The task of that name. Raises InputError if there is none."""
        return tasks.task(name, self.own.get(name))

    @property
    def titles(self) -> str:
        """The titles of all tasks, separated by commas."""
        return ", ".join(map(self.shown, self.tasks))

    def shown(self, name: str) -> str:
        """A task's title, or the number of tasks in a mean (`avg`: the paper's eight)."""
        if name in ("avg", "avg_all", "mean"):
            n = 8 if name == "avg" else len(self.tasks)
            return f"mean of {n} task{'s' * (n > 1)}"
        return self.task(name).title


class Line(Settings):
    """A line of the run: what its cells start from and how they are trained.

    `n_layer` is the depth of its model and `corpus` what the model has read, or what has become of
    its embeddings. The cells start from the language models of the variant `model`, one for each of
    the seeds `pretrain`. A line is `plain` if it differs from the run only by the paper's ablations
    (`arch`, `n_transfer`, no auxiliary loss) or as a control does (`corpus`, and then `pretrain`).
    """

    name: str
    arch: Arch
    n_transfer: NTransfer
    n_layer: int
    aux: Aux
    corpus: Corpus
    model: str
    pretrain: list[int]
    plain: bool

    @property
    def columns(self) -> dict[str, str]:
        """The columns that describe it in tables."""
        return {name: str(getattr(self, name)) for name in ("arch", "aux", "n_transfer", "corpus")}

    @property
    def is_control(self) -> bool:
        """Whether it is a negative control."""
        return self.corpus not in ("books", VECTORS)

    def models(self) -> list[PretrainedModel]:
        """The language models that its seeds start from, in turn; none if it needs no model."""
        if not needs_model(self.n_transfer, self.corpus):
            return []
        permuted = self.corpus == PERMUTED
        return [PretrainedModel(self.arch, seed, self.model, permuted) for seed in self.pretrain]


class Point(Settings):
    """A line of a study, by its title, at a value of the axis; `value` is empty without one.

    It is compared with the line titled `minus`, or with the study's first if that is empty.
    """

    line: str
    value: str = ""
    of: Line
    minus: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """The line's title and the value of the axis."""
        return self.line, self.value


class StudyPlan(OfTasks):
    """A study: each of its points on each of its tasks is a cell.

    `axis` is the short name of the key that varies, such as `lm_coef`. `references` names the lines
    that have no axis. `skills` maps a task to the skills of cloze items that teach it. `seeds` are
    those of fine-tuning.
    """

    title: str
    axis: str = ""
    references: list[str] = []
    points: list[Point] = Field(min_length=1)
    expected: list[str] = []
    skills: dict[str, list[str]] = {}
    seeds: list[int] = []

    @property
    def is_compared(self) -> bool:
        """Whether any line is compared with another line than the first."""
        return any(point.minus for point in self.points)

    @property
    def lines(self) -> list[str]:
        """The titles of the lines, without the references."""
        titles = dict.fromkeys(point.line for point in self.points)
        return [title for title in titles if title not in self.references]

    @property
    def values(self) -> list[str]:
        """The values of the axis, in order."""
        return list(dict.fromkeys(point.value for point in self.points if point.value))

    def cells(self) -> list[Cell]:
        """Every cell once."""
        names = dict.fromkeys(point.of.name for point in self.points)
        return [Cell(name, task) for name in names for task in self.tasks]


class StudyHead(Settings):
    """What the page says about a study, whether or not it was run."""

    name: str
    heading: str
    question: str = ""
