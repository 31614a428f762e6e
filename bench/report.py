"""The rows of the table of bars, and the table itself."""

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

import pandas as pd

from bench.sides import Ratio
from workflow.analysis.table import Table

DECIMALS = dict.fromkeys(["ours", "other"], 2) | dict.fromkeys(["ratio", "low", "high"], 3)


@dataclass(frozen=True)
class Row:
    """A row of the table. A bar is about the median of the ratios, or about our own value.

    `low` and `high` are the smallest and the largest ratio. `met` is yes, no or undecided, and
    empty where nothing was measured or there is no bar; `note` says why, or on what.
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


def verdict(is_met: bool, low: float, bar: float, high: float) -> str:
    """Whether a bar is met: undecided where some measurements meet it and some do not."""
    if low < bar < high:
        return "undecided"
    return "yes" if is_met else "no"


def compared(
    bar: int, what: str, unit: str, ratio: Ratio, least: float | None, note: str = ""
) -> Row:
    """The row of a ratio that should be at least `least`, or that has no bar."""
    numbers = (ratio.ours, ratio.other, ratio.median, ratio.low, ratio.high)
    if least is None:
        return Row(bar, what, unit, "", *numbers, note=note)
    met = verdict(ratio.median >= least, ratio.low, least, ratio.high)
    return Row(bar, what, unit, f">= {least:g}x", *numbers, met, note=note)


def limited(
    bar: int, what: str, unit: str, values: Sequence[float], most: float, note: str = ""
) -> Row:
    """The row of a value of ours, the median of several, that should be at most `most`."""
    median, low, high = statistics.median(values), min(values), max(values)
    spread = f"median of {len(values)}, {low:.4g} to {high:.4g} {unit}" if len(values) > 1 else ""
    met = verdict(median <= most, low, most, high)
    return Row(bar, what, unit, f"<= {most:g}", median, met=met,
               note="; ".join(filter(None, [spread, note])))  # fmt: skip


def line(row: Row) -> str:
    """A row for reading along."""
    values = [f"{row.ours:.4g} {row.unit}" if row.ours is not None else "not measured"]
    if row.ratio is not None:
        values.append(f"against {row.other:.4g}: {row.ratio:.2f} ({row.low:.2f} to {row.high:.2f})")
    bar = f"{row.wanted or 'no bar'}: {row.met or '-'}"
    return f"bar {row.bar}: {row.what}: {', '.join(values)}; {bar}"


def table(rows: list[Row], note: str) -> Table:
    """The rows as a CSV and as Markdown."""
    frame = pd.DataFrame([asdict(row) for row in rows])
    numbers = {
        name: frame[name].map(lambda x: "" if pd.isna(x) else f"{x:.2f}")
        for name in ("ours", "other", "ratio", "low", "high")
    }
    shown = frame.assign(**numbers, bar=frame["bar"].map(str)).set_index("bar")
    return Table(frame, ["# Speed, side by side", note, shown], DECIMALS)
