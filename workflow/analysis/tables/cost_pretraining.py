"""What pre-training cost up to each checkpoint: tokens, seconds of training, memory; on what."""

from pathlib import Path

import pandas as pd

from workflow.analysis import markdown
from workflow.analysis.records import Checkpoint
from workflow.analysis.table import Table
from workflow.grid import Grid

INPUTS = ("checkpoints",)
COSTS = {"train_tokens": "tokens", "train_seconds": "seconds", "peak_mb": "peak_mb"}
COLUMNS = ["arch", "seed", *COSTS, "cpu", "update"]


def build(results: Path, grid: Grid) -> Table:
    """One row per language model and checkpoint; what was not made has none."""
    rows = []
    for model in grid.models():
        for update in grid.updates:
            if (path := model.facts(results, update)).exists():
                place = {"arch": model.arch, "seed": model.seed, "update": update}
                found = Checkpoint.read(path, **place)
                costs = {name: getattr(found, key) for name, key in COSTS.items()}
                rows.append(place | costs | {"cpu": found.cpu})
    table = pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(COSTS, float))
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
