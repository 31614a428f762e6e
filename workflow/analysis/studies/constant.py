"""For a study with a prediction: how much of the score over the constant answer is lost.

The prediction is about the gain over the model without pre-training. Where that model is below the
constant answer, a part of the gain is what this answer has too. So it is with F1, which is 0 for a
model that always answers no; the accuracy of such tasks stands beside it.
"""

import pandas as pd

import tasks
from workflow.analysis import markdown
from workflow.analysis.stats.samples import Samples
from workflow.study_plan import StudyPlan

MARK = "‡"
LEAST = 5.0  # points; of less there is nothing to lose
EXPLAINED = (
    f"The tasks with {MARK}, and those scored by F1, which is 0 for a model that always says no, "
    "here by accuracy. In brackets the percentage that is lost of what {full} has over {none} or "
    f"the constant answer, whichever is better; a dash where that is less than {LEAST:g} points. "
    "The verdicts above follow the rule that was written before the run, about the gain over "
    "{none}."
)


def is_below(table: pd.DataFrame, study: StudyPlan) -> pd.Series:
    """By task, whether the line without pre-training is below the constant answer."""
    none = table[table["line"] == study.references[1]].set_index("task")
    return none["mean"] < none["majority"]


def parts(table: pd.DataFrame, study: StudyPlan, samples: Samples) -> list[str | pd.DataFrame]:
    """A section of the study's Markdown; empty where no task needs it."""
    below, (full, none) = is_below(table, study), study.references
    rows = {}
    for name in study.tasks:
        own = tasks.task(name)
        metrics = [own.metric] if below[name] else []
        for metric in [*metrics, *(["accuracy"] if own.metric == "f1" else [])]:
            found = {
                point.line: samples.headline(cell, metric=metric)
                for point in study.points
                for cell in point.cells
                if cell.task == name
            }
            scores = {line: head.value for line, head in found.items() if head}
            if full in scores and (start := found[none]):
                title = f"{own.title} ({markdown.METRICS[metric]})"
                rows[title] = _row(study, scores, start.majority)
    if not rows:
        return []
    frame = pd.DataFrame.from_dict(rows, orient="index").rename_axis("task")
    return ["## Over the constant answer", frame, EXPLAINED.format(full=full, none=none)]


def _row(study: StudyPlan, scores: dict[str, float], constant: float) -> dict[str, str]:
    """The means of all lines, the study's with what they have lost."""
    full, none = study.references
    gain = scores[full] - max(scores[none], constant)
    shown = {none: scores[none], "constant answer": constant, full: scores[full]}
    row = {head: markdown.value(score) for head, score in shown.items()}
    for line in study.lines:
        row[line] = markdown.MISSING
        if line in scores:
            lost = f"{round(100 * (scores[full] - scores[line]) / gain)}" if gain >= LEAST else ""
            row[line] = f"{scores[line]:.1f} ({lost or markdown.NONE})"
    return row
