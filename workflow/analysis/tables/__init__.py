"""The tables: each is made by a function of its name, which takes `(results, grid)`."""

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from workflow.grid import Grid

if TYPE_CHECKING:
    from workflow.analysis.table import Table

MAKERS = {  # the module of each table
    "ablation": "lines",
    "cells": "cells",
    "claims": "claims",
    "cloze": "checkpoints",
    "confusion": "cells",
    "contamination": "published",
    "cost": "cost",
    "cost_pretraining": "checkpoints",
    "data": "data",
    "degrees": "lines",
    "layer_transfer": "lines",
    "main": "published",
    "positive_control": "positive_control",
    "pretraining": "checkpoints",
    "zero_shot": "checkpoints",
}


def module_of(name: str) -> str:
    """The module of a table."""
    return f"{__name__}.{MAKERS[name]}"


def build(name: str, results: Path, grid: Grid) -> "Table":
    """The table of that name. Raises InputError for a damaged file."""
    table: Table = getattr(importlib.import_module(module_of(name)), name)(results, grid)
    return table
