"""Figure 2 right: zero-shot scores along pre-training (paper 5, heuristics).

`relative` is (score - random) / (best - random), with the config's two values for each task: 0 is a
random guess, 1 the state of the art. Task `mean` is the unweighted mean of the relative scores.
"""

from pathlib import Path
from typing import Any

import pandas as pd

import tasks
from workflow.analysis import markdown
from workflow.analysis.notes import Notes
from workflow.analysis.records import ZeroShotScore
from workflow.analysis.table import Table
from workflow.grid import Grid

COLUMNS = [
    *("arch", "task", "metric", "split", "n_seeds", "mean", "update", "tokens", "relative"),
    *("random", "best", "n", "threshold", "note"),
]
KEY = ["arch", "update", "task"]
SCORES = ["metric", "split", "mean", "tokens", "n", "threshold"]


def build(results: Path, grid: Grid) -> Table:
    """One row per (arch, task, update); a score that was not made is empty with n_seeds 0."""
    names, limits = grid.zero_shot.tasks, grid.zero_shot.normalise
    points = [(a, u, name) for a in grid.arch for u in grid.updates for name in [*names, "mean"]]
    found = [_read(results, *point) for point in points if point[2] != "mean"]
    table = pd.DataFrame(points, columns=KEY).merge(
        pd.DataFrame([row for row in found if row], columns=[*KEY, *SCORES]), on=KEY, how="left"
    )
    table["random"] = table["task"].map({n: of.random for n, of in limits.items()})
    table["best"] = table["task"].map({n: of.best for n, of in limits.items()})
    metrics = {name: tasks.task(name).metric for name in names} | {"mean": "mean"}
    table["metric"] = table["metric"].fillna(table["task"].map(metrics))
    table["relative"] = (table["mean"] - table["random"]) / (table["best"] - table["random"])
    for _, mine in table.groupby(KEY[:2]):
        single, mean = mine.index[:-1], mine.index[-1]
        table.loc[mean, "relative"] = table.loc[single, "relative"].mean(skipna=False)
        table.loc[mean, "tokens"] = table.loc[single[0], "tokens"]
    table["n_seeds"] = table["relative"].notna().astype(int)
    notes = _notes(results, grid, table)
    table["note"] = table["task"].map({**notes.by_task, "mean": notes.joined(names)})
    return Table(table[COLUMNS], _wide(table, grid, notes))


def _read(results: Path, arch: str, update: int, task: str) -> dict[str, Any]:
    """A checkpoint's score; nothing if it was not made."""
    path = Path(results) / "zero_shot" / arch / task / f"update-{update}.json"
    if not path.exists():
        return {}
    found = ZeroShotScore.read(path, arch=arch, task=task, update=update).model_dump()
    return {**found, "mean": found["score"]}


def _notes(results: Path, grid: Grid, table: pd.DataFrame) -> Notes:
    """The tasks' notes, and how many rows were scored where these are not all published ones."""
    notes = Notes.read(results, grid.zero_shot.tasks).by_task
    for row in table.dropna(subset="n").drop_duplicates("task").itertuples():
        if row.n < tasks.task(row.task).rows[row.split]:
            more = f"scored on {int(row.n):,} rows"
            notes[row.task] = "; ".join(filter(None, (notes[row.task], more)))
    return Notes(notes)


def _wide(table: pd.DataFrame, grid: Grid, notes: Notes) -> list[str | pd.DataFrame]:
    names = grid.zero_shot.tasks
    heads = {"mean": "mean (relative)"} | {
        name: f"{notes.mark(name)} ({markdown.METRICS[tasks.task(name).metric]})" for name in names
    }
    table = table.assign(head=table["task"].map(heads), shown=table.apply(_shown, axis=1))
    parts: list[str | pd.DataFrame] = ["# Zero-shot scores along pre-training (Figure 2, right)"]
    for arch, mine in table.groupby("arch", sort=False):
        wide = markdown.pivot(mine, "update", "head", "shown")[[heads[n] for n in ("mean", *names)]]
        tokens = mine.groupby("update")["tokens"].first()
        # published weights have no number of tokens
        unknown = mine.groupby("update")["n_seeds"].any().map({True: markdown.NONE})
        text = tokens.map("{:.0f}".format, na_action="ignore")
        wide.insert(0, "tokens", text.astype(object).fillna(unknown).fillna(markdown.MISSING))
        parts += [f"## {arch}", wide]
    scale = "; ".join(
        f"{tasks.task(name).title} {limits.random:g} to {limits.best:g}"
        for name, limits in grid.zero_shot.normalise.items()
    )
    parts += notes.footnote()
    parts.append(
        "In brackets the relative score: 0 is a random guess, 1 the state of the art "
        f"({scale}). `missing`: not run."
        + (" Update 0 is the untrained model." if 0 in grid.updates else "")
    )
    return parts


def _shown(row: pd.Series) -> str:
    if not row["n_seeds"]:
        return markdown.MISSING
    relative = f"{row['relative']:.3f}"
    return relative if row["task"] == "mean" else f"{row['mean']:.1f} ({relative})"
