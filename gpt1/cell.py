"""A cell of the experiment's grid, and the only place that knows the path of its files.

Light on purpose: the Snakefile, the training programs and the analysis all import it.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tasks.common.errors import InputError

Arch = Literal["transformer", "lstm"]
Aux = Literal["on", "off"]  # with or without the auxiliary LM loss
# How much of the pre-trained model is copied: "none" for nothing (the authors' -1), 0 for the
# embeddings alone, k for the embeddings and the lowest k layers.
NTransfer = int | Literal["none"]

ARCHS: tuple[Arch, ...] = ("transformer", "lstm")
_PATH = re.compile(
    r"cells/(?P<arch>transformer|lstm)/(?P<task>\w+)/aux-(?P<aux>on|off)"
    r"/layers-(?P<n_transfer>none|\d+)\.json$"
)


@dataclass(frozen=True)
class Cell:
    """One place of the grid: an architecture fine-tuned on a task from some transferred layers."""

    arch: Arch
    task: str
    aux: Aux
    n_transfer: NTransfer

    @property
    def place(self) -> str:
        """The cell's path below `cells/` and `predictions/`, without its suffix."""
        return f"{self.arch}/{self.task}/aux-{self.aux}/layers-{self.n_transfer}"

    def path(self, results: str | Path) -> Path:
        """Where the cell's JSON lies: scores of every seed, settings, digests."""
        return Path(results, "cells", f"{self.place}.json")

    def predictions(self, results: str | Path) -> Path:
        """Where the predictions behind the cell's scores lie, row by row, as Parquet."""
        return Path(results, "predictions", f"{self.place}.parquet")

    @classmethod
    def parse(cls, path: str | Path) -> "Cell":
        """The cell whose JSON lies at `path`. Raises InputError if it is not a cell's path."""
        match = _PATH.search(Path(path).as_posix())
        if match is None:
            raise InputError(
                f"{path}: not the path of a cell; give .../ARCH/TASK/aux-{{on,off}}/layers-N.json"
            )
        n_transfer = match["n_transfer"]
        n_transfer = n_transfer if n_transfer == "none" else int(n_transfer)
        return cls(match["arch"], match["task"], match["aux"], n_transfer)  # type: ignore[arg-type]
