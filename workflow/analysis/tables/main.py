"""Tables 2 to 4: published systems and the paper's model beside this run's models.

Ours is the fully transferred transformer, fine-tuned with the auxiliary LM objective as the paper's
is, and without it. The published scores are on test sets; the column heads name the split of *this
run's* rows.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import tasks
from workflow.analysis import decontaminated, markdown
from workflow.analysis.notes import Notes
from workflow.analysis.paper import NUMBERS, OURS, TABLES_2_TO_4
from workflow.analysis.stats.estimates import numbers
from workflow.analysis.stats.samples import Samples, official_sets
from workflow.analysis.table import Table
from workflow.grid import Grid

FURTHER = "beside Table 4"
TITLES = {
    "Table 2": "Natural language inference (Table 2): accuracy",
    "Table 3": "Question answering and commonsense reasoning (Table 3): accuracy",
    "Table 4": "Similarity and classification (Table 4)",
    FURTHER: "The further metrics of those tasks, which the paper does not print",
}
VARIANTS = {  # by aux
    "on": "Finetuned Transformer LM (this run)",
    "off": "Finetuned Transformer LM w/o aux LM (this run)",
}
PLACE = ["table", "column", "task", "split", "metric", "carries_paper"]


def build(results: Path, grid: Grid) -> Table:
    """One row per (this run's model, column, split) and one per published figure."""
    samples, notes = Samples.of_grid(results, grid, ["ablation"]), Notes.read(results, grid.tasks)
    places = pd.DataFrame(_places(samples), columns=PLACE)
    places["head"] = [_head(place, notes) for place in places.itertuples()]
    ours = _ours(grid, samples, places)
    ours = decontaminated.add(ours, results, grid)
    ours = ours.assign(note=ours["task"].map(notes.of), source="this run")
    table = pd.concat([_published(places), ours], ignore_index=True)
    parts = _wide(table, notes, grid.has_corpus)
    return Table(table.drop(columns=["head", "carries_paper"]), parts)


def _places(samples: Samples) -> Iterator[tuple]:
    """The rows of PLACE: columns and splits; the published score goes with test, else the first."""
    columns = NUMBERS[(NUMBERS["method"] == OURS) & (NUMBERS["task"] != "glue")]
    for of in columns.itertuples():
        splits = _splits(of.task, of.part, samples)
        printed = next((s for s in splits if s.startswith("test")), splits[0])
        for split in splits:
            metric = tasks.task(of.task).metric
            yield (of.table, of.column, of.task, split, metric, split == printed)
    for name in columns.loc[columns["table"] == "Table 4", "task"]:
        for metric in tasks.task(name).metrics:
            if metric != tasks.task(name).metric:
                split = samples.headline_splits(name)[0]
                yield (FURTHER, f"{name}_{metric}", name, split, metric, False)


def _splits(name: str, part: str, samples: Samples) -> list[str]:
    """The splits behind a printed column: of the task, of a RACE group, or one of MNLI's two."""
    splits = samples.reported(name)
    if not tasks.task(name).averages_splits:
        return [split + part for split in splits]
    return [s for s in splits if s.endswith(part)] or [f"dev{part}"]


def _head(place: Any, notes: Notes) -> str:
    split = official_sets(place.split)
    if place.table in ("Table 2", "Table 3"):
        return f"{notes.mark(place.task, place.column)} ({split})"
    return f"{notes.mark(place.task)} ({markdown.METRICS[place.metric]}, {split})"


def _published(places: pd.DataFrame) -> pd.DataFrame:
    table = TABLES_2_TO_4.rename(columns={"method": "variant", "value": "paper"})
    printed = places.loc[places["carries_paper"], ["column", "metric", "head"]]
    table = table.drop(columns="part").merge(printed, on="column", how="left")
    table = table.fillna({"metric": "mean", "head": "GLUE"})
    sources = {True: "paper", False: "published"}
    return table.assign(split="test", source=(table["variant"] == OURS).map(sources))


def _ours(grid: Grid, samples: Samples, places: pd.DataFrame) -> pd.DataFrame:
    """The rows of this run's models."""
    printed = NUMBERS[NUMBERS["method"] == OURS].set_index("column")["value"]
    cells = {(grid.line(cell).aux, cell.task): cell for cell in grid.full_transformer()}
    rows = []
    for place in places.to_dict("records"):
        score = partial(samples.of, split=place["split"], metric=place["metric"])
        seeds = samples.seed_pool(grid, score)
        for aux in grid.aux:
            cell = cells.get((aux, place["task"]))
            line, fit = {place["task"]: score(cell)}, samples.of(cell, "train", place["metric"])
            found = seeds.estimate([(1.0, line)], {place["task"]: 1.0})
            carries = place["carries_paper"] and aux == "on"
            rows.append(
                {
                    **place,
                    "aux": aux,
                    "paper": printed.get(place["column"]) if carries else None,
                    "arch": "transformer",
                    "n_transfer": str(grid.n_layer.get("transformer", "all")),
                    "variant": VARIANTS[aux],
                    **numbers(found),
                    "train": fit.value if fit else np.nan,
                }
            )
    return pd.DataFrame(rows)


def _wide(table: pd.DataFrame, notes: Notes, has_corpus: bool) -> list[str | pd.DataFrame]:
    parts: list[str | pd.DataFrame] = ["# Tables 2 to 4"]
    for name, title in TITLES.items():
        parts += [f"## {title}", _scores(table[table["table"] == name], has_corpus)]
    parts += notes.footnote()
    parts.append(
        "The rows above this run's are the paper's: published systems and its own model, scored by "
        "the GLUE test server or on the public test sets. The split that a column head names is "
        "that of this run's rows, of the constant answer and of the bag of words: dev is not "
        "test. (5x) is an ensemble of five. GLUE is the server's own average over test labels that "
        f"are not public. {f'{decontaminated.NOTE} ' if has_corpus else ''}{markdown.LEGEND}"
    )
    return parts


def _scores(table: pd.DataFrame, has_corpus: bool) -> pd.DataFrame:
    """Models down, the published ones first; columns of the paper across."""
    is_ours = table["source"] == "this run"
    ours, published = table[is_ours], table[~is_ours]
    labels = published["variant"].str.replace("(ours)", "(the paper)")
    shown = published["paper"].map(markdown.value)
    lines = [published.assign(line="*" + labels + "*", shown=shown)]
    for variant, mine in ours.groupby("variant", sort=False):
        lines.append(markdown.scores(mine, variant))
        fit = mine["train"].map(markdown.value)
        lines.append(lines[-1].assign(line=f"{variant}, training rows", shown=fit))
        ran = mine.dropna(subset=["mean"])
        if has_corpus and not np.allclose(ran["decontaminated_mean"], ran["mean"]):
            lines.append(_decontaminated(lines[-2]))
    return markdown.with_baselines(pd.concat(lines), markdown.baselines(ours, "head")).rename_axis(
        "model"
    )


def _decontaminated(line: pd.DataFrame) -> pd.DataFrame:
    """The line of scores on decontaminated rows, with their number in each cell if it varies."""
    shown = line.apply(markdown.decontaminated, axis=1)
    model = line["line"] + ", decontaminated"
    counts = line["decontaminated_rows"].dropna().unique()
    if len(counts) == 1 and counts[0] > 0:
        number = f" (n {counts[0]:.0f})"
        shown, model = shown.str.removesuffix(number), model + number
    return line.assign(line=model, shown=shown)
