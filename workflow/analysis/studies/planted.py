"""What planted rows do: the scores of two models by how often a row stood in the books.

Rows differ, so what planting adds is a difference of differences (`change`): of the model that
read the planted books, rows that stood there N times against rows that did not; less the same of
the model that read the run's own books, where none stands.
"""

from pathlib import Path

import numpy as np
import pandas as pd

import tasks
from gpt1.cell import Cell, home
from workflow.analysis import markdown
from workflow.analysis.notes import Notes
from workflow.analysis.predictions import answers, read_predictions
from workflow.analysis.records import check_examples
from workflow.analysis.stats.bootstrap import resample
from workflow.analysis.stats.estimate import Sample
from workflow.analysis.stats.samples import limits_of, shared_texts
from workflow.analysis.studies import detectors
from workflow.analysis.studies.detectors import Manifest, PlantedRows
from workflow.analysis.studies.table import DECIMALS, compare, legend, wide
from workflow.analysis.table import Table
from workflow.grid import Grid
from workflow.study_plan import StudyPlan

AXIS = "times in the books"


def build(results: Path, grid: Grid, study: StudyPlan) -> tuple[StudyPlan, Table]:
    """The study as it is shown, and its table, with the marked rows beside the scores."""
    folder = home(results, study.model(study.lines[0]))
    manifest = Manifest.read(folder / "world" / "manifest.json")
    shown = by_count(study, [0, *manifest.counts])
    rows = {task: detectors.marked_rows(folder, task, manifest) for task in study.tasks}
    of = manifest.planted
    scores = {
        point.place: {
            c.task: sample(c, grid, results, of[c.task], rows[c.task], int(point.value))
            for c in point.cells
        }
        for point in shown.points
    }
    notes, splits = Notes.read(results, study.tasks), {task: of[task].split for task in study.tasks}
    frame = compare(shown, scores, splits, notes)
    found = pd.DataFrame(
        {
            "line": study.lines[0],
            "value": value,
            "task": task,
            **detectors.shares(rows[task], value),
        }
        for task in study.tasks
        for value in shown.values
    )
    short = found.assign(
        text=[f"{share:.0f}" for share in found["short"]],
        head=[tasks.task(task).title for task in found["task"]],
    )
    parts = [
        *wide(frame, shown, notes),
        "## Rows too short to have 13 words in a row, %",
        markdown.pivot(short, "value", "head", "text").rename_axis(AXIS),
        "## Who finds the planted rows",
        detectors.detection(found),
        detectors.LEGEND,
        *legend(notes),
    ]
    frame = frame.merge(found, on=["line", "value", "task"], how="left")
    return shown, Table(frame, parts, DECIMALS | dict.fromkeys(detectors.SHARES, 4))


def by_count(study: StudyPlan, counts: list[int]) -> StudyPlan:
    """The study with the counts as its axis: both models on the rows of each count."""
    points = [
        point.model_copy(update={"value": str(count)}) for point in study.points for count in counts
    ]
    lines = [*study.references, *study.lines]
    changed = {"axis": AXIS, "lines": lines, "references": [], "points": points}
    return study.model_copy(update=changed)


def sample(
    cell: Cell,
    grid: Grid,
    results: Path,
    planted: PlantedRows,
    rows: pd.DataFrame,
    count: int,
) -> Sample | None:
    """The main metric on the rows that stood `count` times in the books; None if it was not run."""
    found = read_predictions(results, cell)
    places = np.flatnonzero(rows["count"] == count)
    if found is None or not len(places):
        return None
    check_examples(
        found.path, {planted.split: planted.examples}, results / "examples", found.examples
    )
    mine = found.rows[found.rows["split"] == planted.split]
    mine = mine[mine["seed"].isin(grid.seeds.finetune)]
    seeds = tuple(int(seed) for seed in mine["seed"].unique())
    if not seeds:
        return None
    said, labels = (
        answers(cell.task, mine[key]).reshape(len(seeds), -1)[:, places]
        for key in ("prediction", "label")
    )
    metric = tasks.task(cell.task).metric
    texts = shared_texts(cell.task, mine["guid"].to_numpy()[places])
    name = f"{cell.task}/{planted.split}/{count}"
    score, boot, n = resample(metric, said, labels[0], texts, name)
    source = tuple(grid.seeds.source(seed) for seed in seeds)
    return Sample(seeds, source, score, boot, n, limits_of(metric))
