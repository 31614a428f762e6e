"""Figure 2 right: zero-shot scores along pre-training, by the paper's heuristics and by prompts.

`scoring` is `heuristic` (paper 5), `prompt` or `calibrated` (`tasks.prompt`). `relative` is
(score - random) / (best - random), with the config's two values for each task: 0 is a random guess,
1 the state of the art. Task `mean` is the unweighted mean of the relative scores of all tasks with
that scoring.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pandas as pd

from gpt1.cell import PretrainedModel
from gpt1.records import ZeroShotScore
from tasks.prompt import Scoring
from workflow.analysis import markdown
from workflow.analysis.examples import read_examples
from workflow.analysis.notes import Notes
from workflow.analysis.table import Table
from workflow.grid import Grid

COLUMNS = [
    *("arch", "task", "scoring", "metric", "split", "n_seeds", "mean", "sd", "update", "tokens"),
    *("relative", "relative_low", "relative_high", "relative_by_seed", "random", "best", "n"),
    *("threshold", "note"),
]
KEY = ["arch", "update", "scoring", "task"]
HEADS = {
    "heuristic": "the paper's heuristics",
    "prompt": "prompts",
    "calibrated": "prompts, calibrated by the choice alone",
}


def build(results: Path, grid: Grid) -> Table:
    """One row per (arch, task, update, scoring); a missing score is empty, with n_seeds 0.

    `mean`, `sd`, `relative` and `threshold` are over the pre-training seeds. `relative_low` and
    `relative_high` are the lowest and the highest relative score, `relative_by_seed` has all of
    them. The mean of the tasks is taken within each seed first; a seed that lacks a task has none.
    """
    runs = pd.DataFrame(
        [
            one
            for model in grid.models()
            for update in grid.updates
            for name in grid.zero_shot.tasks
            for one in _read(results, model, update, name, grid.zero_shot.scorings(name))
        ]
    )
    runs = runs.reindex(columns=[*KEY, "seed", "split", "score", "tokens", "n", "threshold"])
    limits = {name: of.model_dump() for name, of in grid.zero_shot.normalise.items()}
    runs = runs.join(pd.DataFrame.from_dict(limits, orient="index"), on="task")
    scales = grid.zero_shot.normalise
    runs["relative"] = [
        scales[task].relative(score)
        for task, score in zip(runs["task"], runs["score"], strict=True)
    ]
    means = runs.groupby(["arch", "update", "scoring", "seed"], sort=False, as_index=False).agg(
        relative=("relative", lambda scores: scores.mean(skipna=False)), tokens=("tokens", "first")
    )
    runs = pd.concat([runs, means.assign(task="mean")], ignore_index=True)
    scored = {s: names for s in get_args(Scoring) if (names := grid.zero_shot.of(s))}
    places = [(s, name) for s, names in scored.items() for name in [*names, "mean"]]
    order = [(a, u, *place) for a in grid.arch for u in grid.updates for place in places]
    table = _over_seeds(runs).loc[order].reset_index()
    metrics = {n: grid.task(n).metric for n in grid.zero_shot.tasks} | {"mean": "mean"}
    table["metric"] = table["task"].map(metrics)
    notes = _notes(results, grid, table)
    table["note"] = [
        notes.joined(scored[scoring]) if name == "mean" else notes.of(name)
        for scoring, name in zip(table["scoring"], table["task"], strict=True)
    ]
    return Table(table[COLUMNS], _wide(table, grid, notes))


def _read(
    results: Path, model: PretrainedModel, update: int, task: str, scorings: list[Scoring]
) -> Iterator[dict[str, Any]]:
    """A checkpoint's scores, or just their identifying fields if they were not computed."""
    place = {"arch": model.arch, "seed": model.seed, "update": update, "task": task}
    record = ZeroShotScore.find(model.zero_shot(results, task, update), **place)
    for scoring in scorings:
        own = {"scoring": scoring} | place
        yield record.model_dump() | own | {"score": record.by_scoring[scoring]} if record else own


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
    """The tasks' notes, with the number of rows scored where that is not all of them.

    All are the published ones or, of the user's own tasks, those that were prepared.
    """
    found = Notes.read(results, grid.zero_shot.tasks)
    prepared = read_examples(results, grid.own)
    notes = dict(found.by_task)
    for row in table.dropna(subset="n").drop_duplicates("task").itertuples():
        own = prepared.get(row.task)
        if row.n < (own or grid.task(row.task)).rows.get(row.split, 0):
            more = f"scored on {int(row.n):,} rows"
            notes[row.task] = "; ".join(filter(None, (notes[row.task], more)))
    return replace(found, by_task=notes)


def _wide(table: pd.DataFrame, grid: Grid, notes: Notes) -> list[str | pd.DataFrame]:
    names = grid.zero_shot.tasks
    heads = {"mean": "mean (relative)"} | {
        name: f"{notes.mark(name)} ({markdown.METRICS[grid.task(name).metric]})" for name in names
    }
    table = table.assign(head=table["task"].map(heads), shown=table.apply(_shown, axis=1))
    parts: list[str | pd.DataFrame] = ["# Zero-shot scores along pre-training (Figure 2, right)"]
    for (arch, scoring), mine in table.groupby(["arch", "scoring"], sort=False):
        shown = [heads[name] for name in ("mean", *grid.zero_shot.of(scoring))]
        wide = markdown.pivot(mine, "update", "head", "shown")[shown]
        tokens = mine.groupby("update")["tokens"].first()
        # published weights have no number of tokens
        unknown = mine.groupby("update")["n_seeds"].any().map({True: markdown.NONE})
        text = tokens.map("{:.0f}".format, na_action="ignore")
        wide.insert(0, "tokens", text.astype(object).fillna(unknown).fillna(markdown.MISSING))
        parts += [f"## {arch}, {HEADS[scoring]}", wide]
    scale = "; ".join(
        f"{grid.task(name).title} {limits.random:g} to {limits.best:g}"
        for name, limits in grid.zero_shot.normalise.items()
    )
    parts += notes.footnote()
    parts.append(
        "`a ± b`: mean and standard deviation over pre-training seeds (no `±`: one). "
        "In brackets the relative score: 0 is a random guess (by F1 always yes), 1 the state of "
        f"the art or all rows ({scale}). `missing`: not run."
        + (" Update 0 is the untrained model." if 0 in grid.updates else "")
    )
    return parts


def _shown(row: pd.Series) -> str:
    if not row["n_seeds"]:
        return markdown.MISSING
    relative = f"{row['relative']:.3f}"
    return relative if row["task"] == "mean" else f"{markdown.score(row)} ({relative})"
