"""The grid of cells, written once: what is trained, how it is cut into jobs, which seeds run.

Light on purpose (no torch, no pandas): the Snakefile plans with it and the analysis reads by it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from gpt1.cell import CORPORA, Arch, Aux, Cell, Corpus, NTransfer, PretrainedModel
from gpt1.settings import ScoreRange, Seed
from tasks.common.settings import Settings, unique

SeedList = Annotated[list[Seed], Field(min_length=1, max_length=1000), unique]
Shuffled = Literal["words", "sentences", "embeddings"]
CONTROLS: dict[Shuffled, Corpus] = {
    "words": "shuffled",
    "sentences": "sentences-shuffled",
    "embeddings": "permuted-embeddings",
}


class Seeds(Settings):
    """Seeds of pre-training and of fine-tuning, paired by their positions."""

    pretrain: SeedList = [0]
    """Seeds of pre-training (weights, windows and dropout), one model each."""
    finetune: SeedList = [0, 1, 2]
    """Seeds of fine-tuning, the same in every cell; the i-th starts from the i-th seed of pretrain,
    beginning again after the last."""
    shuffled: SeedList | None = None
    """Seeds of each pre-training on shuffled books (null: those of pretrain)."""

    def of(self, corpus: Corpus) -> list[int]:
        """The pre-training seeds on a corpus."""
        read_otherwise = corpus in CORPORA and corpus != "books"
        return self.shuffled or self.pretrain if read_otherwise else self.pretrain

    def sources(self, corpus: Corpus = "books") -> list[int]:
        """Those of them that cells start from: there may be more than seeds of fine-tuning."""
        return self.of(corpus)[: len(self.finetune)]

    def source(self, seed: int, corpus: Corpus = "books") -> int:
        """The pre-training seed that a fine-tuning seed starts from."""
        seeds = self.of(corpus)
        return seeds[self.finetune.index(seed) % len(seeds)]


class ZeroShot(Settings):
    """The tasks of the zero-shot figure and the scores that count as 0 and 1."""

    tasks: list[str]
    normalise: dict[str, ScoreRange]


class Margins(Settings):
    """Differences in points that are of no consequence, stated before the run."""

    task: Annotated[float, Field(gt=0)] = 5.0
    """For a single task."""
    mean: Annotated[float, Field(gt=0)] = 2.0
    """For an average over tasks."""


class Grid(Settings):
    """Everything that the rules and the analysis know of a run; made by `Config.grid`.

    `examples` are all tasks whose rows are read (the grid's and the zero-shot tasks), `updates` the
    pre-training updates that have a checkpoint, `unlabelled` the GLUE tasks whose test rows are
    predicted; `synthetic` are the tasks whose rows are made by the embedded world, which nothing
    published compares with; `has_corpus` is False for published weights, whose corpus is not
    available.
    `layers_without_aux` are the numbers of layers, besides none and all, that are run without the
    auxiliary loss as well (None: all). `shuffled` are the negative controls. `margins` are those of
    claims.
    """

    arch: list[Arch]
    aux: list[Aux]
    layers_without_aux: list[int] | None = None
    shuffled: list[Shuffled]
    layers: dict[Arch, list[NTransfer]]
    n_layer: dict[Arch, int]
    tasks: list[str]
    seeds: Seeds
    examples: list[str]
    updates: list[int]
    zero_shot: ZeroShot
    unlabelled: list[str]
    synthetic: list[str] = []
    margins: Margins = Margins()
    has_corpus: bool
    scale: str = ""  # corpus and models in words, for the heading of the claims

    def cells(self) -> list[Cell]:
        """Every cell, by architecture, task, aux and layers; then those of the negative controls.

        Of these there is the fully transferred transformer with the auxiliary loss alone.
        """
        cells = [
            Cell(arch, task, aux, n)
            for arch in self.arch
            for task in self.tasks
            for aux in self.aux
            for n in self.sweep(arch, aux)
        ]
        for corpus in self.controls():
            n = self.n_layer["transformer"]
            cells += [Cell("transformer", task, "on", n, corpus) for task in self.tasks]
        return cells

    def sweep(self, arch: Arch, aux: Aux) -> list[NTransfer]:
        """The numbers of transferred layers that are run with or without the auxiliary loss."""
        layers, some = self.layers.get(arch, []), self.layers_without_aux
        if aux not in self.aux or aux == "on" or some is None:
            return layers if aux in self.aux else []
        return [n for n in layers if n in ("none", self.n_layer[arch], *some)]

    def controls(self) -> list[Corpus]:
        """What the models of the negative controls read, or became."""
        return [CONTROLS[name] for name in self.shuffled]

    def parts(self) -> dict[str, list[Cell]]:
        """The cells by the part that they are sampled in, as in `transformer_endpoints`.

        A part is what the jobs of one architecture train: `endpoints`, the layers between them
        (`intermediate`) or the negative controls (`controls`). So a table waits for the cells that
        it reads.
        """
        found: dict[str, list[Cell]] = {}
        for cell in self.cells():
            part = "endpoints" if self.is_endpoint(cell) else "intermediate"
            part = part if cell.corpus == "books" else "controls"
            found.setdefault(f"{cell.arch}_{part}", []).append(cell)
        return found

    def models(self, corpus: Corpus = "books") -> list[PretrainedModel]:
        """The language models of a corpus, by architecture and seed."""
        archs: list[Arch] = self.arch if corpus == "books" else ["transformer"]
        return [
            PretrainedModel(arch, seed, corpus) for arch in archs for seed in self.seeds.of(corpus)
        ]

    def all_models(self) -> list[PretrainedModel]:
        """All that are pre-trained: on the books, then on those of the negative controls."""
        read = [corpus for corpus in CORPORA if corpus in ("books", *self.controls())]
        return [model for corpus in read for model in self.models(corpus)]

    def sources(self, cell: Cell) -> list[PretrainedModel]:
        """The language models that the seeds of a cell start from, in turn."""
        seeds = self.seeds.sources(cell.corpus)
        return [PretrainedModel(cell.arch, seed, cell.corpus) for seed in seeds]

    def is_full(self, cell: Cell) -> bool:
        """Whether all layers are transferred."""
        return cell.n_transfer == self.n_layer[cell.arch]

    def is_endpoint(self, cell: Cell) -> bool:
        """Whether nothing or everything is transferred: the variants of `ablation.csv`."""
        return cell.n_transfer == "none" or self.is_full(cell)

    def is_pooled(self, cell: Cell) -> bool:
        """Whether the cell's seeds are pooled with others': of the variants but for the controls.

        What another seed does to a model of shuffled books says nothing of the others.
        """
        return self.is_endpoint(cell) and cell.corpus == "books" and not cell.variant

    def pooled(self, cells: list[Cell]) -> list[Cell]:
        """The run's own cells whose seeds are pooled for the intervals of some `cells`."""
        kinds = {(cell.arch, cell.task) for cell in cells}
        return [c for c in self.cells() if (c.arch, c.task) in kinds and self.is_pooled(c)]

    def full_transformer(self) -> list[Cell]:
        """The cells of the paper's Tables 2 to 4: the transformer with all its layers."""
        cells = (cell for cell in self.cells() if cell.corpus == "books")
        return [cell for cell in cells if cell.arch == "transformer" and self.is_full(cell)]

    def submitted(self) -> list[Cell]:
        """The cells whose predictions are submitted to GLUE."""
        cells = (cell for cell in self.full_transformer() if cell.aux == "on")
        return [cell for cell in cells if cell.task in self.unlabelled]


def any_model(corpus: str = "books") -> PretrainedModel:
    """A model pre-trained on a corpus, with the wildcards `{arch}` and `{seed}` left open."""
    return PretrainedModel("{arch}", "{seed}", corpus)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Job:
    """The cells that one process trains of each (task, aux): a part of an architecture's layers."""

    name: str  # of the rule
    arch: Arch
    layers: tuple[NTransfer, ...]
    sources: tuple[PretrainedModel, ...]  # that the cells start from

    def cells(self) -> list[Cell]:
        """The cells that the job trains, with the wildcards `{task}` and `{aux}` left open."""
        corpus = self.sources[0].corpus
        return [Cell(self.arch, "{task}", "{aux}", n, corpus) for n in self.layers]  # type: ignore[arg-type]


def jobs(grid: Grid, shards: int) -> Iterator[Job]:
    """How the grid is cut into jobs; `shards` is the number of jobs of the intermediate layers.

    Where some of these are run with the auxiliary loss alone, the others join the endpoints, which
    have jobs without it. The jobs of `further` layers train what the grid leaves out, but can be
    asked for.
    """
    for arch in grid.arch:
        sources = tuple(PretrainedModel(arch, seed) for seed in grid.seeds.sources())
        layers, without = grid.layers[arch], grid.sweep(arch, "off")
        others = [n for n in layers if n not in ("none", grid.n_layer[arch])]
        with_aux_alone = [n for n in others if n not in without] if without else []
        others = with_aux_alone or others
        n = min(shards, len(others))
        cuts = [others[i * len(others) // n : (i + 1) * len(others) // n] for i in range(n)]
        every: list[NTransfer] = ["none", *range(grid.n_layer[arch] + 1)]
        parts = {"endpoints": [layer for layer in layers if layer not in others]}
        parts |= {f"intermediate_{i}": cut for i, cut in enumerate(cuts, 1)}
        left = [layer for layer in every if layer not in layers]
        parts |= {f"further_{i}": [layer] for i, layer in enumerate(left, 1)}
        for part, layers in parts.items():
            if layers:
                yield Job(f"finetune_{arch}_{part}", arch, tuple(layers), sources)
    for corpus in grid.controls():
        name = f"finetune_transformer_{corpus.replace('-', '_')}"
        seeds = grid.seeds.sources(corpus)
        sources = tuple(PretrainedModel("transformer", seed, corpus) for seed in seeds)
        yield Job(name, "transformer", (grid.n_layer["transformer"],), sources)


def checkpoint_updates(updates: int, n: int) -> list[int]:
    """0, the untrained model, and `n` log-spaced updates from 1 % of `updates` (or 1) to the last.

    Strictly rising; fewer than `n` where `updates` is too small to hold as many.
    """
    first = max(1, round(updates / 100))
    spaced = (round(first * (updates / first) ** (i / (n - 1))) for i in range(n - 1))
    return sorted({0, *spaced, updates})
