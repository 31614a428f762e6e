"""The tables of Table 5 and Figure 2 (left): `ablation`, `degrees`, `layer_transfer`.

`w/o pre-training` is the same recipe with nothing transferred; `w/o aux LM` has `lm_coef` 0. The
negative controls are the full model, but pre-trained on books with shuffled words or shuffled
sentences, or with the embeddings of content words permuted. What such a control keeps of the gain
owes nothing to what it lacks: the order of words in a sentence, the order of sentences, or the
meaning of words. A smaller network from scratch, and the same network on word vectors of the books,
have settings of their own, with which they fit their training rows.
"""

from functools import partial
from pathlib import Path

import pandas as pd

from tasks.world.settings import DEGREES
from workflow.analysis import markdown, shallow
from workflow.analysis.lines import Lines, compared, wide
from workflow.analysis.paper import EIGHT, FULL, TABLE_5
from workflow.analysis.rows import Notes, read_examples, single_control
from workflow.analysis.stats.samples import Samples
from workflow.analysis.table import Table
from workflow.configuration.sections import BEST
from workflow.grid import Grid

ALL = "avg_all"
ABOUT_AVERAGE = (
    "Avg is the unweighted mean of the eight columns. The paper's rows are scores of the GLUE test "
    "server; ours are on the split that the column names."
)


def ablation(results: Path, grid: Grid) -> Table:
    """Table 5: the paper's variants on its eight tasks, with the average (paper 5), and further.

    One row per (variant, task) and per (variant, average). After the paper's eight tasks come the
    others that were run, and the average over all. `diff` is the variant minus the full
    transformer, paired by row and seed.
    """
    study, notes = grid.studies["ablation"], Notes.read(results, grid.tasks)
    # The paper's eight tasks, run or not, and then the others.
    eight = [*EIGHT] if {*EIGHT} & {*study.tasks} else []
    averages = ({"avg": eight} if eight else {}) | {ALL: study.tasks}
    study = study.model_copy(update={"tasks": list(dict.fromkeys([*eight, *study.tasks]))})
    samples = Samples.of_cells(results, grid, grid.studies["ablation"].cells())
    run = Lines(study, grid, samples, notes, averages)
    n_rows = {n: of.rows.get("train") for n, of in read_examples(results, grid.tasks).items()}
    printed = TABLE_5.rename(columns={"method": "line", "value": "paper"})
    frame = run.frame().merge(printed[["line", "task", "paper"]], on=["line", "task"], how="left")
    frame = frame.assign(train_rows=frame["task"].map(n_rows).astype(float))
    baselines = shallow.scores(results, frame, grid, averages)
    means = {"avg": "Avg (8)", ALL: f"Avg of all {len(grid.tasks)}"}
    titles = run.titles() | means
    frame["head"] = frame["task"].map(titles)

    def scores(names: list[str]) -> pd.DataFrame:
        rows = pd.concat([frame[frame["task"] == name] for name in names])
        heads = {name: titles[name] for name in names}
        return shallow.below(wide(rows, study), baselines, heads).rename_axis("variant")

    of_paper: list[str | pd.DataFrame] = []
    if eight:
        of_paper = [scores(["avg", *eight]), ABOUT_AVERAGE]
        of_paper += ["## Further tasks, and the average over all tasks of this config"]
    on_train = frame.assign(
        text=frame["train"].map(markdown.value),
        head=frame["task"].map(run.titles("training rows") | means),
    )
    parts = [
        f"# {study.title}",
        *of_paper,
        scores([ALL, *study.tasks[len(eight) :]]),
        f"Avg of all: {grid.titles}. {markdown.LEGEND}",
        *notes.footnote(),
        *shallow.note(baselines, grid),
        *compared(frame, study),
        "## Scores on the training rows",
        markdown.pivot(on_train, "head", "line", "text").rename_axis(""),
        "`a [b, c]`: the variant minus the full transformer, paired by row and seed, and its 95 % "
        "interval, of the kind of `ci_low` and `ci_high`.",
        *single_control(grid),
    ]
    return Table(frame.rename(columns={"line": "variant"}).drop(columns=["value", "head"]), parts)


def degrees(results: Path, grid: Grid) -> Table:
    """Scores by degree of difficulty, for the rows of the synthetic world.

    Many rows are lexical (`tasks.world`), so a high score alone does not show more than
    knowledge of words. One row per variant, task (or their mean) and degree, by the task's own
    metric on the rows of the degree; cells that were not run have none. Beside it, `best_baseline`
    is the highest score of the shallow baselines on that task and degree.
    """
    study = grid.studies["ablation"]
    samples = Samples.of_cells(results, grid, study.cells())
    run = Lines(study, grid, samples, Notes({}), {ALL: study.tasks})
    frames = []
    for degree in DEGREES:
        frame = run.frame(partial(samples.headline, degree=degree)).assign(degree=degree)
        best = shallow.scores(results, frame, grid, run.averages, degree)["best"]
        frames.append(frame.assign(best_baseline=frame["task"].map(best)))
    table = pd.concat(frames).dropna(subset="mean").rename(columns={"line": "variant"})
    text = table.assign(shown=markdown.intervals(table, "mean", "ci_low", "ci_high"))
    full = text[text["variant"] == FULL.title]
    best = full.assign(variant=BEST, shown=full["best_baseline"].map(markdown.value))
    means = pd.concat([text, best]).query("task == @ALL")
    titles = {name: study.shown(name) for name in full["task"].unique() if name != ALL}
    titles[ALL] = f"mean of {len(study.tasks)}"
    by_task = pd.concat([full, best.assign(degree=best["degree"] + ", " + BEST)])
    by_task["task"] = by_task["task"].replace(titles)
    parts = [
        "# Scores by degree of difficulty",
        f"Mean of {len(study.tasks)} tasks, each by its own metric on the rows of one degree.",
        markdown.pivot(means, "variant", "degree", "shown"),
        f"## {FULL.title}, task by task",
        markdown.pivot(by_task, "task", "degree", "shown"),
        "Lexical: a class of words settles the row, a third or more of whose words no training row "
        "has. Relational: two clauses stand against each other, and one counts. Compositional: a "
        f"word reverses another, as a negation does. `a [b, c]`: {markdown.INTERVAL}. Of each task "
        "and degree the best of all shallow baselines.",
    ]
    return Table(table.drop(columns=["value", "note"]), parts)


def layer_transfer(results: Path, grid: Grid) -> Table:
    """Figure 2 left: the score against the number of layers transferred.

    `n_transfer` is `none` (nothing copied), 0 (the embeddings alone) or the number of lowest blocks
    copied as well. One row per (arch, aux, n_transfer, task, split), by the task's main metric: for
    its reported splits and for its training rows. Task `mean` is the unweighted mean of all tasks
    (MNLI counted once, as the mean of its two splits).
    """
    study, notes = grid.studies["layer_transfer"], Notes.read(results, grid.tasks)
    cells = [*grid.studies["ablation"].cells(), *study.cells()]
    samples = Samples.of_cells(results, grid, dict.fromkeys(cells))
    run = Lines(study, grid, samples, notes, {"mean": study.tasks})
    headline = run.frame()
    frames = [headline[headline["task"] == "mean"].assign(split="reported")]
    for task in study.tasks:
        for split in samples.reported(task):
            frame = run.frame(partial(run.on, split))
            frames.append(frame[frame["task"] == task].assign(split=split))
    frames.append(run.frame(partial(run.on, "train")).assign(split="train"))
    table = pd.concat(frames, ignore_index=True)
    titles = {name: notes.mark(name) for name in study.tasks} | {"mean": "mean"}
    splits = table["split"].str.replace("_", " ")
    headed = table.assign(head=table["task"].map(titles) + " (" + splits + ")")
    is_train = table["split"] == "train"
    parts = [
        f"# {study.title}",
        wide(headed[~is_train], study),
        "## The training rows",
        wide(headed[is_train], study).drop(index=[*markdown.BASELINES.values()]),
        *notes.footnote(),
        "`n_transfer`: layers transferred; 0 is the embeddings alone. " + markdown.LEGEND,
    ]
    return Table(table, parts)
