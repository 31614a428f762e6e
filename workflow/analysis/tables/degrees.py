"""Scores by degree of difficulty, for the rows of the synthetic world.

Many rows are lexical (`tasks.world`), so a high score alone does not show more than
knowledge of words. Each score is the task's own metric on the rows of one degree. Beside it,
`best_baseline` is the highest score of the shallow baselines on that task and degree.
"""

from functools import partial
from pathlib import Path

import pandas as pd

from tasks.world.settings import DEGREES
from workflow.analysis import markdown, shallow
from workflow.analysis.lines import Lines
from workflow.analysis.notes import Notes
from workflow.analysis.paper import FULL
from workflow.analysis.stats.samples import Samples
from workflow.analysis.table import Table
from workflow.grid import Grid, StudyPlan

MEAN, BEST = "avg_all", "best baseline"


def build(results: Path, grid: Grid) -> Table:
    """One row per variant, task (or their mean) and degree; cells that were not run have none."""
    samples = Samples.of_grid(results, grid, ["ablation"])
    study = grid.studies["ablation"]
    run = Lines(study, grid, samples, Notes({}), {MEAN: study.tasks})
    frames = []
    for degree in DEGREES:
        frame = run.frame(partial(samples.headline, degree=degree)).assign(degree=degree)
        best = shallow.scores(results, frame, grid, {MEAN: study.tasks}, degree)["best"]
        frames.append(frame.assign(best_baseline=frame["task"].map(best)))
    table = pd.concat(frames).dropna(subset="mean").rename(columns={"line": "variant"})
    return Table(table.drop(columns=["value", "note"]), _wide(table, study))


def _wide(table: pd.DataFrame, study: StudyPlan) -> list[str | pd.DataFrame]:
    text = table.assign(shown=markdown.intervals(table, "mean", "ci_low", "ci_high"))
    full = text[text["variant"] == FULL.title]
    best = full.assign(variant=BEST, shown=full["best_baseline"].map(markdown.value))
    means = pd.concat([text, best]).query("task == @MEAN")
    titles = {name: study.shown(name) for name in full["task"].unique() if name != MEAN}
    titles[MEAN] = f"mean of {len(study.tasks)}"
    by_task = pd.concat([full, best.assign(degree=best["degree"] + ", " + BEST)])
    by_task["task"] = by_task["task"].replace(titles)
    return [
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
