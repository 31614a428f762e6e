"""`pretraining.csv`: held-out token-level perplexity at each checkpoint of both language models.

    python -m workflow.analysis.pretraining --results R --settings JSON --out R/pretraining.csv

The perplexity is per BPE token on whole held-out books; it compares runs with one tokenizer only.
"""

import sys
from pathlib import Path
from typing import Any

import pandas as pd

from tasks.common.errors import InputError, run
from tasks.common.files import read_json
from workflow.analysis import output
from workflow.analysis.collect import REMEDY, number

COLUMNS = [
    *("arch", "task", "metric", "split", "n_seeds", "mean", "train_tokens", "train_seconds"),
    *("update", "heldout_loss", "train_loss"),
]


def build(results: Path, settings: dict[str, Any]) -> tuple[pd.DataFrame, str]:
    """One row per (arch, update); losses in nats per token; not made: empty with n_seeds 0."""
    rows = [
        _point(results, arch, update) for arch in settings["arch"] for update in settings["updates"]
    ]
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table, _wide(table, settings)


def _point(results: Path, arch: str, update: int) -> dict[str, Any]:
    point = {"arch": arch, "task": "lm", "metric": "perplexity", "split": "heldout"}
    point |= {"update": update, "n_seeds": 0}
    path = Path(results) / "pretrain" / arch / f"update-{update}.json"
    if not path.exists():
        return point
    found = read_json(path)
    point |= {"n_seeds": 1, "mean": number(path, found, "heldout_perplexity")}
    if found.get("arch") != arch or found.get("update") != update:
        raise InputError(
            f"{path}: is of {found.get('arch')!r} at update {found.get('update')!r}; {REMEDY}"
        )
    return {
        **point,
        "train_tokens": number(path, found, "tokens"),
        "train_seconds": number(path, found, "seconds"),
        "heldout_loss": number(path, found, "heldout_loss"),
        "train_loss": found.get("train_loss"),  # none before the first update
    }


def _wide(table: pd.DataFrame, settings: dict[str, Any]) -> str:
    cells = {(row["arch"], row["update"]): row for _, row in table.iterrows()}
    head = ["update"]
    for arch in settings["arch"]:
        head += [f"{arch}: tokens", f"{arch}: seconds", f"{arch}: perplexity"]
    rows = []
    for update in settings["updates"]:
        row = [str(update)]
        for arch in settings["arch"]:
            cell = cells[arch, update]
            if not cell["n_seeds"]:
                row += [output.MISSING] * 3
                continue
            row += [f"{cell['train_tokens']:.0f}", f"{cell['train_seconds']:.0f}"]
            row.append(f"{cell['mean']:.2f}")
        rows.append(row)
    note = (
        "Perplexity per BPE token on the held-out books. The paper prints 18.4 for its own corpus "
        "and tokenizer; perplexities under another tokenizer or on other text do not compare."
    )
    return "\n\n".join(["# Pre-training", output.markdown(head, rows), note])


if __name__ == "__main__":
    sys.exit(run(lambda: output.program(build)))
