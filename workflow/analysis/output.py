"""How every analysis program is called and how it writes: a tidy CSV and Markdown beside it.

In the CSV what was not run is empty, with 0 seeds; in the Markdown it reads `missing`. A dash
means that there is no such number (the paper printed none, or the quantity is not defined).
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from tasks.common.errors import InputError
from tasks.common.files import write_atomic

MISSING = "missing"
NONE = "–"
METRICS = {
    **{"accuracy": "accuracy", "f1": "F1", "matthews": "Matthews"},
    **{"pearson": "Pearson", "spearman": "Spearman", "mean": "mean"},
}
CONTRACT = [
    *("arch", "variant", "task", "metric", "split", "n_transfer", "aux", "n_seeds", "mean", "sd"),
    *("ci_low", "ci_high", "paper", "majority", "bag_of_words", "train_tokens", "train_seconds"),
    *("peak_mb", "alarms", "note"),
]
DECIMALS = {
    **dict.fromkeys(["mean", "sd", "ci_low", "ci_high", "majority", "bag_of_words"], 4),
    **dict.fromkeys(["clean_mean", "clean_sd", "share_pieces", "share_words"], 4),
    **dict.fromkeys(["short_pieces", "short_words"], 4),
    **{"train_seconds": 2, "seconds": 2, "peak_mb": 1, "relative": 6, "threshold": 6},
    **{"heldout_loss": 6, "train_loss": 6},
}
WHOLE = ["n_seeds", "train_tokens", "tokens", "update", "n", "rows", "clean_rows"]
Build = Callable[[Path, dict[str, Any]], tuple[pd.DataFrame, str]]


def program(build: Build, argv: list[str] | None = None) -> None:
    """Parse the command line, build one table, write `--out` and the Markdown beside it."""
    parser = argparse.ArgumentParser(description="one table of the analysis")
    parser.add_argument("--results", type=Path, required=True, help="the results folder")
    parser.add_argument("--settings", required=True, help="the analysis settings as JSON text")
    parser.add_argument("--out", type=Path, required=True, help="the CSV to write")
    args = parser.parse_args(argv)
    table, text = build(args.results, read_settings(args.settings))
    write_csv(args.out, table)
    with write_atomic(args.out.with_suffix(".md")) as file:
        file.write(text.rstrip() + "\n")


class Settings(dict):
    """The analysis settings; to ask for a key that was not given is the caller's mistake."""

    def __missing__(self, key: str) -> Any:
        raise InputError(f"--settings: has no '{key}'; it needs {key!r} beside {sorted(self)}")


def read_settings(text: str) -> Settings:
    """The analysis settings, a JSON object given as text."""
    try:
        settings = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"--settings: not JSON ({error.msg}): {text[:60]!r}") from None
    if not isinstance(settings, dict):
        raise InputError(f"--settings: a {type(settings).__name__}, not an object: {text[:60]!r}")
    return Settings(settings)


def write_csv(path: Path, table: pd.DataFrame) -> None:
    """Write a tidy table: the contract's columns first, rounded so that bytes are stable."""
    first = [column for column in CONTRACT if column in table.columns]
    table = table[first + [column for column in table.columns if column not in first]]
    table = table.round({key: n for key, n in DECIMALS.items() if key in table.columns})
    for column in WHOLE:
        if column in table.columns:
            table[column] = table[column].astype(float).round().astype("Int64")
    with write_atomic(path) as file:
        table.to_csv(file, index=False, lineterminator="\n")


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table, padded so that it reads well as plain text too."""
    lines = [[cell.replace("|", "\\|") for cell in line] for line in [head, *rows]]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    dashes = ["-" * width if i == 0 else "-" * (width - 1) + ":" for i, width in enumerate(widths)]
    lines.insert(1, dashes)
    return "\n".join(
        "| "
        + " | ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        + " |"
        for line in lines
    )


def score(row: Any) -> str:
    """`12.3 ± 0.4`, marked `!` where a run raised an alarm; `missing` where nothing was run."""
    if row is None or pd.isna(row["mean"]):
        return MISSING
    text = f"{row['mean']:.1f}"
    if not pd.isna(row["sd"]):
        text += f" ± {row['sd']:.1f}"
    return text + (" !" if row.get("alarms") else "")


def clean(row: Any) -> str:
    """The score on the clean rows and how many these are: `12.3 ± 0.4 (n 270)`; a dash for none."""
    if row is None or pd.isna(row["clean_rows"]):
        return MISSING
    if not row["clean_rows"]:
        return NONE
    shown = score({"mean": row["clean_mean"], "sd": row["clean_sd"]})
    return f"{shown} (n {row['clean_rows']:.0f})"


def value(number: float | None, absent: str = NONE) -> str:
    """One decimal, or `absent`."""
    return absent if number is None or pd.isna(number) else f"{number:.1f}"


def seeds(counts: pd.Series) -> str:
    """`3` or `1-3`, the seeds behind those numbers of a line that are not missing; else `0`."""
    counts = counts[counts > 0] if (counts > 0).any() else counts
    low, high = int(counts.min()), int(counts.max())
    return f"{low}" if low == high else f"{low}-{high}"


ALARM_NOTE = (
    "`a ± b`: mean and standard deviation over seeds (no `±`: one seed). "
    "`!`: at least one run raised an alarm (at majority rate, constant prediction, loss not "
    "falling), named in the CSV. `missing`: not run. Majority class: the best constant answer "
    "(by F1 always yes)."
)
