"""Table 5: the paper's four variants on its eight tasks, with the average (paper 5).

`w/o pre-training` is the same recipe with nothing transferred; `w/o aux LM` has `lm_coef` 0. After
the paper's eight tasks come the others that were run, and the average over all of the grid. The
negative controls are the full model, but pre-trained on shuffled books, or with the embeddings of
content words permuted: what it keeps of the gain owes nothing to the order of the words in a
sentence, of the sentences, or to what words mean.
"""

from pathlib import Path

import pandas as pd

from workflow.analysis import markdown, shallow
from workflow.analysis.notes import Notes, single_control
from workflow.analysis.paper import EIGHT, FULL, variants
from workflow.analysis.records import read_examples
from workflow.analysis.stats.pooling import columns, paired
from workflow.analysis.stats.samples import Samples, lines, official_sets
from workflow.analysis.table import Table
from workflow.grid import Grid

INPUTS = ("endpoints", "controls", "facts", "baselines")


def build(results: Path, grid: Grid) -> Table:
    """One row per (variant, task) and per (variant, average).

    `diff` is the variant minus the full transformer, paired by row and seed.
    """
    samples, notes = Samples.of_grid(results, grid, INPUTS), Notes.read(results, grid.tasks)
    names = list(dict.fromkeys([*EIGHT, *grid.tasks]))
    averages = {"avg": list(EIGHT), "avg_all": grid.tasks}
    facts = lines(samples.splits(names), averages, notes)
    n_rows = {n: of.rows.get("train") for n, of in read_examples(results, grid.tasks).items()}
    heads = {
        variant: {name: samples.headline(variant.cell(grid, name)) for name in names}
        for variant in variants(grid)
    }
    rows, seeds = [], samples.seed_pool(grid)
    for variant, of_tasks in heads.items():
        diff = paired(of_tasks, heads[FULL]) if variant != FULL else {}
        scores = columns(of_tasks, averages, seeds, diff=diff)
        rows += [
            {
                "variant": variant.title,
                "arch": variant.arch,
                "aux": variant.aux,
                "corpus": variant.corpus,
                "n_transfer": variant.layers(grid),
                "task": name,
                **facts[name],
                "paper": variant.printed(name),
                **scores[name],
                "train_rows": n_rows.get(name),
            }
            for name in ("avg", *names, "avg_all")
        ]
    table = pd.DataFrame(rows)
    baselines = shallow.scores(results, table, grid, averages)
    return Table(table, _wide(table, baselines, names, grid, notes))


def _wide(
    table: pd.DataFrame, baselines: pd.DataFrame, names: list[str], grid: Grid, notes: Notes
) -> list[str | pd.DataFrame]:
    n_tasks, further = len(grid.tasks), names[len(EIGHT) :]
    return [
        "# Ablations (Table 5)",
        _scores(table, baselines, ["avg", *EIGHT], "Avg (8)", notes),
        *notes.footnote(),
        "Avg is the unweighted mean of the eight columns. The paper's rows are scores of the GLUE "
        "test server; ours are on the split that the column names. " + markdown.LEGEND,
        *shallow.note(baselines, grid),
        f"## Further tasks, and the average over all {n_tasks} tasks of this config",
        _scores(table, baselines, ["avg_all", *further], f"Avg ({n_tasks})", notes),
        "## Difference to the full transformer",
        _differences(table, notes, n_tasks),
        "`a [b, c]`: the variant minus the full transformer, paired by row and seed, and its 95 % "
        "interval, of the kind of `ci_low` and `ci_high`.",
        *single_control(grid),
    ]


def _differences(table: pd.DataFrame, notes: Notes, n_tasks: int) -> pd.DataFrame:
    """Tasks down, variants across, for twelve differences with intervals are too wide a line."""
    titles = {"avg": "Avg of the paper's tasks", "avg_all": f"Avg of all {n_tasks}"}
    rows = table[table["variant"] != FULL.title]
    rows = rows.assign(
        task=rows["task"].map(lambda name: titles.get(name) or notes.mark(name)),
        shown=markdown.intervals(rows, "diff", "diff_low", "diff_high"),
    )
    return markdown.pivot(rows, "task", "variant", "shown")


def _scores(
    table: pd.DataFrame, baselines: pd.DataFrame, names: list[str], average: str, notes: Notes
) -> pd.DataFrame:
    """Variants down, each with the paper's line below it; an average and its tasks across."""
    table = pd.concat([table[table["task"] == name] for name in names])
    heads = {names[0]: average}
    for row in table[table["task"].isin(names[1:])].itertuples():
        metric, split = markdown.METRICS[row.metric], official_sets(row.split)
        heads[row.task] = f"{notes.mark(row.task)} ({metric}, {split})"
    table = table.assign(head=table["task"].map(heads))
    shown = []
    for variant, mine in table.groupby("variant", sort=False):
        shown.append(markdown.scores(mine, variant))
        if mine["paper"].notna().any():
            printed = mine["paper"].map(markdown.value)
            shown.append(mine.assign(line=f"*paper: {variant}*", shown=printed))
    wide = markdown.with_baselines(pd.concat(shown), table)
    return shallow.below(wide, baselines, heads).rename_axis("variant")
