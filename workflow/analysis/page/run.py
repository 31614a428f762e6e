"""A run as the page sees it: its results folder, its tables, figures and studies, its commands."""

import shlex
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

import tasks
from workflow.analysis.table import read_csv
from workflow.grid import Grid
from workflow.study_plan import StudyHead


@dataclass(frozen=True)
class Run:
    """A run's results folder, and the tables, figures and studies that its config has.

    `options` are those of Snakemake that chose the config, for the commands.
    """

    results: Path
    grid: Grid
    tables: tuple[str, ...]
    figures: tuple[str, ...]
    studies: tuple[StudyHead, ...] = ()
    options: str = ""

    @property
    def title(self) -> str:
        """The page's heading; the default folder goes without its name."""
        name = self.results.name
        return "Results" if name == "results" else f"Results: {name}"

    @property
    def scale(self) -> str:
        """The data, models and seeds in words."""
        seeds = self.grid.seeds
        counts = f"{len(seeds.pretrain)} of pre-training, {len(seeds.finetune)} of fine-tuning"
        scale = self.grid.scale or "scale not stated"
        return f"{scale}; {len(self.grid.tasks)} tasks; seeds: {counts}"

    @property
    def synthetic(self) -> str:
        """The titles of the tasks whose rows the embedded world makes; empty if all are real."""
        made = [name for name in self.grid.examples if self.grid.is_synthetic(name)]
        if made == self.grid.examples:
            return "every task"
        return ", ".join(tasks.task(name).title for name in made)

    def table(self, name: str) -> pd.DataFrame | None:
        """A table, or None where it was not made. Raises InputError if it is damaged."""
        path = self.results / f"{name}.csv"
        return read_csv(path) if name in self.tables and path.exists() else None

    def command(self, target: str) -> str:
        """The command that makes a file of the results folder."""
        made = shlex.join(["snakemake", "--cores", "2", (self.results / target).as_posix()])
        return f"{made} {self.options}".strip()
