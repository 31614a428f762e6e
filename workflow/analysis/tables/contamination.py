"""The share of the reported rows that overlap the corpus, and the scores without them.

A row of the table is a task, a reported split (or one of RACE's groups) and this run's fully
transferred transformer with or without the auxiliary loss. A task that is only in the zero-shot
figure has no such cell.
"""

from pathlib import Path

import pandas as pd

from gpt1.records import N
from workflow.analysis import decontaminated, markdown
from workflow.analysis.notes import Notes
from workflow.analysis.stats.estimates import Estimate, numbers
from workflow.analysis.stats.samples import Samples
from workflow.analysis.table import Table
from workflow.analysis.tables.main import VARIANTS
from workflow.grid import Grid

COLUMNS = [
    *("arch", "variant", "task", "metric", "split", "n_transfer", "aux", "n_seeds", "mean", "sd"),
    *("alarms", "note", "rows", "share", "short", *decontaminated.COLUMNS),
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
    samples, notes = (
        Samples.of_grid(results, grid, ["transformer_ablation"]),
        Notes.read(results, grid.examples),
    )
    rows = []
    for name in grid.examples:
        cells = [cell for cell in grid.full_transformer() if cell.task == name]
        searched = decontaminated.shares(results, name, cells).to_dict("index")
        for split in searched or samples.reported(name):
            line = {"task": name, "metric": grid.task(name).metric, "note": notes.of(name)}
            line |= {"split": split, **searched.get(split, {})}
            for cell in cells:
                own = grid.line(cell)
                place = {"arch": own.arch, "aux": own.aux, "variant": VARIANTS[own.aux]}
                place |= {"n_transfer": str(own.n_transfer)}
                score = samples.of(cell, split, line["metric"])
                found = Estimate(score, (score.over_seeds,)) if score else None
                rows.append(line | place | numbers(found))
            if not cells:
                rows.append(line | numbers(None))
    table = pd.DataFrame(rows).reindex(columns=COLUMNS[: -len(decontaminated.COLUMNS)])
    table = decontaminated.add(table, results, grid)
    return Table(table, _wide(table, grid, notes))


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
    wide = text.drop_duplicates().set_index(["task", "split"])
    text["all rows"] = table.apply(markdown.score, axis=1)
    text["decontaminated"] = table.apply(markdown.decontaminated, axis=1)
    for aux in grid.aux:
        of_aux = text[table["aux"] == aux].set_index(["task", "split"])
        for name in ("all rows", "decontaminated"):
            wide[f"aux {aux}: {name}"] = of_aux[name]
    wide = wide.fillna(markdown.NONE).reset_index("split")
    return ["# Contamination", wide, *notes.footnote(), ABOUT]
