"""The grid of cells, written once: what is trained, how it is cut into jobs, which seeds run.

Light on purpose (no torch, no pandas): the Snakefile plans with it and the analysis reads by it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Self

from pydantic import Field

from gpt1.cell import Arch, Aux, Cell, NTransfer
from gpt1.settings import ScoreRange, Seed
from tasks.common.settings import Settings, unique

SeedList = Annotated[list[Seed], Field(min_length=1), unique]


class Seeds(Settings):
    """Fine-tuning seeds of the cells with nothing or everything transferred, and of the others."""

    endpoints: SeedList = Field(
        [0, 1, 2], description="seeds of the cells with nothing or everything transferred"
    )
    intermediate: SeedList = Field([0], description="seeds of the other cells")


class ZeroShot(Settings):
    """The tasks of the zero-shot figure and the scores that count as 0 and 1."""

    tasks: list[str]
    normalise: dict[str, ScoreRange]


class Grid(Settings):
    """Everything that the rules and the analysis know of a run; made by `Config.grid`.

    `examples` are all tasks whose rows are read (the grid's and the zero-shot tasks), `updates` the
    pre-training updates that have a checkpoint, `unlabelled` the GLUE tasks whose test rows are
    predicted; `has_corpus` is False for published weights, whose corpus is not available.
    """

    arch: list[Arch]
    aux: list[Aux]
    layers: dict[Arch, list[NTransfer]]
    n_layer: dict[Arch, int]
    tasks: list[str]
    seeds: Seeds
    examples: list[str]
    updates: list[int]
    zero_shot: ZeroShot
    unlabelled: list[str]
    has_corpus: bool
    table: str = "cells.csv"  # where `workflow.analysis.collect` puts the scores of these cells

    def cells(self) -> list[Cell]:
        """Every cell, by architecture, task, aux and layers."""
        return [
            Cell(arch, task, aux, n)
            for arch in self.arch
            for task in self.tasks
            for aux in self.aux
            for n in self.layers[arch]
        ]

    def is_full(self, cell: Cell) -> bool:
        """Whether all layers are transferred."""
        return cell.n_transfer == self.n_layer[cell.arch]

    def is_endpoint(self, cell: Cell) -> bool:
        """Whether nothing or everything is transferred: the variants of the paper's Table 5."""
        return cell.n_transfer == "none" or self.is_full(cell)

    def full_transformer(self) -> list[Cell]:
        """The cells of the paper's Tables 2 to 4: the transformer with all its layers."""
        return self.full().cells()

    def endpoints(self) -> Self:
        """The grid cut down to the variants of the paper's Table 5."""
        layers = {
            a: [n for n in ("none", self.n_layer[a]) if n in self.layers[a]] for a in self.arch
        }
        return self.model_copy(update={"layers": layers, "table": "cells_endpoints.csv"})

    def full(self) -> Self:
        """The grid cut down to the cells of the paper's Tables 2 to 4."""
        most = self.n_layer.get("transformer")
        layers = {
            a: [n for n in self.layers[a] if (a, n) == ("transformer", most)] for a in self.arch
        }
        return self.model_copy(update={"layers": layers, "table": "cells_full.csv"})

    def submitted(self) -> Self:
        """The grid cut down to the cells whose predictions are submitted to GLUE."""
        update = {"tasks": self.unlabelled, "aux": ["on"], "table": "cells_submitted.csv"}
        return self.full().model_copy(update=update)

    def seeds_of(self, cell: Cell) -> list[int]:
        """The seeds that a cell is trained with."""
        return self.seeds.endpoints if self.is_endpoint(cell) else self.seeds.intermediate


@dataclass(frozen=True)
class Job:
    """The cells of one (arch, task, aux) that one process trains, for every task and aux.

    `part` is `endpoints` or `intermediate`; `shard` counts from 1.
    """

    arch: Arch
    part: str
    shard: int
    layers: tuple[NTransfer, ...]

    @property
    def name(self) -> str:
        """The rule's name."""
        end = f"_{self.shard}" if self.part == "intermediate" else ""
        return f"finetune_{self.arch}_{self.part}{end}"

    @property
    def cells(self) -> list[Cell]:
        """The cells that the job trains, with the wildcards `{task}` and `{aux}` left open."""
        return [Cell(self.arch, "{task}", "{aux}", n) for n in self.layers]  # type: ignore[arg-type]


def jobs(grid: Grid, shards: int) -> Iterator[Job]:
    """How the grid is cut into jobs; `shards` is the number of jobs of the intermediate layers."""
    for arch in grid.arch:
        endpoints = grid.endpoints().layers[arch]
        others = [n for n in grid.layers[arch] if n not in endpoints]
        if endpoints:
            yield Job(arch, "endpoints", 1, tuple(endpoints))
        n = min(shards, len(others))
        for i in range(n):
            part = others[i * len(others) // n : (i + 1) * len(others) // n]
            yield Job(arch, "intermediate", i + 1, tuple(part))


def checkpoint_updates(updates: int, n: int) -> list[int]:
    """0, the untrained model, and `n` log-spaced updates from 1 % of `updates` (or 1) to the last.

    Strictly rising; fewer than `n` where `updates` is too small to hold as many.
    """
    first = max(1, round(updates / 100))
    spaced = (round(first * (updates / first) ** (i / (n - 1))) for i in range(n - 1))
    return sorted({0, *spaced, updates})
