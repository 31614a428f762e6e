"""Held-out token-level perplexity at each checkpoint of both language models.

The perplexity is per BPE token on whole held-out books, so it only compares runs with the same
tokenizer.
"""

from pathlib import Path

import pandas as pd

from gpt1.records import CheckpointFacts
from workflow.analysis import markdown
from workflow.analysis.table import Table
from workflow.grid import Grid

COLUMNS = [
    *("arch", "task", "metric", "split", "n_seeds", "mean", "sd", "low", "high", "by_seed"),
    *("train_tokens", "update", "heldout_loss", "train_loss"),
]
OVER_SEEDS = {
    "n_seeds": ("heldout_perplexity", "count"),
    "mean": ("heldout_perplexity", "mean"),
    "sd": ("heldout_perplexity", "std"),
    "low": ("heldout_perplexity", "min"),
    "high": ("heldout_perplexity", "max"),
    "by_seed": ("heldout_perplexity", tuple),
    "train_tokens": ("tokens", "mean"),
    "heldout_loss": ("heldout_loss", "mean"),
    "train_loss": ("train_loss", "mean"),
}


def build(results: Path, grid: Grid) -> Table:
    """One row per (arch, update), over the pre-training seeds.

    A checkpoint that was not made is empty, with n_seeds 0. `low` and `high` are the lowest and the
    highest perplexity; losses are in nats per token.
    """
    points = pd.MultiIndex.from_product([grid.arch, grid.updates], names=["arch", "update"])
    groups = checkpoints(results, grid).groupby(["arch", "update"])
    table = groups.agg(**OVER_SEEDS).reindex(points).fillna({"n_seeds": 0}).reset_index()
    table = table.assign(task="lm", metric="perplexity", split="heldout")[COLUMNS]
    return Table(table, _wide(table))


def checkpoints(results: Path, grid: Grid) -> pd.DataFrame:
    """The facts of each checkpoint that was made, by model and update."""
    found = [
        checkpoint.model_dump(exclude={"model"})
        for model in grid.models()
        for update in grid.updates
        if (
            checkpoint := CheckpointFacts.find(
                model.facts(results, update), arch=model.arch, seed=model.seed, update=update
            )
        )
    ]
    return pd.DataFrame(found, columns=list(CheckpointFacts.model_fields))


def _wide(table: pd.DataFrame) -> list[str | pd.DataFrame]:
    wide = pd.DataFrame(index=pd.Index(table["update"].unique(), name="update"))
    for arch, mine in table.set_index("update").groupby("arch", sort=False):
        wide[f"{arch}: tokens"] = markdown.column(mine["train_tokens"], ".0f")
        wide[f"{arch}: perplexity"] = mine.apply(markdown.score, axis=1, decimals=2)
    seeds = markdown.seeds(table["n_seeds"])
    note = (
        "Perplexity per BPE token on the held-out books: mean and standard deviation over "
        f"pre-training seeds ({seeds}; no `±`: one). The paper prints 18.4 for its own corpus and "
        "tokenizer; perplexities under another tokenizer or on other text do not compare."
    )
    by_update = table.dropna(subset="mean").groupby("update")["mean"].apply(list)
    if 1 in by_update and by_update[1] == by_update.get(0):
        note += " Update 1 changes nothing: its learning rate is 0, from which the rate warms up."
    return ["# Pre-training", wide, note]
