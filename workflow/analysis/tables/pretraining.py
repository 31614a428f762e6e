"""Held-out token-level perplexity at each checkpoint of both language models.

The perplexity is per BPE token on whole held-out books; it compares runs with one tokenizer only.
"""

from pathlib import Path
from typing import Any

import pandas as pd

from workflow.analysis import markdown
from workflow.analysis.records import Checkpoint
from workflow.analysis.table import Table
from workflow.grid import Grid

RENAMED = {"heldout_perplexity": "mean", "tokens": "train_tokens", "seconds": "train_seconds"}
COLUMNS = [
    *("arch", "task", "metric", "split", "n_seeds", "mean", "train_tokens", "train_seconds"),
    *("update", "heldout_loss", "train_loss"),
]


def build(results: Path, grid: Grid) -> Table:
    """One row per (arch, update); losses in nats per token; not made: empty with n_seeds 0."""
    rows = [_point(results, arch, update) for arch in grid.arch for update in grid.updates]
    table = pd.DataFrame(rows).rename(columns=RENAMED)
    table = table.assign(task="lm", metric="perplexity", split="heldout").reindex(columns=COLUMNS)
    return Table(table, _wide(table))


def _point(results: Path, arch: str, update: int) -> dict[str, Any]:
    path = Path(results) / "pretrain" / arch / f"update-{update}.json"
    if not path.exists():
        return {"arch": arch, "update": update, "n_seeds": 0}
    return {"n_seeds": 1, **Checkpoint.read(path, arch=arch, update=update).model_dump()}


def _wide(table: pd.DataFrame) -> list[str | pd.DataFrame]:
    shown = {
        "tokens": ("train_tokens", 0),
        "seconds": ("train_seconds", 0),
        "perplexity": ("mean", 2),
    }
    wide = pd.DataFrame(index=pd.Index(table["update"].unique(), name="update"))
    for arch, mine in table.set_index("update").groupby("arch", sort=False):
        for name, (column, decimals) in shown.items():
            text = mine[column].map(f"{{:.{decimals}f}}".format)
            wide[f"{arch}: {name}"] = text.where(mine["n_seeds"] > 0, markdown.MISSING)
    note = (
        "Perplexity per BPE token on the held-out books. The paper prints 18.4 for its own corpus "
        "and tokenizer; perplexities under another tokenizer or on other text do not compare."
    )
    return ["# Pre-training", wide, note]
