"""Table 5: the paper's four variants on its eight tasks, with the average (paper 5).

`w/o pre-training` is the same recipe with nothing transferred; `w/o aux LM` has `lm_coef` 0. After
the paper's eight tasks come the others that were run, and the average over all of the grid. The
negative control is the full model, but pre-trained on books whose sentences are shuffled: what it
keeps of the gain owes nothing to the order of words.
"""

from pathlib import Path

import numpy as np
import pandas as pd

import tasks
from gpt1.cell import CORPORA
from workflow.analysis import markdown
from workflow.analysis.cells import read_cells
from workflow.analysis.moderation import estimates
from workflow.analysis.notes import Notes, fewer_seeds
from workflow.analysis.paper import NUMBERS
from workflow.analysis.records import ExamplesRecord
from workflow.analysis.samples import Samples
from workflow.analysis.statistics import (
    add_interval,
    average,
    complete,
    headline,
    headline_splits,
    official_sets,
    summarise,
)
from workflow.analysis.table import Table
from workflow.analysis.uncertainty import Estimate, Sample, difference
from workflow.grid import Grid

# name, arch, aux, everything transferred? (all pre-trained on the books)
PAPER_VARIANTS = [
    ("Transformer w/ aux LM (full)", "transformer", "on", True),
    ("Transformer w/o pre-training", "transformer", "on", False),
    ("Transformer w/o aux LM", "transformer", "off", True),
    ("LSTM w/ aux LM", "lstm", "on", True),
]
FURTHER_VARIANTS = [
    ("Transformer w/o pre-training, w/o aux LM", "transformer", "off", False),
    ("LSTM w/o pre-training", "lstm", "on", False),
    ("LSTM w/o aux LM", "lstm", "off", True),
    ("LSTM w/o pre-training, w/o aux LM", "lstm", "off", False),
]
CONTROL = "Transformer w/ aux LM, shuffled books"
PAPER_COLUMNS = {  # task: the paper's column; `avg` is the mean of the eight
    **{"avg": "Avg", "cola": "CoLA_mcc", "sst2": "SST2_acc", "mrpc": "MRPC_f1"},
    **{"stsb": "STSB_pearson", "qqp": "QQP_f1", "mnli": "MNLI_acc", "qnli": "QNLI_acc"},
    **{"rte": "RTE_acc"},
}
EIGHT = [name for name in PAPER_COLUMNS if name != "avg"]
KEY = ["arch", "corpus", "aux", "n_transfer", "task"]


def build(results: Path, grid: Grid) -> Table:
    """One row per (variant, task) and per (variant, average)."""
    cells = read_cells(results, grid, CORPORA)
    notes = Notes.of_cells(cells)
    others = [name for name in grid.tasks if name not in EIGHT]
    heads = headline(cells, [*EIGHT, *others])
    averages = {"avg": EIGHT, "avg_all": grid.tasks}
    means = [average(heads, members, label) for label, members in averages.items()]
    table = summarise(pd.concat([heads, *means]), KEY)
    splits = {name: "+".join(headline_splits(name, cells)) for name in [*EIGHT, *others]}
    columns = pd.DataFrame(
        [(name, tasks.task(name).metric, splits[name], notes.of(name)) for name in splits],
        columns=["task", "metric", "split", "note"],
    )
    for label, members in averages.items():
        split = official_sets("+".join(splits[name] for name in members))
        columns.loc[len(columns)] = [label, "mean", split, notes.joined(members)]
    columns = columns.set_index("task").loc[["avg", *splits, "avg_all"]].reset_index()
    wanted = variants(grid).merge(columns, how="cross")
    printed = NUMBERS[NUMBERS["table"] == "Table 5"].set_index(["method", "column"])["value"]
    places = zip(wanted["variant"], wanted["task"].map(PAPER_COLUMNS), strict=True)
    wanted["paper"] = [printed.get(place) for place in places]
    table = complete(table, wanted, KEY)
    samples = Samples(results, grid, cells)
    table = _with_intervals(table, samples, grid, averages)
    table["train_rows"] = table["task"].map(_train_rows(results, grid.tasks))
    return Table(table, _wide(table, others, grid, notes))


def _with_intervals(
    table: pd.DataFrame, samples: Samples, grid: Grid, averages: dict[str, list[str]]
) -> pd.DataFrame:
    """The intervals of the scores; `diff`, the variant minus the full transformer, paired."""
    scores: dict[tuple, Estimate] = {}
    diffs: dict[tuple, Estimate] = {}
    full: dict[str, Sample | None] = {}
    for variant, mine in table.groupby("variant", sort=False):  # the full transformer comes first
        single = mine[~mine["task"].isin(averages) & mine["arch"].isin(grid.arch)]
        heads = {
            row.task: samples.headline(
                grid.cell(row.arch, row.aux, row.n_transfer, row.task, row.corpus)
            )
            for row in single.itertuples()
        }
        full = full or heads
        paired = {name: difference(head, full.get(name)) for name, head in heads.items()}
        for found, of in ((scores, heads), (diffs, paired if heads is not full else {})):
            found |= {(variant, name): one for name, one in estimates(of, averages).items()}
    table = add_interval(table, scores, ["variant", "task"])
    names = {"ci_low": "diff_low", "ci_high": "diff_high"}
    limits = add_interval(table, diffs, ["variant", "task"])[list(names)].rename(columns=names)
    places = table[["variant", "task"]].itertuples(index=False, name=None)
    diff = [diffs[place].value if place in diffs else np.nan for place in places]
    return table.assign(diff=diff, **limits)


def _train_rows(results: Path, names: list[str]) -> dict[str, int]:
    """The training rows of each task that was prepared."""
    paths = {name: results / "examples" / f"{name}.json" for name in names}
    found = {n: ExamplesRecord.read(path).rows for n, path in paths.items() if path.exists()}
    return {name: rows["train"] for name, rows in found.items() if "train" in rows}


def variants(grid: Grid) -> pd.DataFrame:
    """The paper's four, the negative control if it is run, the further ones that the grid holds."""
    further = [v for v in FURTHER_VARIANTS if v[1] in grid.arch and v[2] in grid.aux]
    control = [(CONTROL, "transformer", "on", True)] if grid.shuffled else []
    rows = [*PAPER_VARIANTS, *control, *further]
    table = pd.DataFrame(rows, columns=["variant", "arch", "aux", "full"])
    table["corpus"] = np.where(table["variant"] == CONTROL, "shuffled", "books")
    full = table["arch"].map({arch: str(n) for arch, n in grid.n_layer.items()}).fillna("all")
    return table.drop(columns="full").assign(n_transfer=full.where(table["full"], "none"))


def _wide(
    table: pd.DataFrame, others: list[str], grid: Grid, notes: Notes
) -> list[str | pd.DataFrame]:
    n_tasks = len(grid.tasks)
    return [
        "# Ablations (Table 5)",
        _markdown(table, ["avg", *EIGHT], "Avg (8)", notes),
        *notes.footnote(),
        "Avg is the unweighted mean of the eight columns. The paper's rows are scores of the GLUE "
        "test server; ours are on the split that the column names. " + markdown.LEGEND,
        f"## Further tasks, and the average over all {n_tasks} tasks of this config",
        _markdown(table, ["avg_all", *others], f"Avg ({n_tasks})", notes),
        "## Difference to the full transformer",
        _differences(table, notes, n_tasks),
        "`a [b, c]`: the variant minus the full transformer, paired by row and seed, and "
        f"{markdown.INTERVAL}.",
        *fewer_seeds(grid),
    ]


def _differences(table: pd.DataFrame, notes: Notes, n_tasks: int) -> pd.DataFrame:
    """Tasks down, variants across, for twelve differences with intervals are too wide a line."""
    titles = {"avg": "Avg of the paper's tasks", "avg_all": f"Avg of all {n_tasks}"}
    names = table["task"].map(lambda name: titles.get(name) or notes.mark(name))
    columns = (table[name] for name in ("diff", "diff_low", "diff_high"))
    shown = [markdown.interval(*row) for row in zip(*columns, strict=True)]
    rows = table.assign(line=names, shown=shown)[table["variant"] != PAPER_VARIANTS[0][0]]
    return markdown.pivot(rows, "line", "variant", "shown").rename_axis("task")


def _markdown(table: pd.DataFrame, columns: list[str], average: str, notes: Notes) -> pd.DataFrame:
    table = pd.concat([table[table["task"] == task] for task in columns])
    heads = {columns[0]: average}
    for row in table[table["task"].isin(columns[1:])].itertuples():
        metric, split = markdown.METRICS[row.metric], official_sets(row.split)
        heads[row.task] = f"{notes.mark(row.task)} ({metric}, {split})"
    table = table.assign(head=table["task"].map(heads), seeds=markdown.NONE)
    lines = []
    for variant, mine in table.groupby("variant", sort=False):
        ours = mine.assign(shown=mine.apply(markdown.score, axis=1))
        lines.append(ours.assign(line=variant, seeds=markdown.seeds(mine["n_seeds"])))
        if mine["paper"].notna().any():
            printed = mine["paper"].map(markdown.value)
            lines.append(mine.assign(line=f"*paper: {variant}*", shown=printed))
    long = pd.concat(lines)
    wide = markdown.pivot(long, "line", "head", "shown")
    wide.insert(0, "seeds", long.groupby("line")["seeds"].first())
    wide = pd.concat([wide, markdown.baselines(table, "head")]).fillna(markdown.NONE)
    return wide.rename_axis("variant")
