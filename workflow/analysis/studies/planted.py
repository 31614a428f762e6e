"""What planted rows do: the scores of two models by how often a row stood in the books.

Rows differ, so what planting adds is a difference of differences (`change`): of the model that
read the planted books, rows that stood there N times against rows that did not; less the same of
the model that read the run's own books, where none stands.

Beside it stands which rows a search of the books marks. Two detectors, both from the longest run of
words that a row shares with the books (`gpt1.contamination`): 13 words in a row, and all of the
row's longest text.
"""

from pathlib import Path

import numpy as np
import pandas as pd

import tasks
from gpt1.cell import Cell, home
from gpt1.text.ngrams import N
from workflow.analysis import markdown
from workflow.analysis.notes import Notes
from workflow.analysis.predictions import answers, read_predictions
from workflow.analysis.records import Marks, Record, check_examples
from workflow.analysis.stats.bootstrap import resample
from workflow.analysis.stats.sample import Sample
from workflow.analysis.stats.scoring import limits_of, shared_texts
from workflow.analysis.studies.table import compare, legend, wide
from workflow.analysis.table import Table
from workflow.analysis.tables.probes import interval as wilson
from workflow.grid import Grid
from workflow.study_plan import StudyPlan

AXIS = "times in the books"
DETECTORS = {"words": f"{N} words in a row", "whole": "longest match: a whole text"}
LEGEND = (
    "Recall: of the planted rows those that are marked; precision: of the marked rows those "
    "that were planted; in percent, with Wilson's 95 % interval over rows. The rows of each count "
    "are other rows."
)


class PlantedRows(Record):
    """The rows of a task that were planted: their places in the split, by how often."""

    split: str
    examples: str
    rows: dict[str, list[int]]


class Manifest(Record):
    """`variants/NAME/world/manifest.json` of planted books."""

    counts: list[int]
    planted: dict[str, PlantedRows]


def build(results: Path, grid: Grid, study: StudyPlan) -> tuple[StudyPlan, Table]:
    """The study as it is shown, and its table, with the marked rows beside the scores."""
    folder = home(results, study.model(study.lines[0]))
    manifest = Manifest.read(folder / "world" / "manifest.json")
    shown = by_count(study, [0, *manifest.counts])
    rows = {task: marked_rows(folder, task, manifest) for task in study.tasks}
    every, of = pd.concat(rows.values()), manifest.planted
    scores = {
        point.place: {
            c.task: sample(c, grid, results, of[c.task], rows[c.task], int(point.value))
            for c in point.cells
        }
        for point in shown.points
    }
    notes, splits = Notes.read(results, study.tasks), {task: of[task].split for task in study.tasks}
    frame = compare(shown, scores, splits, notes)
    found = shares(every).assign(line=study.lines[0])
    short = found.assign(
        text=[f"{share:.0f}" for share in found["short"]],
        head=[tasks.task(task).title for task in found["task"]],
    )
    parts = [
        *wide(frame, shown, notes),
        f"## Rows too short to have {N} words in a row, %",
        markdown.pivot(short, "value", "head", "text").rename_axis(AXIS),
        "## Who finds the planted rows",
        detection(every),
        LEGEND,
        *legend(notes),
    ]
    frame = frame.merge(found, on=["line", "value", "task"], how="left")
    return shown, Table(frame, parts)


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


def marked_rows(folder: Path, task: str, manifest: Manifest) -> pd.DataFrame:
    """Of each row of a task's main split how often it was planted and which detectors mark it.

    `folder` is that of the books. Raises InputError where files are not of the same examples.
    """
    of, path = manifest.planted[task], folder / "contamination" / f"{task}.json"
    marks = Marks.read(path, task=task)
    known = {of.split: of.examples}
    check_examples(
        path, {of.split: marks.examples[of.split]}, folder / "world" / "manifest.json", known
    )
    split = marks.splits[of.split]
    length, match = np.array(split.words), np.array(split.match)
    marked = {"words": match >= N, "whole": match >= length, "short": length < N}
    frame = pd.DataFrame({"task": task, "count": 0, **marked})
    for count, places in of.rows.items():
        frame.loc[places, "count"] = int(count)
    return frame


def shares(rows: pd.DataFrame) -> pd.DataFrame:
    """A row for each task and number of times (`value`): its rows, and the percentages marked."""
    groups = rows.groupby(["task", "count"], sort=False)
    found = 100.0 * groups[[*DETECTORS, "short"]].mean()
    found = found.rename(columns={name: f"share_{name}" for name in DETECTORS})
    found.insert(0, "rows", groups.size())
    found = found.reset_index().sort_values("count", kind="stable")
    return found.assign(value=found.pop("count").astype(str))


def detection(rows: pd.DataFrame) -> pd.DataFrame:
    """Recall and precision of each detector by task, and over all tasks, as text."""
    groups = [(tasks.task(str(name)).title, of) for name, of in rows.groupby("task", sort=False)]
    lines = []
    for title, mine in [*groups, ("all", rows)]:
        is_planted = mine["count"] > 0
        for detector, head in DETECTORS.items():
            hits = int((mine[detector] & is_planted).sum())
            recall = _ratio(hits, int(is_planted.sum()))
            lines.append((title, head, recall, _ratio(hits, int(mine[detector].sum()))))
    columns = ["task", "detector", "recall", "precision"]
    return pd.DataFrame(lines, columns=columns).set_index("task")


def _ratio(hits: int, n: int) -> str:
    """A percentage with Wilson's interval, and of how many rows it is."""
    if not n:
        return markdown.NONE
    return f"{markdown.interval(100 * hits / n, *wilson(hits, n), decimals=0)} of {n}"
