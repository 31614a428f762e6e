"""Where the time of a run goes: by stage, inside and outside the training loops; and by task."""

import pandas as pd
from matplotlib.figure import Figure

import tasks
from workflow.analysis.figures import style
from workflow.grid import Grid


def draw(table: pd.DataFrame, grid: Grid) -> Figure:
    """Left the stages; right the tasks' fine-tuning, one bar for each architecture."""
    figure = Figure(figsize=(13, 5), layout="constrained")
    left, right = figure.subplots(1, 2)
    if table.empty:  # the benchmarks of the jobs are gone
        style.note_missing(left)
        style.note_missing(right)
        return figure
    sums = table.groupby("stage", sort=False)[["train_seconds", "job_seconds"]].sum() / 60
    outside = (sums["job_seconds"] - sums["train_seconds"]).clip(lower=0)
    stages = pd.DataFrame(
        {"in training loops": sums["train_seconds"], "the rest of the jobs": outside}
    )
    stages.plot.barh(ax=left, stacked=True, width=0.8, color=[style.BLUE, style.GREY])
    left.set_xlabel("minutes")

    cells = table[table["stage"] == "fine-tuning"]
    minutes = cells.pivot_table("train_seconds", "task", "arch", "sum") / 60
    minutes = minutes.reindex(index=grid.tasks, columns=grid.arch, fill_value=0)
    minutes.index = pd.Index([tasks.task(name).title for name in grid.tasks])
    looks = [style.MODELS[arch] for arch in grid.arch]
    minutes.columns = pd.Index([look["label"] for look in looks])
    minutes.plot.barh(ax=right, width=0.8, color=[look["color"] for look in looks])
    right.set_xlabel("minutes of fine-tuning, all cells and seeds")
    for ax in (left, right):
        ax.invert_yaxis()
        ax.set_ylabel("")
        ax.grid(visible=False, axis="y")
    return figure
