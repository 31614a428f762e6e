"""Of a study with several lines along an axis: how the differences between lines change.

For each line but the first, its difference to the first line at the last value, less the same at
the first value (a difference of differences), paired by row and seed. In `today` this is how much
more, or less, a finding of the paper holds of a modern transformer; in `train_size` how much more,
or less, each of its parts gives of all labelled rows than of few.
"""

from collections.abc import Mapping

import pandas as pd

import tasks
from workflow.analysis import markdown
from workflow.analysis.stats.estimate import Estimate, Sample, difference
from workflow.analysis.stats.pooling import estimates
from workflow.study_plan import StudyPlan

Heads = Mapping[str, Sample | None]  # by task


def values(study: StudyPlan) -> list[str]:
    """The first value and the last; none where no line differs from the first at either."""
    found = list(dict.fromkeys(point.value for point in study.points if point.value))
    if len(found) < 2 or len(study.lines) < 2 or study.references:
        return []
    ends = [found[0], found[-1]]
    cells = {(point.line, point.value): point.cells for point in study.points}
    first = [cells[study.lines[0], value] for value in ends]
    others = ([cells[line, value] for value in ends] for line in study.lines[1:])
    return ends if any(line != first for line in others) else []


def changes(
    study: StudyPlan, heads: Mapping[tuple[str, str], Heads]
) -> dict[tuple[str, str], Estimate]:
    """The change of each line's difference, by line and task (or `mean`)."""
    found: dict[tuple[str, str], Estimate] = {}
    first, second = values(study)
    for line in study.lines[1:]:
        before, after = (_to_first_line(study, heads, line, value) for value in (first, second))
        change = {task: difference(after[task], before[task]) for task in study.tasks}
        by_task = estimates(change, {"mean": study.tasks} if len(study.tasks) > 1 else {})
        found |= {(line, task): estimate for task, estimate in by_task.items()}
    return found


def _to_first_line(
    study: StudyPlan, heads: Mapping[tuple[str, str], Heads], line: str, value: str
) -> dict[str, Sample | None]:
    base = heads[study.lines[0], value]
    return {task: difference(head, base[task]) for task, head in heads[line, value].items()}


def parts(study: StudyPlan, heads: Mapping[tuple[str, str], Heads]) -> list[str | pd.DataFrame]:
    """A section of the study's Markdown; empty where there is nothing to compare."""
    if not values(study):
        return []
    found = changes(study, heads)
    names = [*study.tasks, *(["mean"] if len(study.tasks) > 1 else [])]
    titles = {name: _title(name, study) for name in names}
    rows = {
        line: {title: _shown(found.get((line, name))) for name, title in titles.items()}
        for line in study.lines[1:]
    }
    first, second = values(study)
    base = study.lines[0]
    heading = f"## Change of the difference to {base}: {study.axis} {second} less {first}"
    explained = f"Below 0: {base} is further ahead at {second} than at {first}, or less behind."
    return [heading, pd.DataFrame.from_dict(rows, orient="index").rename_axis(""), explained]


def _shown(estimate: Estimate | None) -> str:
    return markdown.interval(estimate.value, *estimate.interval) if estimate else markdown.MISSING


def _title(name: str, study: StudyPlan) -> str:
    return f"mean of {len(study.tasks)}" if name == "mean" else tasks.task(name).title
