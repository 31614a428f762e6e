"""Scores by degree of difficulty, for the rows of the embedded world.

A lexical row is settled by a class of words, a relational one takes two texts side by side, a
compositional one two steps (`tasks.world`). Most rows are lexical, so a high score alone does not
show more than knowledge of words. Each score is the task's own metric on the rows of one degree.
"""

import csv
from pathlib import Path
from typing import Any

import pandas as pd

import tasks
from gpt1.cell import CORPORA, Cell
from tasks.common.errors import InputError
from tasks.common.files import read_json, sha256_file
from workflow.analysis import markdown
from workflow.analysis.cells import read_cells
from workflow.analysis.moderation import estimates
from workflow.analysis.samples import Samples
from workflow.analysis.statistics import headline_splits
from workflow.analysis.table import Table
from workflow.analysis.tables.ablation import PAPER_VARIANTS, variants
from workflow.analysis.uncertainty import Sample, average
from workflow.grid import Grid

DEGREES = ("lexical", "relational", "compositional")
FULL = PAPER_VARIANTS[0][0]
MEAN = "avg_all"
Rows = dict[str, set[str]]  # by degree, places `task/split/number` of rows


def build(results: Path, grid: Grid) -> Table:
    """One row per variant, task (and their mean) and degree; nothing of cells that were not run."""
    cells = read_cells(results, grid, CORPORA)
    samples, rows = Samples(results, grid, cells), read_degrees(results / "world" / "degrees.csv")
    splits = {name: headline_splits(name, cells) for name in grid.tasks}
    found: list[dict[str, Any]] = []
    for variant in variants(grid).itertuples():
        if variant.arch not in grid.arch:
            continue
        for degree in DEGREES:
            of_tasks = {
                name: _sample(
                    samples,
                    grid.cell(variant.arch, variant.aux, variant.n_transfer, name, variant.corpus),
                    splits[name],
                    rows[degree],
                )
                for name in grid.tasks
            }
            for name, one in estimates(of_tasks, {MEAN: grid.tasks}).items():
                low, high = one.interval
                line = {"variant": variant.variant, "task": name, "degree": degree}
                line["metric"] = "mean" if name == MEAN else tasks.task(name).metric
                line |= {"n_seeds": one.n_seeds, "rows": one.n_rows}
                found.append(line | {"mean": one.value, "ci_low": low, "ci_high": high})
    columns = ["variant", "task", "metric", "n_seeds", "mean", "ci_low", "ci_high"]
    table = pd.DataFrame(found, columns=[*columns, "degree", "rows"])
    return Table(table, _wide(table, len(grid.tasks)))


def read_degrees(path: Path) -> Rows:
    """The rows of each degree, by the file that the world writes.

    Raises InputError if it is missing or not the one of the manifest beside it.
    """
    found: Rows = {degree: set() for degree in DEGREES}
    manifest = path.with_name("manifest.json")
    if not path.is_file() or not manifest.is_file():
        raise InputError(f"{path}: it or {manifest.name} is missing; make the world first")
    try:
        if sha256_file(path) != read_json(manifest)["files"][path.name]["sha256"]:
            raise InputError(f"{path}: not the file of {manifest.name}; make the world again")
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                found[row["degree"]].add(f"{row['task']}/{row['split']}/{row['row']}")
    except (KeyError, TypeError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: no degree of a row ({error}); make the world again") from None
    return found


def place(guid: str) -> str:
    """`task/split/number` of a row of the world, the number counted from 0 in its file.

    RACE's rows are `race/dev/middle/ARTICLE/QUESTION`, with one question an article.
    """
    name, split, *rest = guid.split("/")
    return f"{name}/{split}/{rest[1] if name == 'race' else rest[-1].rpartition('-')[2]}"


def _sample(samples: Samples, cell: Cell, splits: list[str], rows: set[str]) -> Sample | None:
    """The mean over a task's headline splits, on some of their rows."""
    metric = tasks.task(cell.task).metric
    found = [samples.of(cell, split, metric, lambda guid: place(guid) in rows) for split in splits]
    known = [sample for sample in found if sample is not None]
    return average(known) if len(known) == len(splits) else None


def _wide(table: pd.DataFrame, n_tasks: int) -> list[str | pd.DataFrame]:
    text = table.assign(
        shown=[
            markdown.interval(row.mean, row.ci_low, row.ci_high)
            for row in table.itertuples(index=False)
        ]
    )
    means, full = text[text["task"] == MEAN], text[(text["variant"] == FULL)]
    titles = {name: tasks.task(name).title for name in full["task"].unique() if name != MEAN}
    full = full.assign(task=full["task"].replace({**titles, MEAN: f"mean of {n_tasks}"}))
    return [
        "# Scores by degree of difficulty",
        f"Mean of {n_tasks} tasks, each by its own metric on the rows of one degree.",
        markdown.pivot(means, "variant", "degree", "shown"),
        f"## {FULL}, task by task",
        markdown.pivot(full, "task", "degree", "shown"),
        "Lexical: a class of words settles the row, two fifths of whose words no training row has. "
        "Relational: it takes synonyms, antonyms or two texts side by side. Compositional: two "
        f"steps, such as a negation. `a [b, c]`: {markdown.INTERVAL}.",
    ]
