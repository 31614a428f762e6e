"""Scores without the rows that overlap the pre-training corpus.

`gpt1.contamination` marks the rows of the reported splits that share 13 consecutive words with the
corpus: these are contaminated. The others are the decontaminated rows, including those too short
to tell. A cell's scores on them are computed from its stored predictions.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from gpt1.cell import Cell
from gpt1.records import Marks, N
from tasks.examples import ExamplesFacts
from tasks.metrics import score
from workflow.analysis.examples import check_examples
from workflow.analysis.predictions import answers, read_predictions
from workflow.grid import Grid

SCORED = ["aux", "task", "split", "metric"]
COLUMNS = ["decontaminated_mean", "decontaminated_sd", "decontaminated_rows"]
NOTE = (
    f"Decontaminated: without the rows that share {N} words in a row with the pre-training corpus; "
    "a model without such a line has the same scores on the others."
)


def marked_rows(results: Path, name: str, cell: Cell | None = None) -> pd.DataFrame | None:
    """A task's reported rows: `split`, `row` (its place in the split), and two flags.

    `share` is true of contaminated rows, `short` of rows too short to be. With a `cell` that was
    run there is one row per seed, with its label and prediction, and rows with a group (RACE's
    middle and high) appear again under a split of their own. None if the corpus was not searched.
    Raises InputError if marks and predictions are not of the same examples.
    """
    path, facts = (results / kind / f"{name}.json" for kind in ("contamination", "examples"))
    marks = Marks.find(path, task=name)
    if marks is None:
        return None
    check_examples(path, marks.examples, facts, ExamplesFacts.read(facts).sha256)
    frames = []
    for split, of in marks.splits.items():
        marked = {"share": np.array(of.match) >= N, "short": np.array(of.words) < N}
        frames.append(pd.DataFrame({"split": split, "row": range(len(of.match)), **marked}))
    table = pd.concat(frames, ignore_index=True)
    predictions = None if cell is None else read_predictions(results, cell)
    if predictions is None:
        return table
    check_examples(path, marks.examples, predictions.path, predictions.examples)
    rows = predictions.rows[predictions.rows["split"].isin(marks.splits)]
    rows = rows.assign(row=rows.groupby(["seed", "split"]).cumcount())
    table = table.merge(rows, on=["split", "row"])
    groups = table[table["group"] != ""]
    return pd.concat([table, groups.assign(split=groups["split"] + "_" + groups["group"])])


def shares(results: Path, name: str, cells: list[Cell]) -> pd.DataFrame:
    """For each split of a task, its number of `rows` and the percentages of `share` and `short`.

    RACE's groups come from the predictions of the first of the `cells` that was run. Empty if the
    corpus was not searched.
    """
    cell = next((cell for cell in cells if cell.predictions(results).exists()), None)
    rows = marked_rows(results, name, cell)
    if rows is None:
        return pd.DataFrame()
    if "seed" in rows:
        rows = rows[rows["seed"] == rows["seed"].iloc[0]]
    splits = rows.groupby("split")
    return 100.0 * splits[["share", "short"]].mean().assign(rows=splits.size() / 100.0)


def add(table: pd.DataFrame, results: Path, grid: Grid) -> pd.DataFrame:
    """`table` with the scores of the fully transferred transformer on the decontaminated rows.

    Rows are matched by the columns SCORED. COLUMNS are added: mean and standard deviation over the
    seeds (n-1; NaN for one seed), 0 to 100, and the number of rows. The scores are NaN if no row is
    left; all three are NaN where the corpus was not searched.
    """
    runs = []
    for cell in grid.full_transformer():
        rows = marked_rows(results, cell.task, cell)
        if rows is None or "seed" not in rows:
            continue
        rows, task = rows[rows["seed"].isin(grid.seeds.finetune)], grid.task(cell.task)
        for (split, _), of_run in rows.groupby(["split", "seed"]):
            kept = of_run[~of_run["share"]]
            said, labels = (answers(task, kept[key]) for key in ("prediction", "label"))
            scores = {} if kept.empty else score(task.spec, said, labels)
            runs += [
                (
                    grid.line(cell).aux,
                    cell.task,
                    split,
                    metric,
                    scores.get(metric, np.nan),
                    len(kept),
                )
                for metric in task.metrics
            ]
    found = pd.DataFrame(runs, columns=[*SCORED, "score", "rows"]).groupby(SCORED, as_index=False)
    over_seeds = zip(COLUMNS, (("score", "mean"), ("score", "std"), ("rows", "first")), strict=True)
    return table.merge(found.agg(**dict(over_seeds)), on=SCORED, how="left")
