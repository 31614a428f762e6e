"""Figure 2 left: the score against the number of layers transferred.

`n_transfer` is `none` (nothing copied), 0 (the embeddings alone) or the number of lowest blocks
copied as well. Each task has rows for its reported splits and for its training rows. Task `mean` is
the unweighted mean of all tasks (MNLI counted once, as the mean of its two splits).
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pandas as pd

from workflow.analysis import markdown
from workflow.analysis.lines import Lines, wide
from workflow.analysis.notes import Notes
from workflow.analysis.stats.samples import Samples
from workflow.analysis.table import Table
from workflow.grid import Grid


def build(results: Path, grid: Grid) -> Table:
    """One row per (arch, aux, n_transfer, task, split), by the task's main metric."""
    samples, notes = (
        Samples.of_grid(results, grid, ["ablation", "layer_transfer"]),
        Notes.read(results, grid.tasks),
    )
    study = grid.studies["layer_transfer"]
    run = Lines(study, grid, samples, notes, {"mean": study.tasks})
    frame = pd.concat(_frames(run), ignore_index=True)
    return Table(frame, _parts(run, frame))


def _frames(run: Lines) -> Iterator[pd.DataFrame]:
    """The mean of all tasks, each task on each of its splits, then all on the training rows."""
    headline = run.frame()
    yield headline[headline["task"] == "mean"].assign(split="reported")
    for task in run.study.tasks:
        for split in run.samples.reported(task):
            frame = run.frame(partial(run.on, split))
            yield frame[frame["task"] == task].assign(split=split)
    yield run.frame(partial(run.on, "train")).assign(split="train")


def _parts(run: Lines, frame: pd.DataFrame) -> list[str | pd.DataFrame]:
    titles = {name: run.notes.mark(name) for name in run.study.tasks} | {"mean": "mean"}
    splits = frame["split"].str.replace("_", " ")
    frame = frame.assign(head=frame["task"].map(titles) + " (" + splits + ")")
    is_train = frame["split"] == "train"
    return [
        f"# {run.study.title}",
        wide(frame[~is_train], run.study),
        "## The training rows",
        wide(frame[is_train], run.study).drop(index=[*markdown.BASELINES.values()]),
        *run.notes.footnote(),
        "`n_transfer`: layers transferred; 0 is the embeddings alone. " + markdown.LEGEND,
    ]
