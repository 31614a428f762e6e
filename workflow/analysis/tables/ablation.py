"""Table 5: the paper's four variants on its eight tasks, with the average (paper 5).

`w/o pre-training` is the same recipe with nothing transferred; `w/o aux LM` has `lm_coef` 0. After
the paper's eight tasks come the others that were run, and the average over all of the grid. The
negative control is the full model, but pre-trained on books whose sentences are shuffled: what it
keeps of the gain owes nothing to the order of words.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import tasks
from workflow.analysis import markdown
from workflow.analysis.notes import Notes, fewer_seeds
from workflow.analysis.paper import EIGHT, FULL, Variant, variants
from workflow.analysis.records import ExamplesRecord
from workflow.analysis.stats.estimate import Sample, difference, mean_of, numbers
from workflow.analysis.stats.pooling import estimates
from workflow.analysis.stats.samples import Samples, official_sets
from workflow.analysis.table import Table
from workflow.grid import Grid

INPUTS = ("endpoints", "shuffled", "facts")
Heads = dict[str, Sample | None]  # by task


def build(results: Path, grid: Grid) -> Table:
    """One row per (variant, task) and per (variant, average).

    `diff` is the variant minus the full transformer, paired by row and seed.
    """
    samples, notes = Samples.of_grid(results, grid, INPUTS), Notes.read(results, grid.tasks)
    others = [name for name in grid.tasks if name not in EIGHT]
    averages = {"avg": list(EIGHT), "avg_all": grid.tasks}
    lines = _lines(samples, [*EIGHT, *others], averages, notes)
    n_rows = _train_rows(results, grid.tasks)
    full = _heads(samples, FULL, grid, [*EIGHT, *others])
    rows: list[dict[str, Any]] = []
    for variant in variants(grid):
        heads = _heads(samples, variant, grid, list(full))
        of_variant = estimates(heads, averages)
        paired = {name: difference(heads[name], full[name]) for name in full}
        diffs = estimates(paired, averages) if variant != FULL else {}
        place = {"variant": variant.title, "arch": variant.arch, "aux": variant.aux}
        place |= {"corpus": variant.corpus, "n_transfer": _layers(variant, grid)}
        for line in lines:
            name = line["task"]
            sample = mean_of(heads, averages[name]) if name in averages else heads[name]
            diff = diffs.get(name)
            low, high = diff.interval if diff else (np.nan, np.nan)
            rows.append(
                {
                    **place,
                    **line,
                    "paper": variant.printed(name),
                    **numbers(sample, of_variant.get(name)),
                    "diff": diff.value if diff else np.nan,
                    "diff_low": low,
                    "diff_high": high,
                    "train_rows": n_rows.get(name),
                }
            )
    table = pd.DataFrame(rows)
    return Table(table, _wide(table, others, grid, notes))


def _lines(
    samples: Samples, names: list[str], averages: dict[str, list[str]], notes: Notes
) -> list[dict[str, str]]:
    """What a row says of its task, the averages first and last."""
    splits = {name: "+".join(samples.headline_splits(name)) for name in names}
    lines = [
        {"task": t, "metric": tasks.task(t).metric, "split": splits[t], "note": notes.of(t)}
        for t in names
    ]
    first, last = (
        {
            "task": label,
            "metric": "mean",
            "split": official_sets("+".join(splits[name] for name in members)),
            "note": notes.joined(members),
        }
        for label, members in averages.items()
    )
    return [first, *lines, last]


def _heads(samples: Samples, variant: Variant, grid: Grid, names: list[str]) -> Heads:
    cells = {name: variant.cell(grid, name) for name in names}
    return {name: samples.headline(cell) if cell else None for name, cell in cells.items()}


def _layers(variant: Variant, grid: Grid) -> str:
    is_all = variant.n_transfer == "all"
    return str(grid.n_layer.get(variant.arch, "all") if is_all else variant.n_transfer)


def _train_rows(results: Path, names: list[str]) -> dict[str, int]:
    """The training rows of each task that was prepared."""
    paths = {name: results / "examples" / f"{name}.json" for name in names}
    found = {n: ExamplesRecord.read(path).rows for n, path in paths.items() if path.exists()}
    return {name: rows["train"] for name, rows in found.items() if "train" in rows}


def _wide(
    table: pd.DataFrame, others: list[str], grid: Grid, notes: Notes
) -> list[str | pd.DataFrame]:
    n_tasks = len(grid.tasks)
    return [
        "# Ablations (Table 5)",
        _markdown(table, ["avg", *EIGHT], "Avg (8)", notes),
        *notes.footnote(),
        "Avg is the unweighted mean of the eight columns. The paper's rows are scores of the GLUE "
        "test server; ours are on the split that the column names. " + markdown.LEGEND,
        f"## Further tasks, and the average over all {n_tasks} tasks of this config",
        _markdown(table, ["avg_all", *others], f"Avg ({n_tasks})", notes),
        "## Difference to the full transformer",
        _differences(table, notes, n_tasks),
        "`a [b, c]`: the variant minus the full transformer, paired by row and seed, and "
        f"{markdown.INTERVAL}.",
        *fewer_seeds(grid),
    ]


def _differences(table: pd.DataFrame, notes: Notes, n_tasks: int) -> pd.DataFrame:
    """Tasks down, variants across, for twelve differences with intervals are too wide a line."""
    titles = {"avg": "Avg of the paper's tasks", "avg_all": f"Avg of all {n_tasks}"}
    names = table["task"].map(lambda name: titles.get(name) or notes.mark(name))
    columns = (table[name] for name in ("diff", "diff_low", "diff_high"))
    shown = [markdown.interval(*row) for row in zip(*columns, strict=True)]
    rows = table.assign(line=names, shown=shown)[table["variant"] != FULL.title]
    return markdown.pivot(rows, "line", "variant", "shown").rename_axis("task")


def _markdown(table: pd.DataFrame, columns: list[str], average: str, notes: Notes) -> pd.DataFrame:
    table = pd.concat([table[table["task"] == task] for task in columns])
    heads = {columns[0]: average}
    for row in table[table["task"].isin(columns[1:])].itertuples():
        metric, split = markdown.METRICS[row.metric], official_sets(row.split)
        heads[row.task] = f"{notes.mark(row.task)} ({metric}, {split})"
    table = table.assign(head=table["task"].map(heads), seeds=markdown.NONE)
    lines = []
    for variant, mine in table.groupby("variant", sort=False):
        ours = mine.assign(shown=mine.apply(markdown.score, axis=1))
        lines.append(ours.assign(line=variant, seeds=markdown.seeds(mine["n_seeds"])))
        if mine["paper"].notna().any():
            printed = mine["paper"].map(markdown.value)
            lines.append(mine.assign(line=f"*paper: {variant}*", shown=printed))
    long = pd.concat(lines)
    wide = markdown.pivot(long, "line", "head", "shown")
    wide.insert(0, "seeds", long.groupby("line")["seeds"].first())
    wide = pd.concat([wide, markdown.baselines(table, "head")]).fillna(markdown.NONE)
    return wide.rename_axis("variant")
