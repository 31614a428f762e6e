"""What the rules and the analysis know about a run: its studies, tasks, seeds and language models.

Light on purpose (no torch, no pandas), because the Snakefile plans with it.
"""

from functools import cached_property
from typing import Literal

from pydantic import Field

import tasks
from gpt1.cell import (
    PERMUTED,
    SHUFFLED,
    UNCHANGED,
    WORD_VECTORS,
    Arch,
    Cell,
    Corpus,
    NTransfer,
    PretrainedModel,
    needs_model,
)
from gpt1.settings import ScoreRange
from tasks import Task
from tasks.common.settings import Settings
from tasks.prompt import Scoring
from tasks.settings import OwnTask
from workflow.configuration.sections import Margins, Seeds

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


class Variant(Settings):
    """A variant of the run: what its cells start from and how they are trained.

    `n_layer` is the depth of its model and `corpus` what the model has read, or what has become of
    its embeddings. The cells start from the language models of the variant `model` after `update`,
    one for each of the seeds `pretrain`. It is `plain` if it differs from the run only by the
    paper's ablations (`arch`, `n_transfer`, no auxiliary loss) or as a control does (`corpus`, and
    then `pretrain`).
    """

    name: str
    arch: Arch
    n_transfer: NTransfer
    n_layer: int
    aux: Aux
    corpus: Corpus
    model: str
    update: int
    pretrain: list[int]
    plain: bool

    @property
    def columns(self) -> dict[str, str]:
        """The columns that describe it in tables."""
        return {name: str(getattr(self, name)) for name in ("arch", "aux", "n_transfer", "corpus")}

    @property
    def is_control(self) -> bool:
        """Whether it is a negative control."""
        return self.corpus not in ("books", WORD_VECTORS)

    def models(self) -> list[PretrainedModel]:
        """The language models that its seeds start from, in turn; none if it needs no model."""
        if not needs_model(self.n_transfer, self.corpus):
            return []
        permuted = self.corpus == PERMUTED
        return [PretrainedModel(self.arch, seed, self.model, permuted) for seed in self.pretrain]


class Point(Settings):
    """A variant of a study, by its title, at a value of its axis; both are empty without one.

    It is compared with the variant titled `minus`, or with the study's first if that is empty.
    """

    line: str
    axis: str = ""
    value: str = ""
    variant: Variant
    minus: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """The variant's title and the value of the axis."""
        return self.line, self.value

    @property
    def at(self) -> str:
        """The axis and its value, such as `lm_coef 0.5`."""
        return f"{self.axis} {self.value}".strip()

    @property
    def row(self) -> str:
        """What its row in a table is called."""
        return ", ".join(filter(None, (self.line, self.at)))


class StudyPlan(OfTasks):
    """A study: each of its points on each of its tasks is a cell.

    `axis` is the short name of the key that varies, such as `lm_coef`, and `order` has all of its
    values, the study's own first. `references` names those without an axis. `skills` maps a
    task to the skills of cloze items that teach it. `seeds` are those of fine-tuning.
    """

    title: str
    axis: str = ""
    order: list[str] = []
    references: list[str] = []
    points: list[Point] = Field(min_length=1)
    expected: list[str] = []
    skills: dict[str, list[str]] = {}
    seeds: list[int] = []

    @property
    def is_compared(self) -> bool:
        """Whether any variant is compared with another variant than the first."""
        return any(point.minus for point in self.points)

    @property
    def lines(self) -> list[str]:
        """The titles of the lines, without the references."""
        titles = dict.fromkeys(point.line for point in self.points)
        return [title for title in titles if title not in self.references]

    @property
    def values(self) -> list[str]:
        """The values of the points, in order."""
        found = dict.fromkeys(point.value for point in self.points if point.value)
        return sorted(found, key=lambda value: [*self.order, value].index(value))

    def cells(self) -> list[Cell]:
        """Every cell once."""
        names = dict.fromkeys(point.variant.name for point in self.points)
        return [Cell(name, task) for name in names for task in self.tasks]


class StudyHead(Settings):
    """What the page says about a study, whether or not it was run."""

    name: str
    heading: str
    question: str = ""


class PagePlan(Settings):
    """What the page of a run shows: its tables and figures, and the studies besides the paper's."""

    tables: list[str]
    figures: list[str]
    studies: list[StudyHead] = []


class ZeroShot(OfTasks):
    """The tasks of the zero-shot figure and the scores that count as 0 and 1."""

    normalise: dict[str, ScoreRange]

    def scorings(self, name: str) -> list[Scoring]:
        """How a task is scored zero-shot; empty without a prompt."""
        prompt = self.task(name).prompt
        return prompt.scorings if prompt else []

    def of(self, scoring: Scoring) -> list[str]:
        """The tasks that are scored in this way."""
        return [name for name in self.tasks if scoring in self.scorings(name)]


class Grid(OfTasks):
    """Everything that the rules and the analysis know about a run; made by `Plan.grid`.

    `studies` are those that the run makes. `examples` are all tasks whose rows are read (the run's
    and the zero-shot tasks), `updates` the pre-training updates that have a checkpoint,
    `unlabelled` the GLUE tasks whose test rows are predicted; `synthetic` are the tasks whose rows
    come from the synthetic world, so that no published score is comparable; `has_corpus` is False
    for published weights, whose corpus is not available. `margins` are those of claims, `n_ctx` is
    that of the run's own models.
    """

    studies: dict[str, StudyPlan]
    seeds: Seeds
    examples: list[str]
    updates: list[int]
    zero_shot: ZeroShot
    unlabelled: list[str]
    synthetic: list[str] = []
    margins: Margins = Margins()
    n_ctx: int = 512
    has_corpus: bool
    scale: str = ""  # corpus and models in words, for the heading of the claims

    @cached_property
    def variants(self) -> dict[str, Variant]:
        """The variants of all studies, by name."""
        points = (point for study in self.studies.values() for point in study.points)
        return {point.variant.name: point.variant for point in points}

    def find(
        self,
        arch: Arch = "transformer",
        aux: Aux = "on",
        n_transfer: NTransfer | Literal["all"] = "all",
        corpus: Corpus = "books",
    ) -> Variant | None:
        """The plain variant with these settings; None if the run has no such variant."""
        for variant in self.variants.values():
            n = variant.n_layer if n_transfer == "all" else n_transfer
            asked = (arch, aux, n, corpus)
            if (
                variant.plain
                and (variant.arch, variant.aux, variant.n_transfer, variant.corpus) == asked
            ):
                return variant
        return None

    def variant(self, cell: Cell) -> Variant:
        """The variant of a cell of the run."""
        return self.variants[cell.variant]

    @property
    def of_books(self) -> list[Variant]:
        """The plain variants except negative controls and word vectors."""
        return [of for of in self.variants.values() if of.plain and of.corpus == "books"]

    @property
    def arch(self) -> list[Arch]:
        """The architectures of the run's own language models."""
        return list(dict.fromkeys(variant.arch for variant in self.of_books))

    @cached_property
    def table_5(self) -> list[Variant]:
        """The variants of Table 5."""
        return [point.variant for point in self.studies["ablation"].points]

    @property
    def aux(self) -> list[Aux]:
        """Whether Table 5 has the full transformer with the auxiliary LM loss, without it, or both.

        Figure 2 may have it without where Table 5 does not; but Tables 2 to 4 read Table 5's cells.
        """
        both: tuple[Aux, Aux] = ("on", "off")
        return [aux for aux in both if self.find(aux=aux) in self.table_5]

    @property
    def n_layer(self) -> dict[Arch, int]:
        """The depth of the run's own language models, by architecture."""
        return {of.arch: of.n_layer for of in self.of_books}

    def sweep(self, arch: Arch, aux: Aux) -> list[NTransfer]:
        """The numbers of transferred layers in Figure 2 (left), none first and all last."""
        figure = self.studies.get("layer_transfer")
        numbers = {
            of.n_transfer
            for of in (point.variant for point in (figure.points if figure else ()))
            if of in self.of_books and (of.arch, of.aux) == (arch, aux)
        }
        return sorted(numbers, key=lambda n: -1 if n == "none" else n)

    def cells(self) -> list[Cell]:
        """Every cell once, by architecture, task, auxiliary loss and layers; controls last."""
        archs = list(dict.fromkeys(variant.arch for variant in self.variants.values()))

        def order(cell: Cell) -> tuple[bool, int, int, bool, int]:
            variant = self.variants[cell.variant]
            depth = -1 if variant.n_transfer == "none" else variant.n_transfer
            rank = archs.index(variant.arch), self.tasks.index(cell.task)
            return variant.is_control, *rank, variant.aux == "off", depth

        every = {cell for study in self.studies.values() for cell in study.cells()}
        return sorted(every, key=lambda cell: (*order(cell), cell.variant))

    def models(self) -> list[PretrainedModel]:
        """The run's own language models, by architecture and seed."""
        return [PretrainedModel(arch, seed) for arch in self.arch for seed in self.seeds.pretrain]

    def all_models(self) -> dict[PretrainedModel, Corpus]:
        """The run's own language models, then those of shuffled books, with the corpus of each."""
        every = self.variants.values()
        controls = [of for of in every if of.plain and of.corpus in SHUFFLED.values()]
        of_books: dict[PretrainedModel, Corpus] = dict.fromkeys(self.models(), "books")
        return of_books | {
            model: variant.corpus for variant in controls for model in variant.models()
        }

    def is_pooled(self, cell: Cell) -> bool:
        """Whether the cell's seeds are pooled with those of other cells.

        Only plain ones of Table 5 that transfer nothing or everything are, whatever else the run
        has; of an architecture that Table 5 lacks, those of other studies. How a control's model of
        shuffled books varies with the seed says nothing about the others.
        """
        ends = [
            variant for variant in self.of_books if variant.n_transfer in ("none", variant.n_layer)
        ]
        archs = {of.arch for of in self.table_5}
        pooled = [
            variant for variant in ends if variant in self.table_5 or variant.arch not in archs
        ]
        return cell.variant in [variant.name for variant in pooled]

    def pooled(self, study: StudyPlan) -> list[Cell]:
        """The run's own cells whose seeds are pooled for a study."""
        archs = {point.variant.arch for point in study.points}
        return [
            cell
            for cell in filter(self.is_pooled, self.cells())
            if cell.task in study.tasks and self.variant(cell).arch in archs
        ]

    def full_transformer(self) -> list[Cell]:
        """The cells of the paper's Tables 2 to 4: the transformer with all layers transferred."""
        variants = [self.find(aux=aux) for aux in self.aux]
        return [cell for cell in self.cells() if self.variant(cell) in variants]

    def own_cells(self) -> list[Cell]:
        """The full model's cells, the first of Table 5, on the user's own tasks with labels."""
        own = [n for n in self.tasks if n in self.own and not self.task(n).soft_labels]
        return [Cell(self.table_5[0].name, name) for name in own]

    def submitted(self) -> list[Cell]:
        """The cells whose predictions are submitted to GLUE."""
        return [Cell(UNCHANGED, name) for name in self.unlabelled]
