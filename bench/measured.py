"""Bars one after the other: the table is written after each, and one that fails costs its own row.

A bar is a function that yields its rows; its docstring says what it measures.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from bench.report import Row, line

Given = TypeVar("Given")


def measured(
    bars: Mapping[int, Callable[[Given], Iterator[Row]]],
    numbers: Sequence[int],
    given: Given,
    write: Callable[[list[Row]], None],
) -> list[Row]:
    """The rows of some bars, with which `write` is called after each of them.

    Whatever goes wrong in a bar becomes a row that says so, after those that it had before.
    """
    rows: list[Row] = []
    for number in numbers:
        try:
            for row in bars[number](given):
                print(line(row), flush=True)
                rows.append(row)
        except Exception as error:  # whatever it is, the other bars are measured
            rows.append(_not_measured(number, bars[number].__doc__ or "", error))
            print(f"{line(rows[-1])} ({rows[-1].note})", flush=True)
        write(rows)
    return rows


def _not_measured(number: int, doc: str, error: Exception) -> Row:
    what = doc.splitlines()[0].partition(": ")[2].rstrip(".") if doc else ""
    said = (str(error).strip() or type(error).__name__).splitlines()[-1]
    return Row(number, what, "", "", note=f"not measured: {said}")


def summary(rows: Sequence[Row]) -> str:
    """How many rows meet their bar, how many do not, and what was not measured."""
    of = {met: sum(row.met == met for row in rows) for met in ("yes", "no", "undecided")}
    text = f"{of['yes']} rows meet their bar, {of['no']} do not, {of['undecided']} are undecided"
    missing = [str(row.bar) for row in rows if row.ours is None]
    return f"{text}; not measured: bar {', '.join(missing)}" if missing else text
