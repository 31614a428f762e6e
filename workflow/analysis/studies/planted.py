"""What planted rows do: the score by how often a row stood in the books, and who finds them.

Rows differ, so what planting adds is a difference of differences: of the model that read the
planted books, rows that stood there N times against rows that did not; less the same of the model
that read the run's own books, where none stands.
"""

from collections.abc import Iterable, Mapping
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
from workflow.analysis.stats.estimate import Sample, difference
from workflow.analysis.stats.pooling import estimates
from workflow.analysis.stats.samples import limits_of, shared_texts
from workflow.analysis.studies.detectors import (
    Manifest,
    PlantedRows,
    detection,
    marked_rows,
    shares,
)
from workflow.analysis.table import DECIMALS, Table
from workflow.grid import Grid
from workflow.study_plan import Point, StudyPlan

By = dict[tuple[str, int], Sample | None]  # task and count
OWN = ["own", "own_low", "own_high", "gain", "gain_low", "gain_high", "share_whole", "short"]


def build(results: Path, grid: Grid, study: StudyPlan) -> Table:
    """One row per task, and their mean, and count from 0: scores, differences, marked rows."""
    planted, own = points(study)
    folder = home(results, planted.model)
    manifest = Manifest.read(folder / "world" / "manifest.json")
    counts = [0, *manifest.counts]
    rows = {task: marked_rows(folder, task, manifest) for task in study.tasks}

    def samples(point: Point) -> By:
        of = manifest.planted
        return {
            (cell.task, n): sample(cell, grid, results, of[cell.task], rows[cell.task], n)
            for cell in point.cells
            for n in counts
        }

    searched = [
        {**of_task(t, manifest.planted[t]), "count": n, **shares(rows[t], n)}
        for t in study.tasks
        for n in counts
    ]
    means = [{"task": "mean", "metric": "mean", "count": n} for n in counts if len(study.tasks) > 1]
    frame = pd.DataFrame([*searched, *means])
    frame = add_scores(frame, study.tasks, counts, samples(planted), samples(own))
    parts = [*_scores(frame, study, Notes.read(results, study.tasks))]
    parts += ["## Who finds the planted rows", detection(pd.DataFrame(searched)), _legend()]
    return Table(frame, parts, DECIMALS | dict.fromkeys(OWN, 4))


def of_task(name: str, planted: PlantedRows) -> dict[str, str]:
    """The columns that say which score it is."""
    return {"task": name, "metric": tasks.task(name).metric, "split": planted.split}


def points(study: StudyPlan) -> tuple[Point, Point]:
    """The model that read the planted books, and the one that read the run's own."""
    planted = next(point for point in study.points if point.model)
    return planted, next(point for point in study.points if not point.model)


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
        answers(found.path, cell.task, mine[key]).reshape(len(seeds), -1)[:, places]
        for key in ("prediction", "label")
    )
    texts = shared_texts(cell.task, mine["guid"].to_numpy()[places])
    name = f"{cell.task}/{planted.split}/{count}"
    score, boot, n = resample(tasks.task(cell.task).metric, said, labels[0], texts, name)
    source = tuple(grid.seeds.source(seed) for seed in seeds)
    return Sample(seeds, source, score, boot, n, limits_of(tasks.task(cell.task).metric))


def add_scores(
    frame: pd.DataFrame, names: list[str], counts: list[int], planted: By, own: By
) -> pd.DataFrame:
    """The table with both models' scores by count (`mean`, `own`), and what planting adds.

    `diff` is that of planted rows to rows that were not, `gain` the same less the other model's.
    """
    columns: dict[str, dict[tuple[str, int], float]] = {}
    for count in counts:
        of: dict[str, dict[str, Sample | None]] = {
            "mean": {t: planted[t, count] for t in names},
            "own": {t: own[t, count] for t in names},
        }
        if count:
            of["diff"] = {t: difference(planted[t, count], planted[t, 0]) for t in names}
            usual = {t: difference(own[t, count], own[t, 0]) for t in names}
            of["gain"] = {t: difference(of["diff"][t], usual[t]) for t in names}
        for column, samples in of.items():
            for task, estimate in estimates(samples, {"mean": names}).items():
                values = zip(_limits(column), (estimate.value, *estimate.interval), strict=True)
                for key, value in values:
                    columns.setdefault(key, {})[task, count] = value
    places = list(zip(frame["task"], frame["count"], strict=True))
    found = {key: [of.get(place, np.nan) for place in places] for key, of in columns.items()}
    missing = {key: np.nan for name in ("mean", "own", "diff", "gain") for key in _limits(name)}
    return frame.assign(**{**missing, **found})


def _limits(column: str) -> tuple[str, str, str]:
    """A column with those of its interval."""
    name = "ci" if column == "mean" else column
    return column, f"{name}_low", f"{name}_high"


def _scores(frame: pd.DataFrame, study: StudyPlan, notes: Notes) -> Iterable[str | pd.DataFrame]:
    heads = {name: notes.mark(name) for name in study.tasks}
    heads["mean"] = f"mean of {len(study.tasks)}"
    yield f"# {study.title}"
    for title, column, rows in (
        ("Score of the model that read them", "mean", frame),
        ("Score on the same rows of the model that read the run's own books", "own", frame),
        ("Planted rows minus the rows that were not", "diff", frame[frame["count"] > 0]),
        ("The same, less that of the other model", "gain", frame[frame["count"] > 0]),
    ):
        yield f"## {title}"
        yield _pivot(rows, heads, _intervals(rows, column))
    rows = frame[frame["rows"].notna()]
    yield "## Rows too short to have 13 words in a row, %"
    yield _pivot(rows, heads, [f"{share:.0f}" for share in rows["short"]])
    yield from notes.footnote()


def _pivot(rows: pd.DataFrame, heads: Mapping[str, str], texts: list[str]) -> pd.DataFrame:
    shown = rows.assign(head=rows["task"].map(heads), text=texts)
    return markdown.pivot(shown, "count", "head", "text").rename_axis("times in the books")


def _intervals(rows: pd.DataFrame, column: str) -> list[str]:
    return [markdown.interval(*values) for values in _zipped(rows, _limits(column))]


def _zipped(rows: pd.DataFrame, columns: Iterable[str]) -> Iterable[tuple]:
    return zip(*(rows[name] for name in columns), strict=True)


def _legend() -> str:
    return (
        "Recall: of the planted rows those that are marked; precision: of the marked rows those "
        "that were planted; in percent, with Wilson's 95 % interval over rows. "
        f"`a [b, c]` of scores: {markdown.INTERVAL}; the rows of each count are other rows."
    )
