"""What the rules and the analysis know about a run: its studies, tasks, seeds and language models.

Light on purpose (no torch, no pandas), because the Snakefile plans with it.
"""

from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field

from gpt1.cell import (
    FULL,
    SHUFFLED,
    Arch,
    Cell,
    Corpus,
    NTransfer,
    PretrainedModel,
)
from gpt1.settings import ScoreRange, Seed
from tasks.common.settings import Settings, unique
from tasks.prompt import Scoring
from workflow.study_plan import Aux, Line, OfTasks, StudyPlan

SeedList = Annotated[list[Seed], Field(min_length=1, max_length=1000), unique]


class Seeds(Settings):
    """Seeds of pre-training and of fine-tuning, paired by position."""

    pretrain: SeedList = [0]
    """Seeds of pre-training (weights, windows and dropout), one model each."""
    finetune: SeedList = [0, 1, 2]
    """Seeds of fine-tuning, the same in every cell; the i-th starts from the i-th seed of pretrain,
    cycling through them if there are fewer."""

    def sources(self) -> list[int]:
        """The pre-training seeds that cells start from, at most as many as for fine-tuning."""
        return self.pretrain[: len(self.finetune)]


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


class Margins(Settings):
    """Differences, in points, that are too small to matter; stated before the run."""

    task: Annotated[float, Field(gt=0)] = 5.0
    """For a single task."""
    mean: Annotated[float, Field(gt=0)] = 2.0
    """For an average over tasks."""


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
    def lines(self) -> dict[str, Line]:
        """The lines of all studies, by name."""
        points = (point for study in self.studies.values() for point in study.points)
        return {point.of.name: point.of for point in points}

    def find(
        self,
        arch: Arch = "transformer",
        aux: Aux = "on",
        n_transfer: NTransfer | Literal["all"] = "all",
        corpus: Corpus = "books",
    ) -> Line | None:
        """The plain line with these settings; None if the run has no such line."""
        for line in self.lines.values():
            n = line.n_layer if n_transfer == "all" else n_transfer
            asked = (arch, aux, n, corpus)
            if line.plain and (line.arch, line.aux, line.n_transfer, line.corpus) == asked:
                return line
        return None

    def line(self, cell: Cell) -> Line:
        """The line of a cell of the run."""
        return self.lines[cell.line]

    @property
    def of_books(self) -> list[Line]:
        """The plain lines except negative controls and word vectors."""
        return [line for line in self.lines.values() if line.plain and line.corpus == "books"]

    @property
    def arch(self) -> list[Arch]:
        """The architectures of the run's own language models."""
        return list(dict.fromkeys(line.arch for line in self.of_books))

    @cached_property
    def table_5(self) -> list[Line]:
        """The lines of Table 5."""
        return [point.of for point in self.studies["ablation"].points]

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
        return {line.arch: line.n_layer for line in self.of_books}

    def sweep(self, arch: Arch, aux: Aux) -> list[NTransfer]:
        """The numbers of transferred layers in Figure 2 (left), none first and all last."""
        figure = self.studies.get("layer_transfer")
        lines = [point.of for point in figure.points if point.of in self.of_books] if figure else []
        numbers = {line.n_transfer for line in lines if (line.arch, line.aux) == (arch, aux)}
        return sorted(numbers, key=lambda n: -1 if n == "none" else n)

    def controls(self) -> list[Corpus]:
        """The corpora of the negative controls."""
        return list(dict.fromkeys(line.corpus for line in self.lines.values() if line.is_control))

    def cells(self) -> list[Cell]:
        """Every cell once, by architecture, task, auxiliary loss and layers; controls last."""
        archs = list(dict.fromkeys(line.arch for line in self.lines.values()))

        def order(cell: Cell) -> tuple[bool, int, int, bool, int]:
            line = self.lines[cell.line]
            depth = -1 if line.n_transfer == "none" else line.n_transfer
            rank = archs.index(line.arch), self.tasks.index(cell.task)
            return line.is_control, *rank, line.aux == "off", depth

        every = {cell for study in self.studies.values() for cell in study.cells()}
        return sorted(every, key=lambda cell: (*order(cell), cell.line))

    def parts(self) -> dict[str, list[Cell]]:
        """The cells by the part they are resampled in: `ARCH_STUDY`, the first study with the cell.

        Thus a table waits only for the cells that it reads.
        """
        parts: dict[str, list[Cell]] = {}
        sampled: set[Cell] = set()
        for name, study in self.studies.items():
            for cell in study.cells():
                if cell not in sampled:
                    parts.setdefault(f"{self.line(cell).arch}_{name}", []).append(cell)
                    sampled.add(cell)
        return parts

    def models(self) -> list[PretrainedModel]:
        """The run's own language models, by architecture and seed."""
        return [PretrainedModel(arch, seed) for arch in self.arch for seed in self.seeds.pretrain]

    def all_models(self) -> dict[PretrainedModel, Corpus]:
        """The run's own language models, then those of shuffled books, with the corpus of each."""
        controls = [
            line for line in self.lines.values() if line.plain and line.corpus in SHUFFLED.values()
        ]
        of_books: dict[PretrainedModel, Corpus] = dict.fromkeys(self.models(), "books")
        return of_books | {model: line.corpus for line in controls for model in line.models()}

    def is_pooled(self, cell: Cell) -> bool:
        """Whether the cell's seeds are pooled with those of other cells.

        Only plain lines of Table 5 that transfer nothing or everything are, whatever else the run
        has; of an architecture that Table 5 lacks, those of other studies. How a control's model of
        shuffled books varies with the seed says nothing about the others.
        """
        ends = [line for line in self.of_books if line.n_transfer in ("none", line.n_layer)]
        archs = {line.arch for line in self.table_5}
        pooled = [line for line in ends if line in self.table_5 or line.arch not in archs]
        return cell.line in [line.name for line in pooled]

    def pooled(self, study: StudyPlan) -> list[Cell]:
        """The run's own cells whose seeds are pooled for a study."""
        archs = {point.of.arch for point in study.points}
        return [
            cell
            for cell in filter(self.is_pooled, self.cells())
            if cell.task in study.tasks and self.line(cell).arch in archs
        ]

    def full_transformer(self) -> list[Cell]:
        """The cells of the paper's Tables 2 to 4: the transformer with all layers transferred."""
        lines = [self.find(aux=aux) for aux in self.aux]
        return [cell for cell in self.cells() if self.line(cell) in lines]

    def own_cells(self) -> list[Cell]:
        """The full model's cells, the first of Table 5, on the user's own tasks with labels."""
        own = [n for n in self.tasks if n in self.own and not self.task(n).soft_labels]
        return [Cell(self.table_5[0].name, name) for name in own]

    def submitted(self) -> list[Cell]:
        """The cells whose predictions are submitted to GLUE."""
        cells = (cell for cell in self.cells() if cell.line == FULL)
        return [cell for cell in cells if cell.task in self.unlabelled]


def checkpoint_updates(updates: int, n: int) -> list[int]:
    """0, the untrained model, and `n` log-spaced updates from 1 % of `updates` (or 1) to the last.

    Strictly increasing; fewer than `n` if `updates` is too small for that many.
    """
    first = max(1, round(updates / 100))
    spaced = (round(first * (updates / first) ** (i / (n - 1))) for i in range(n - 1))
    return sorted({0, *spaced, updates})
