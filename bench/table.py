"""The loop over comparisons, and the table that it writes."""

import os
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import pandas as pd

from bench.comparisons import Comparison
from bench.sides import ROOT, Side, Turn, WorkerError, alternate
from bench.work import UNITS
from gpt1.training.runtime import cpu
from workflow.analysis.flops import peak
from workflow.analysis.table import Table

WORDS = ["comparison", "beside", "unit", "note"]
DECIMALS = dict.fromkeys(["ours", "other", "ratio", "low", "high", "ours_mb", "other_mb"], 2)


def measure(comparison: Comparison, device: str) -> list[dict[str, Any]]:
    """Measure a comparison on a device of this name; returns a row for each side but ours."""
    work, path = comparison.work, comparison.work.write()
    rows = [
        {"comparison": comparison.name, "beside": name, "unit": UNITS[work.kind]}
        for name in comparison.others
    ]
    try:
        with ExitStack() as stack:
            sides = [
                stack.enter_context(Side(module, path, *words, threads=work.runtime["threads"]))
                for module, *words in (["bench.ours"], *comparison.others.values())
            ]
            ours, *others = alternate(sides, work.rounds)
    except WorkerError as error:  # the other comparisons go on
        return [row | {"note": f"not measured: {error}"} for row in rows]
    for row, side, turns in zip(rows, sides[1:], others, strict=True):
        row |= compared(ours, turns)
        row["note"] = f"batches of {work.batch}; {sides[0].precision} and {side.precision}"
        if comparison.flops and (fastest := peak(device)):
            share = row["ours"] * comparison.flops / fastest
            row["note"] += f"; MFU {share:.1%} of {fastest / 1e12:.0f} TFLOP/s"
    return rows


def compared(ours: Sequence[Turn], other: Sequence[Turn]) -> dict[str, float]:
    """Both median rates, each side's peak memory, and the ratios of the turns of each round.

    `ratio` is the median over the rounds, `low` and `high` the smallest and the largest.
    """
    ratios = [a.rate / b.rate for a, b in zip(ours, other, strict=True)]
    return {
        "ours": median(turn.rate for turn in ours),
        "other": median(turn.rate for turn in other),
        "ratio": median(ratios),
        "low": min(ratios),
        "high": max(ratios),
        "ours_mb": ours[-1].peak_mb,
        "other_mb": other[-1].peak_mb,
    }


def measure_all(comparisons: Iterable[Comparison], device: str, note: str, out: Path) -> None:
    """Measure one comparison after another, and write the table after each."""
    rows = []
    for comparison in comparisons:
        rows += measure(comparison, device)
        table(rows, note).write(out)
        print(pd.DataFrame(rows[-len(comparison.others) :]).to_string(), flush=True)


def table(rows: list[dict[str, Any]], note: str) -> Table:
    """The rows as a CSV and as Markdown."""
    frame = pd.DataFrame(rows, columns=[*WORDS, *DECIMALS])
    shown = frame[[*DECIMALS]].map(lambda x: "" if pd.isna(x) else f"{x:.2f}")
    shown = frame.assign(**shown).set_index("comparison")
    return Table(frame, ["# Speed beside other programs", note, shown], DECIMALS, WORDS)


def environment() -> str:
    """The CPU, torch's version, the commit and the day."""
    git = ["git", "rev-parse", "--short", "HEAD"]
    done = subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=False)
    commit = f"commit {done.stdout.strip()}" if done.returncode == 0 else ""
    what = [f"{cpu()}, {os.cpu_count()} cores", f"torch {version('torch')}", commit]
    return ", ".join([*filter(None, what), datetime.now(UTC).date().isoformat()])
