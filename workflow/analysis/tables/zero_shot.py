"""Figure 2 right: zero-shot scores along pre-training (paper 5, heuristics).

`relative` is (score - random) / (best - random), with the config's two values for each task: 0 is a
random guess, 1 the state of the art. Task `mean` is the unweighted mean of the relative scores.
"""

from pathlib import Path
from typing import Any

import pandas as pd

import tasks
from tasks.common.errors import InputError
from workflow.analysis import markdown
from workflow.analysis.notes import Notes
from workflow.analysis.records import ZeroShotScore
from workflow.analysis.table import Table
from workflow.grid import Grid

COLUMNS = [
    *("arch", "task", "metric", "split", "n_seeds", "mean", "update", "tokens", "relative"),
    *("random", "best", "n", "threshold", "note"),
]


def build(results: Path, grid: Grid) -> Table:
    """One row per (arch, task, update); a score that was not made is empty with n_seeds 0."""
    rows = []
    for arch in grid.arch:
        for update in grid.updates:
            points = [_point(results, grid, arch, name, update) for name in grid.zero_shot.tasks]
            rows += [*points, _mean(points, arch, update)]
    table = pd.DataFrame(rows, columns=COLUMNS)
    notes = _notes(results, grid, table)
    by_task = {**notes.by_task, "mean": notes.joined(grid.zero_shot.tasks)}
    table["note"] = table["task"].map(by_task)
    return Table(table, _wide(table, grid, notes))


def _notes(results: Path, grid: Grid, table: pd.DataFrame) -> Notes:
    """The tasks' notes, and how many rows were scored where these are not all published ones."""
    notes = Notes.read(results, grid.zero_shot.tasks).by_task
    for row in table.dropna(subset="n").drop_duplicates("task").itertuples():
        if row.n < tasks.task(row.task).rows[row.split]:
            more = f"scored on {int(row.n):,} rows"
            notes[row.task] = "; ".join(filter(None, (notes[row.task], more)))
    return Notes(notes)


def _point(results: Path, grid: Grid, arch: str, task: str, update: int) -> dict[str, Any]:
    limits = grid.zero_shot.normalise.get(task)
    if limits is None or limits.best == limits.random:
        raise InputError(
            f"zero_shot.normalise.{task}: {limits}; give two different values, 'random' and 'best'"
        )
    point = {"arch": arch, "task": task, "update": update, "n_seeds": 0, **limits.model_dump()}
    path = Path(results) / "zero_shot" / arch / task / f"update-{update}.json"
    if not path.exists():
        return {**point, "metric": tasks.task(task).metric}
    found = ZeroShotScore.read(path, arch=arch, task=task, update=update)
    relative = (found.score - limits.random) / (limits.best - limits.random)
    shown = found.model_dump(include={"metric", "split", "tokens", "n", "threshold"})
    return {**point, "n_seeds": 1, "mean": found.score, "relative": relative, **shown}


def _mean(points: list[dict[str, Any]], arch: str, update: int) -> dict[str, Any]:
    mean = {"arch": arch, "task": "mean", "metric": "mean", "update": update, "n_seeds": 0}
    if not all(point["n_seeds"] for point in points):
        return mean
    relative = sum(point["relative"] for point in points) / len(points)
    return {**mean, "n_seeds": 1, "tokens": points[0]["tokens"], "relative": relative}


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
        if name in names
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
