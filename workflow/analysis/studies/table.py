"""The table of a study, from its lines and what its axis or its prediction adds."""

import math
from pathlib import Path

from workflow.analysis.lines import Lines, compared, wide
from workflow.analysis.notes import Notes
from workflow.analysis.stats.samples import Samples
from workflow.analysis.studies import few_rows, knockout, zero_shot
from workflow.analysis.table import Table
from workflow.grid import Grid, StudyPlan


def build(results: Path, grid: Grid, study: StudyPlan) -> Table:
    """The table of a study of whole cells."""
    notes, samples = Notes.read(results, study.tasks), _samples(results, grid, study)
    averages = {"mean": study.tasks} if len(study.tasks) > 1 else {}
    run = Lines(study, grid, samples, notes, averages)
    frame = run.frame()
    headed = frame.assign(head=frame["task"].map(run.titles()))
    parts = [f"# {study.title}", wide(headed, study), *compared(headed, study)]
    if study.axis == "train_share":
        known = few_rows.train_rows(results, study)
        places = zip(frame["task"], frame["value"], strict=True)
        frame = frame.assign(train_rows=[known.get(place, math.nan) for place in places])
    if study.axis == "checkpoint":
        frame, more = zero_shot.add(frame, results, study, run.scores())
        parts += more
    if study.predicted:
        frame, more = knockout.add(frame, study)
        parts += more + knockout.cloze(results, grid, study)
    return Table(frame, [*parts, *run.legend()])


def _samples(results: Path, grid: Grid, study: StudyPlan) -> Samples:
    """Samples of the study's cells and of those of the run that are pooled; of those that ran."""
    found, seeds = Samples(), tuple(grid.seeds.finetune)
    examples, shares = results / "examples", few_rows.shares(study)
    for cell in dict.fromkeys([*study.cells(), *grid.pooled(study)]):
        if cell.path(results).exists():
            share = shares.get(cell)
            own = (
                few_rows.bag_of_words(examples / cell.task, cell.task, share, seeds)
                if share
                else None
            )
            found.add(cell, results, seeds, bag_of_words=own)
    return found
