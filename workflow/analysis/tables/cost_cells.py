"""What the fine-tuning runs cost, one row per cell and seed: tokens, seconds, memory, processor.

Apart from the scores, which are the same on every machine and in every order, as these are not.
"""

from pathlib import Path

import pandas as pd

from workflow.analysis import markdown
from workflow.analysis.cells import CELL
from workflow.analysis.records import CellRecord
from workflow.analysis.table import Table
from workflow.grid import Grid

COSTS = ["train_tokens", "train_seconds", "peak_mb"]
FACTS = [*COSTS, "cpu"]
SWEEP = ["task", "arch", "corpus", "aux"]


def build(results: Path, grid: Grid) -> Table:
    """The runs of the grid's seeds; a cell that was not run has no row."""
    rows = []
    for cell in grid.cells():
        if (path := cell.path(results)).exists():
            place = vars(cell) | {"n_transfer": str(cell.n_transfer)}
            runs = CellRecord.read(path, **vars(cell)).seeds
            costs = (run.model_dump(include={"seed", *FACTS}) for run in runs)
            rows += [place | cost for cost in costs if cost["seed"] in grid.seeds.finetune]
    table = pd.DataFrame(rows, columns=[*CELL, "seed", *FACTS])
    table = table.astype(dict.fromkeys(COSTS, float))
    return Table(table, _wide(table), words=SWEEP)


def _wide(table: pd.DataFrame) -> list[str | pd.DataFrame]:
    sweeps = table.groupby(SWEEP, sort=False)
    wide = pd.DataFrame(
        {
            "runs": sweeps.size().map(str),
            "tokens": sweeps["train_tokens"].mean().map("{:.0f}".format),
            "seconds": sweeps["train_seconds"].mean().map("{:.1f}".format),
            "peak MB": sweeps["peak_mb"].max().map("{:.1f}".format),
        }
    )
    note = (
        f"{len(table)} runs, {table['train_seconds'].sum():.0f} s of training. Tokens and seconds "
        "are means over the runs of a line, memory is the highest."
    )
    return [
        "# Costs of fine-tuning",
        note,
        wide.replace("nan", markdown.MISSING).reset_index(SWEEP[1:]),
    ]
