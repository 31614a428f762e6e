"""Table 5: the paper's four variants on its eight tasks, with the average (paper 5).

`w/o pre-training` is the same recipe with nothing transferred; `w/o aux LM` has `lm_coef` 0. After
the paper's eight tasks come the others that were run, and the average over all tasks of the grid.
The negative controls are the full model, but pre-trained on books with shuffled words or shuffled
sentences, or with the embeddings of content words permuted. What such a control keeps of the gain
owes nothing to what it lacks: the order of words in a sentence, the order of sentences, or the
meaning of words. A smaller network from scratch, and the same network on word vectors of the books,
have settings of their own, with which they fit their training rows.
"""

from pathlib import Path

import pandas as pd

from workflow.analysis import markdown, shallow
from workflow.analysis.examples import read_examples
from workflow.analysis.lines import Lines, compared, wide
from workflow.analysis.notes import Notes, single_control
from workflow.analysis.paper import EIGHT, TABLE_5
from workflow.analysis.stats.samples import Samples
from workflow.analysis.table import Table
from workflow.grid import Grid


def build(results: Path, grid: Grid) -> Table:
    """One row per (variant, task) and per (variant, average).

    `diff` is the variant minus the full transformer, paired by row and seed.
    """
    samples, notes = Samples.of_grid(results, grid, ["ablation"]), Notes.read(results, grid.tasks)
    study = grid.studies["ablation"]
    # The paper's eight tasks, run or not, and then the others.
    eight = [*EIGHT] if {*EIGHT} & {*study.tasks} else []
    averages = ({"avg": eight} if eight else {}) | {"avg_all": study.tasks}
    study = study.model_copy(update={"tasks": list(dict.fromkeys([*eight, *study.tasks]))})
    run = Lines(study, grid, samples, notes, averages)
    n_rows = {n: of.rows.get("train") for n, of in read_examples(results, grid.tasks).items()}
    printed = TABLE_5.rename(columns={"method": "line", "value": "paper"})
    frame = run.frame().merge(printed[["line", "task", "paper"]], on=["line", "task"], how="left")
    frame = frame.assign(train_rows=frame["task"].map(n_rows).astype(float))
    baselines = shallow.scores(results, frame, grid, averages)
    table = frame.rename(columns={"line": "variant"}).drop(columns="value")
    return Table(table, _parts(run, frame, baselines))


def _train(frame: pd.DataFrame, titles: dict[str, str]) -> pd.DataFrame:
    """The scores on the training rows, which show the fit: tasks down, variants across."""
    text, heads = frame["train"].map(markdown.value), frame["task"].map(titles)
    shown = markdown.pivot(frame.assign(text=text, head=heads), "head", "line", "text")
    return shown.rename_axis("").rename_axis("", axis="columns")


def _parts(run: Lines, frame: pd.DataFrame, baselines: pd.DataFrame) -> list[str | pd.DataFrame]:
    means = {"avg": "Avg (8)", "avg_all": f"Avg of all {len(run.grid.tasks)}"}
    titles = run.titles() | means
    frame = frame.assign(head=frame["task"].map(titles))

    def scores(names: list[str]) -> pd.DataFrame:
        rows = pd.concat([frame[frame["task"] == name] for name in names])
        heads = {name: titles[name] for name in names}
        return shallow.below(wide(rows, run.study), baselines, heads).rename_axis("variant")

    eight = [*run.averages.get("avg", ())]
    of_paper = eight and [
        scores(["avg", *eight]),
        "Avg is the unweighted mean of the eight columns. The paper's rows are scores of the GLUE "
        "test server; ours are on the split that the column names.",
        "## Further tasks, and the average over all tasks of this config",
    ]
    return [
        f"# {run.study.title}",
        *of_paper,
        scores(["avg_all", *run.study.tasks[len(eight) :]]),
        f"Avg of all: {run.grid.titles}. {markdown.LEGEND}",
        *run.notes.footnote(),
        *shallow.note(baselines, run.grid),
        *compared(frame, run.study),
        "## Scores on the training rows",
        _train(frame, run.titles("training rows") | means),
        "`a [b, c]`: the variant minus the full transformer, paired by row and seed, and its 95 % "
        "interval, of the kind of `ci_low` and `ci_high`.",
        *single_control(run.grid),
    ]
