"""`layer_transfer.csv`: Figure 2 left, the score against the number of layers transferred.

    python -m workflow.analysis.layer_transfer --results R --settings JSON --out layer_transfer.csv

`n_transfer` is `none` (nothing copied), 0 (the embeddings alone) or the number of lowest blocks
copied as well. Beside each task on its reported splits stand the training rows, and as task `mean`
the unweighted mean of all tasks (MNLI counted once, as the mean of its two splits).
"""

import sys
from pathlib import Path
from typing import Any

import pandas as pd

import tasks
from tasks.common.errors import run
from workflow.analysis import collect, output, subsets, summary

POINT = ["arch", "aux", "n_transfer", "task", "metric", "split"]


def build(results: Path, settings: dict[str, Any]) -> tuple[pd.DataFrame, str]:
    """One row per (arch, aux, n_transfer, task, split), main metric of the task."""
    runs = collect.read_runs(results, settings)
    names = settings["tasks"]
    is_main = pd.Series([tasks.task(row.task).metric == row.metric for row in runs.itertuples()])
    single = runs[is_main.to_numpy(dtype=bool)]
    heads, train = summary.headline(runs, names), summary.headline(runs, names, train=True)
    means = [
        summary.average(heads, names, "mean").assign(split="reported"),
        summary.average(train, names, "mean").assign(split="train"),
    ]
    table = summary.summarise(pd.concat([single, *means]), POINT)
    notes = subsets.notes(results, names)
    told = {**notes, "mean": subsets.joined(notes, names)}
    wanted = []
    for arch in settings["arch"]:
        for aux in settings["aux"]:
            for n_transfer in collect.layers(settings, arch):
                for task, metric, split in _lines(names, runs):
                    point = (arch, aux, n_transfer, task, metric, split)
                    wanted.append(dict(zip(POINT, point, strict=True)) | {"note": told[task]})
    table = summary.complete(table, wanted, POINT)
    return table, _wide(table, settings, notes)


def _lines(names: list[str], runs: pd.DataFrame) -> list[tuple[str, str, str]]:
    lines = [("mean", "mean", "reported"), ("mean", "mean", "train")]
    for name in names:
        splits = [*summary.reported(name, runs), "train"]
        lines += [(name, tasks.task(name).metric, split) for split in splits]
    return lines


def _wide(table: pd.DataFrame, settings: dict[str, Any], notes: dict[str, str]) -> str:
    parts = ["# Layers transferred (Figure 2, left)"]
    for (arch, aux), mine in table.groupby(["arch", "aux"], sort=False):
        parts.append(f"## {arch}, auxiliary LM {aux}")
        keys = list(dict.fromkeys(zip(mine["task"], mine["split"], strict=True)))
        cells = {(row["task"], row["split"], row["n_transfer"]): row for _, row in mine.iterrows()}
        points = collect.layers(settings, arch)
        means = mine[mine["task"] == "mean"].groupby("n_transfer")["n_seeds"]
        rows = [["seeds", *(f"{means.get_group(n).iloc[0]}" for n in points)]]
        rows += [
            [
                f"{_title(task, notes)} ({split})",
                *(output.score(cells[task, split, n]) for n in points),
            ]
            for task, split in keys
        ]
        parts.append(output.markdown(["score", *points], rows))
    parts += subsets.footnote(notes)
    parts.append("Columns: layers transferred; 0 is the embeddings alone. " + output.ALARM_NOTE)
    return "\n\n".join(parts)


def _title(task: str, notes: dict[str, str]) -> str:
    return "mean of all tasks" if task == "mean" else subsets.mark(notes, task)


if __name__ == "__main__":
    sys.exit(run(lambda: output.program(build)))
