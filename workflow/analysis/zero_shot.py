"""`zero_shot.csv`: Figure 2 right, zero-shot scores along pre-training (paper 5, heuristics).

    python -m workflow.analysis.zero_shot --results R --settings JSON --out R/zero_shot.csv

`relative` is (score - random) / (best - random), with the config's two values for each task: 0 is a
random guess, 1 the state of the art. Task `mean` is the unweighted mean of the relative scores.
"""

import sys
from pathlib import Path
from typing import Any

import pandas as pd

import tasks
from tasks.common.errors import InputError, run
from tasks.common.files import read_json
from workflow.analysis import output, subsets
from workflow.analysis.collect import REMEDY
from workflow.analysis.collect import score as read_score

COLUMNS = [
    *("arch", "task", "metric", "split", "n_seeds", "mean", "update", "tokens", "relative"),
    *("random", "best", "n", "threshold", "note"),
]


def build(results: Path, settings: dict[str, Any]) -> tuple[pd.DataFrame, str]:
    """One row per (arch, task, update); a score that was not made is empty with n_seeds 0."""
    rows = []
    for arch in settings["arch"]:
        for update in settings["updates"]:
            points = [_point(results, settings, arch, task, update) for task in _tasks(settings)]
            rows += points
            rows.append(_mean(points, arch, update))
    table = pd.DataFrame(rows, columns=COLUMNS)
    notes = _notes(results, settings, table)
    table["note"] = table["task"].map({**notes, "mean": subsets.joined(notes, list(notes))})
    return table, _wide(table, settings, notes)


def _notes(results: Path, settings: dict[str, Any], table: pd.DataFrame) -> dict[str, str]:
    """The tasks' notes, and how many rows were scored where these are not all published ones."""
    notes = subsets.notes(results, _tasks(settings))
    for name in notes:
        task = tasks.task(name)
        scored = table.loc[table["task"] == name, ["split", "n"]].dropna()
        if len(scored) and scored["n"].iloc[0] < task.rows[scored["split"].iloc[0]]:
            told = f"scored on {int(scored['n'].iloc[0]):,} rows"
            notes[name] = "; ".join(filter(None, (notes[name], told)))
    return notes


def _tasks(settings: dict[str, Any]) -> list[str]:
    return list(settings["zero_shot"]["tasks"])


def _point(
    results: Path, settings: dict[str, Any], arch: str, task: str, update: int
) -> dict[str, Any]:
    limits = settings["zero_shot"]["normalise"].get(task)
    if limits is None or limits["best"] == limits["random"]:
        raise InputError(
            f"zero_shot.normalise.{task}: {limits}; give two different values, 'random' and 'best'"
        )
    point = {"arch": arch, "task": task, "update": update, "n_seeds": 0, **limits}
    path = Path(results) / "zero_shot" / arch / task / f"update-{update}.json"
    if not path.exists():
        return {**point, "metric": tasks.task(task).metric}
    found = read_json(path)
    score = read_score(path, found, "score")
    for key, wanted in (("arch", arch), ("task", task), ("update", update)):
        if found.get(key) != wanted:
            raise InputError(f"{path}: '{key}' is {found.get(key)!r}, not {wanted!r}; {REMEDY}")
    return {
        **{**point, "n_seeds": 1, "mean": score},
        "relative": (score - limits["random"]) / (limits["best"] - limits["random"]),
        **{key: found.get(key) for key in ("metric", "split", "tokens", "n", "threshold")},
    }


def _mean(points: list[dict[str, Any]], arch: str, update: int) -> dict[str, Any]:
    mean = {"arch": arch, "task": "mean", "metric": "mean", "update": update, "n_seeds": 0}
    if not all(point["n_seeds"] for point in points):
        return mean
    relative = sum(point["relative"] for point in points) / len(points)
    return {**mean, "n_seeds": 1, "tokens": points[0]["tokens"], "relative": relative}


def _wide(table: pd.DataFrame, settings: dict[str, Any], notes: dict[str, str]) -> str:
    parts = ["# Zero-shot scores along pre-training (Figure 2, right)"]
    names = _tasks(settings)
    for arch, mine in table.groupby("arch", sort=False):
        head = ["update", "tokens", "mean (relative)"]
        for name in names:
            metric = output.METRICS[tasks.task(name).metric]
            head.append(f"{subsets.mark(notes, name)} ({metric})")
        rows = []
        for update, at in mine.groupby("update", sort=False):
            cells = {row["task"]: row for _, row in at.iterrows()}
            unknown = output.NONE if at["n_seeds"].any() else output.MISSING  # published weights
            tokens = next((f"{int(t)}" for t in at["tokens"].dropna()), unknown)
            mean = cells["mean"]["relative"]
            mean = output.MISSING if pd.isna(mean) else f"{mean:.3f}"
            rows.append([str(update), tokens, mean, *(_cell(cells[name]) for name in names)])
        parts += [f"## {arch}", output.markdown(head, rows)]
    scale = "; ".join(
        f"{tasks.task(name).title} {limits['random']:g} to {limits['best']:g}"
        for name, limits in settings["zero_shot"]["normalise"].items()
        if name in names
    )
    parts += subsets.footnote(notes)
    parts.append(
        "In brackets the relative score: 0 is a random guess, 1 the state of the art "
        f"({scale}). `missing`: not run."
        + (" Update 0 is the untrained model." if 0 in settings["updates"] else "")
    )
    return "\n\n".join(parts)


def _cell(row: Any) -> str:
    if not row["n_seeds"]:
        return output.MISSING
    return f"{row['mean']:.1f} ({row['relative']:.3f})"


if __name__ == "__main__":
    sys.exit(run(lambda: output.program(build)))
