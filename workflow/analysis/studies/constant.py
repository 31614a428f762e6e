"""Of a study with a prediction: what is lost of the score over the constant answer.

The prediction is about the gain over the model without pre-training. Where that model is below the
constant answer, a part of the gain is what this answer has too. So it is with F1, which is 0 of a
model that always answers no; the accuracy of such tasks stands beside it.
"""

import pandas as pd

import tasks
from workflow.analysis import markdown
from workflow.analysis.stats.samples import Samples
from workflow.study_plan import Point, StudyPlan

MARK = "‡"
LEAST = 5.0  # points; of less there is nothing to lose
EXPLAINED = (
    f"The tasks with {MARK}, and those of F1 by accuracy, as F1 is 0 of a model that always says "
    "no. In brackets the percentage that is lost of what {full} has over the better of {none} and "
    f"the constant answer; a dash where that is less than {LEAST:g} points. The verdicts above "
    "are by the rule that was written before the run, of the gain over {none}."
)


def is_below(table: pd.DataFrame, study: StudyPlan) -> pd.Series:
    """By task, whether the line without pre-training is below the constant answer."""
    none = table[table["line"] == study.references[1]].set_index("task")
    return none["mean"] < none["majority"]


def parts(table: pd.DataFrame, study: StudyPlan, samples: Samples) -> list[str | pd.DataFrame]:
    """A section of the study's Markdown; empty where no task needs it."""
    below = is_below(table, study)
    chosen = [(name, tasks.task(name).metric) for name in study.tasks if below[name]]
    chosen += [(name, "accuracy") for name in study.tasks if tasks.task(name).metric == "f1"]
    rows = {}
    for name, metric in sorted(chosen, key=lambda of: study.tasks.index(of[0])):
        title = f"{tasks.task(name).title} ({markdown.METRICS[metric]})"
        if row := _row(study, samples, name, metric):
            rows[title] = row
    if not rows:
        return []
    full, none = study.references
    frame = pd.DataFrame.from_dict(rows, orient="index").rename_axis("task")
    return ["## Over the constant answer", frame, EXPLAINED.format(full=full, none=none)]


def _row(study: StudyPlan, samples: Samples, name: str, metric: str) -> dict[str, str]:
    """The means of all lines, the study's with what they have lost; empty without references."""
    found = {p.line: _means(samples, p, name, metric) for p in study.points}
    full, none = (found[line] for line in study.references)
    if pd.isna(full[0]) or pd.isna(none[0]):
        return {}
    gain = full[0] - max(none)
    shown = {study.references[1]: none[0], "constant answer": none[1], study.references[0]: full[0]}
    row = {head: markdown.value(score) for head, score in shown.items()}
    return row | {line: _with_loss(found[line][0], full[0], gain) for line in study.lines}


def _with_loss(score: float, full: float, gain: float) -> str:
    if pd.isna(score):
        return markdown.MISSING
    lost = f"{round(100 * (full - score) / gain)}" if gain >= LEAST else markdown.NONE
    return f"{score:.1f} ({lost})"


def _means(samples: Samples, point: Point, name: str, metric: str) -> tuple[float, float]:
    """The score of a task, the mean over its seeds, and that of the constant answer."""
    cell = next(cell for cell in point.cells if cell.task == name)
    head = samples.headline(cell, metric=metric)
    return (head.value, head.majority) if head else (float("nan"), float("nan"))
