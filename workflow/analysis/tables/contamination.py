"""The share of the reported rows that the corpus holds, and the scores without them.

A row of the table is a task, a reported split (or a group of RACE's) and this run's fully
transferred transformer with or without the auxiliary loss; a task of the zero-shot figure alone has
no such cell.
"""

from pathlib import Path

import pandas as pd

import tasks
from gpt1.cell import Cell
from gpt1.text.ngrams import N
from workflow.analysis import decontaminated, markdown
from workflow.analysis.notes import Notes
from workflow.analysis.stats.estimate import numbers
from workflow.analysis.stats.samples import Samples
from workflow.analysis.table import Table
from workflow.analysis.tables.main import VARIANTS
from workflow.grid import Grid

INPUTS = ("transformer_endpoints", "contamination", "facts of all examples")
SHARES = ("rows", "share", "short")
COLUMNS = [
    *("arch", "variant", "task", "metric", "split", "n_transfer", "aux", "n_seeds", "mean", "sd"),
    *("alarms", "note", *SHARES, *decontaminated.COLUMNS),
]
ABOUT = (
    f"Contaminated: share of the rows that have, within one text, {N} words in a row (line ends "
    "not counted) that also occur in the training part of the corpus. A story and its ending are "
    "one text; DPRD's sentence is two, split at the pronoun. Too short: share of the rows without "
    "a text of that length, of which nothing can be said; they count as decontaminated. The "
    "scores are those of the fully transferred transformer. " + markdown.LEGEND
)


def build(results: Path, grid: Grid) -> Table:
    """One row per (task, split, aux); shares in percent of the split's rows."""
    samples = Samples.of_grid(results, grid, INPUTS)
    without, notes = decontaminated.scores(results, grid), Notes.read(results, grid.examples)
    rows = []
    for name in grid.examples:
        searched, metric = _shares(results, grid, name), tasks.task(name).metric
        facts = {"task": name, "metric": metric, "note": notes.of(name)}
        for split in searched or samples.reported(name):
            for cell in _cells(name, grid):
                sample = samples.of(cell, split, metric) if cell else None
                place = {key: getattr(cell, key, None) for key in ("arch", "aux")}
                place["n_transfer"] = str(cell.n_transfer) if cell else None
                place["variant"] = VARIANTS[cell.aux] if cell else None
                key = (cell.aux if cell else "", name, split, metric)
                own = {**numbers(sample), **without.get(key, decontaminated.NONE)}
                rows.append({**facts, "split": split, **searched.get(split, {}), **place, **own})
    table = pd.DataFrame(rows).reindex(columns=COLUMNS)
    return Table(table, _wide(table, grid, notes))


def _shares(results: Path, grid: Grid, name: str) -> dict[str, dict[str, float]]:
    """SHARES by split; nothing if the corpus was not searched."""
    full = [cell for cell in grid.full_transformer() if cell.task == name]
    for cell in [*full, None]:
        rows = decontaminated.marked_rows(results, name, cell)
        if rows is not None and ("seed" in rows or cell is None):
            return decontaminated.shares(rows).to_dict("index")
    return {}


def _cells(name: str, grid: Grid) -> list[Cell | None]:
    """This run's cells that report the task; None for a task of the zero-shot figure alone."""
    return [cell for cell in grid.full_transformer() if cell.task == name] or [None]


def _wide(table: pd.DataFrame, grid: Grid, notes: Notes) -> list[str | pd.DataFrame]:
    percent = "{:.1f} %"
    text = pd.DataFrame(
        {
            "task": table["task"].map(notes.mark),
            "split": table["split"],
            "rows": table["rows"].map("{:.0f}".format),
            "contaminated": table["share"].map(percent.format),
            "too short": table["short"].map(percent.format),
            "metric": table["metric"].map(markdown.METRICS),
        }
    )
    text.loc[table["rows"].isna(), ["rows", "contaminated", "too short"]] = markdown.MISSING
    keys = list(text)
    for name, shown in (("all rows", markdown.score), ("decontaminated", markdown.decontaminated)):
        text[name] = table.apply(shown, axis=1)
    wide = text[keys].drop_duplicates().set_index(["task", "split"])
    for aux in grid.aux:
        of_aux = text[table["aux"] == aux].set_index(["task", "split"])
        for name in ("all rows", "decontaminated"):
            wide[f"aux {aux}: {name}"] = of_aux[name]
    wide = wide.fillna(markdown.NONE).reset_index("split")
    return ["# Contamination", wide, *notes.footnote(), ABOUT]
