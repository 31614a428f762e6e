"""The tables: each is made by a function of `(results, grid)`, named here."""

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from workflow.grid import Grid

if TYPE_CHECKING:
    from workflow.analysis.table import Table

MAKERS = {
    "ablation": "lines.ablation",
    "cells": "cells.cells",
    "claims": "claims.build",
    "cloze": "checkpoints.cloze",
    "confusion": "cells.confusion",
    "contamination": "published.contamination",
    "cost": "cost.cost",
    "cost_pretraining": "checkpoints.cost_pretraining",
    "data": "data.data",
    "degrees": "lines.degrees",
    "layer_transfer": "lines.layer_transfer",
    "main": "published.main",
    "positive_control": "positive_control.build",
    "pretraining": "checkpoints.pretraining",
    "zero_shot": "checkpoints.zero_shot",
}


def module_of(name: str) -> str:
    """The module of a table."""
    return f"{__name__}.{MAKERS[name].partition('.')[0]}"


def build(name: str, results: Path, grid: Grid) -> "Table":
    """The table of that name. Raises InputError for a damaged file."""
    function = MAKERS[name].partition(".")[2]
    return getattr(importlib.import_module(module_of(name)), function)(results, grid)
