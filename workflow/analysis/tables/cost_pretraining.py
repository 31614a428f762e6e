"""What pre-training cost up to each checkpoint: tokens, seconds of training, memory; on what."""

from pathlib import Path

import pandas as pd

from workflow.analysis import markdown
from workflow.analysis.table import Table
from workflow.analysis.tables.pretraining import checkpoints
from workflow.grid import Grid

INPUTS = ("checkpoints",)
COSTS = ["train_tokens", "train_seconds", "peak_mb"]


def build(results: Path, grid: Grid) -> Table:
    """One row per language model and checkpoint; what was not made has none."""
    names = {"tokens": "train_tokens", "seconds": "train_seconds"}
    table = checkpoints(results, grid).rename(columns=names)
    table = table[["arch", "seed", *COSTS, "cpu", "update"]].astype(dict.fromkeys(COSTS, float))
    return Table(table, _wide(table))


def _wide(table: pd.DataFrame) -> list[str | pd.DataFrame]:
    """The whole training of each model."""
    last = table.groupby(["arch", "seed"], sort=False).last()
    wide = pd.DataFrame(
        {
            "tokens": last["train_tokens"].map("{:.0f}".format),
            "seconds": last["train_seconds"].map("{:.0f}".format),
            "peak MB": last["peak_mb"].map("{:.1f}".format),
        }
    )
    wide = wide.replace("nan", markdown.MISSING).reset_index("seed")
    return ["# Costs of pre-training", wide]
