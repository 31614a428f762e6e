"""What pre-training cost up to each checkpoint (tokens, seconds, memory), and on what processor."""

from pathlib import Path

import pandas as pd

from workflow.analysis.markdown import column
from workflow.analysis.table import Table
from workflow.analysis.tables.pretraining import checkpoints
from workflow.grid import Grid

COSTS = {"train_tokens": ("tokens", ".0f"), "train_seconds": ("seconds", ".0f")}
COSTS |= {"peak_mb": ("peak MB", ".1f")}


def build(results: Path, grid: Grid) -> Table:
    """One row per language model and checkpoint; what was not made has none.

    The Markdown has only the totals of each model's training.
    """
    names = {"tokens": "train_tokens", "seconds": "train_seconds"}
    table = checkpoints(results, grid).rename(columns=names)
    table = table[["arch", "seed", *COSTS, "cpu", "update"]].astype(dict.fromkeys(COSTS, float))
    last = table.groupby(["arch", "seed"], sort=False).last()
    wide = pd.DataFrame({head: column(last[name], form) for name, (head, form) in COSTS.items()})
    return Table(table, ["# Costs of pre-training", wide.reset_index("seed")])
