"""Figure 2 right: zero-shot scores along pre-training (paper 5, heuristics).

`relative` is (score - random) / (best - random), with the config's two values for each task: 0 is a
random guess, 1 the state of the art. Task `mean` is the unweighted mean of the relative scores.
"""

from pathlib import Path
from typing import Any

import pandas as pd

import tasks
from gpt1.cell import PretrainedModel
from gpt1.records import ZeroShotScore
from workflow.analysis import markdown
from workflow.analysis.notes import Notes
from workflow.analysis.table import Table
from workflow.grid import Grid

INPUTS = ("zero_shot", "facts of zero-shot tasks")
COLUMNS = [
    *("arch", "task", "metric", "split", "n_seeds", "mean", "sd", "update", "tokens"),
    *("relative", "relative_low", "relative_high", "relative_by_seed", "random", "best", "n"),
    *("threshold", "note"),
]
KEY = ["arch", "update", "task"]


def build(results: Path, grid: Grid) -> Table:
    """One row per (arch, task, update); a score that was not made is empty with n_seeds 0.

    `mean`, `sd`, `relative` and `threshold` are over the pre-training seeds, `relative_low` and
    `relative_high` the lowest and the highest of them, `relative_by_seed` each. The mean of the
    tasks is taken within each seed first; a seed that lacks a task has none.
    """
    names = grid.zero_shot.tasks
    runs = pd.DataFrame(
        [
            _read(results, model, update, name)
            for model in grid.models()
            for update in grid.updates
            for name in names
        ]
    )
    runs = runs.reindex(columns=[*KEY, "seed", "split", "score", "tokens", "n", "threshold"])
    limits = {name: of.model_dump() for name, of in grid.zero_shot.normalise.items()}
    runs = runs.join(pd.DataFrame.from_dict(limits, orient="index"), on="task")
    runs["relative"] = (runs["score"] - runs["random"]) / (runs["best"] - runs["random"])
    means = runs.groupby(["arch", "update", "seed"], sort=False, as_index=False).agg(
        relative=("relative", lambda scores: scores.mean(skipna=False)), tokens=("tokens", "first")
    )
    runs = pd.concat([runs, means.assign(task="mean")], ignore_index=True)
    order = [(a, u, name) for a in grid.arch for u in grid.updates for name in [*names, "mean"]]
    table = _over_seeds(runs).loc[order].reset_index()
    metrics = {name: tasks.task(name).metric for name in names} | {"mean": "mean"}
    table["metric"] = table["task"].map(metrics)
    notes = _notes(results, grid, table)
    table["note"] = table["task"].map({**notes.by_task, "mean": notes.joined(names)})
    return Table(table[COLUMNS], _wide(table, grid, notes))


def _read(results: Path, model: PretrainedModel, update: int, task: str) -> dict[str, Any]:
    """A checkpoint's score, or just its identifying fields if it was not computed."""
    place = {"arch": model.arch, "seed": model.seed, "update": update, "task": task}
    record = ZeroShotScore.find(model.zero_shot(results, task, update), **place)
    return record.model_dump() if record else place


def _over_seeds(runs: pd.DataFrame) -> pd.DataFrame:
    return runs.groupby(KEY, sort=False).agg(
        **{name: (name, "first") for name in ("split", "tokens", "n", "random", "best")},
        n_seeds=("relative", "count"),
        mean=("score", "mean"),
        sd=("score", "std"),
        relative=("relative", "mean"),
        relative_low=("relative", "min"),
        relative_high=("relative", "max"),
        relative_by_seed=("relative", lambda scores: tuple(scores.dropna())),
        threshold=("threshold", "mean"),
    )


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
        "`a ± b`: mean and standard deviation over pre-training seeds (no `±`: one). "
        "In brackets the relative score: 0 is a random guess, 1 the state of the art "
        f"({scale}). `missing`: not run."
        + (" Update 0 is the untrained model." if 0 in grid.updates else "")
    )
    return parts


def _shown(row: pd.Series) -> str:
    if not row["n_seeds"]:
        return markdown.MISSING
    relative = f"{row['relative']:.3f}"
    return relative if row["task"] == "mean" else f"{markdown.score(row)} ({relative})"
