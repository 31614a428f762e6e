"""The table of a study, from its lines and the additions for its axis."""

import math
from pathlib import Path

from tasks.world.degrees import read_degrees
from workflow.analysis.figures import lines, style
from workflow.analysis.lines import Lines, compared, wide
from workflow.analysis.notes import Notes
from workflow.analysis.stats.samples import Samples
from workflow.analysis.studies import few_rows, parts, skills, variances, zero_shot
from workflow.analysis.table import Table
from workflow.grid import Grid, StudyPlan


def build(results: Path, grid: Grid, study: StudyPlan) -> Table:
    """The table of a study."""
    notes, samples = Notes.read(results, study.tasks), _samples(results, grid, study)
    averages = {"mean": study.tasks} if len(study.tasks) > 1 else {}
    run = Lines(study, grid, samples, notes, averages)
    frame = run.frame()
    headed = frame.assign(head=frame["task"].map(run.titles()))
    expected = [f"Expected: {sentence}" for sentence in study.expected]
    sections = [f"# {study.title}", *expected, wide(headed, study)]
    sections += [] if study.is_compared else compared(headed, study)
    if study.axis == "train_share":
        known = few_rows.train_rows(results, study)
        places = zip(frame["task"], frame["value"], strict=True)
        frame = frame.assign(train_rows=[known.get(place, math.nan) for place in places])
    if study.axis == "checkpoint":
        frame, more = zero_shot.add(frame, results, study, run.scores())
        sections += more
    if study.skills:
        frame, more = skills.add(frame, results, run)
        sections += more
    if any(len(study.seeds) >= 2 * len(point.of.pretrain) > 2 for point in study.points):
        frame, more = variances.add(frame, run)
        sections += more
    if study.is_compared:
        frame, more = parts.add(frame, run)
        sections += more
    return Table(frame, [*sections, *run.legend()])


def write(results: Path, grid: Grid, study: StudyPlan, out: Path) -> None:
    """Write the table as CSV and Markdown, and the figure as PNG, SVG and PDF."""
    made = build(results, grid, study)
    made.write(out)
    draw = parts.draw if study.is_compared else lines.draw
    style.save(lambda: draw(made.frame, study), out.with_suffix(".png"))


def _samples(results: Path, grid: Grid, study: StudyPlan) -> Samples:
    """The samples of the study's cells and of the run's pooled cells, where they were run."""
    found, seeds = Samples(), tuple(study.seeds or grid.seeds.finetune)
    examples, shares = results / "examples", few_rows.shares(study)
    world = results / "world" / "degrees.csv"
    degrees = read_degrees(world) if study.is_compared and world.exists() else None
    for cell in dict.fromkeys([*study.cells(), *grid.pooled(study)]):
        if cell.path(results).exists():
            share = shares.get(cell)
            own = (
                few_rows.bag_of_words(examples / cell.task, cell.task, share, seeds)
                if share
                else None
            )
            found.add(cell, results, seeds, degrees, own)
    return found
