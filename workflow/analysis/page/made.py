"""A run as the page sees it: its results folder, its tables and figures, and their commands."""

import shlex
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

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
        counts = (
            f"seeds: {len(seeds.pretrain)} of pre-training, {len(seeds.finetune)} of fine-tuning"
        )
        return f"{self.grid.scale or 'scale not stated'}; {len(self.grid.tasks)} tasks; {counts}"

    @property
    def is_made_up(self) -> bool:
        """Whether the rows are those of the embedded world, which `Config.scale` says first."""
        return self.grid.scale.startswith("the embedded world")

    def table(self, name: str) -> pd.DataFrame | None:
        """A table, or None where it was not made. Raises InputError if it is damaged."""
        path = self.results / f"{name}.csv"
        return read_csv(path) if name in self.tables and path.exists() else None

    def has_study(self, name: str) -> bool:
        """Whether a study was made. Raises InputError if its table is damaged."""
        path = self.results / "studies" / f"{name}.csv"
        if not path.exists():
            return False
        read_csv(path)
        return path.with_suffix(".md").exists()

    def command(self, target: str) -> str:
        """The command that makes a file of the results folder."""
        made = shlex.join(["snakemake", "--cores", "2", (self.results / target).as_posix()])
        return f"{made} {self.options}".strip()
