"""The rows of the table of bars, and the table itself."""

from dataclasses import asdict, dataclass, field

import pandas as pd

from bench.sides import Ratio
from workflow.analysis.table import Table

DECIMALS = dict.fromkeys(["ours", "other"], 2) | dict.fromkeys(["ratio", "low", "high"], 3)


@dataclass(frozen=True)
class Row:
    """A row of the table. A bar is met by the median of the ratios, or by our own value.

    `low` and `high` are the smallest and the largest ratio. `met` is empty where nothing was
    measured; `note` says why, or on what.
    """

    bar: int
    what: str
    unit: str
    wanted: str
    ours: float | None = None
    other: float | None = None
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    met: str = ""
    note: str = field(default="", kw_only=True)


def compared(bar: int, what: str, unit: str, ratio: Ratio, least: float, note: str = "") -> Row:
    """The row of a ratio that should be at least `least`."""
    met = "yes" if ratio.median >= least else "no"
    numbers = (ratio.ours, ratio.other, ratio.median, ratio.low, ratio.high)
    return Row(bar, what, unit, f">= {least:g}x", *numbers, met, note=note)


def line(row: Row) -> str:
    """A row for reading along."""
    values = [f"{row.ours:.4g} {row.unit}" if row.ours is not None else "not measured"]
    if row.ratio is not None:
        values.append(f"against {row.other:.4g}: {row.ratio:.2f} ({row.low:.2f} to {row.high:.2f})")
    return f"bar {row.bar}: {row.what}: {', '.join(values)}; {row.wanted}: {row.met or '-'}"


def table(rows: list[Row], note: str) -> Table:
    """The rows as a CSV and as Markdown."""
    frame = pd.DataFrame([asdict(row) for row in rows])
    shown = frame.assign(
        **{name: frame[name].map(lambda x: "" if pd.isna(x) else f"{x:.2f}")
           for name in ("ours", "other", "ratio", "low", "high")},
        bar=frame["bar"].map(str),
    )  # fmt: skip
    return Table(frame, ["# Speed, side by side", note, shown], DECIMALS)
