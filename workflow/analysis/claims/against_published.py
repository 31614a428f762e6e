"""Claims about the best published systems, which the paper's model beats on nine of twelve tasks.

They are judged only on the published data sets.
"""

from dataclasses import replace

import numpy as np

import tasks
from workflow.analysis.claims.contrasts import all_of, by_task
from workflow.analysis.claims.evidence import Contrast, Evidence
from workflow.analysis.claims.finding import Count, Finding
from workflow.analysis.paper import FULL, published
from workflow.analysis.stats.estimates import LEVEL, holm
from workflow.analysis.stats.scores import Score, equally

PUBLISHED_DATA = "the published data sets"
LEAD = Contrast("full − best published", {FULL: 1.0})


def wins(run: Evidence, paper: float) -> list[Finding]:
    """The number of tasks on which the full transformer beats the best published system."""
    leads, everything = _leads(run), len(tasks.PAPER_TASKS)
    finding = Finding(f"{everything} tasks", "tasks won", None, paper, border=paper - 0.5)
    if len(leads) < everything:
        lacking = f"the full transformer's scores on all {everything} tasks"
        return [replace(finding, lacking=lacking if run.is_all_published else PUBLISHED_DATA)]
    estimates = (run.seeds.estimate([(1.0, leads)], {name: 1.0}) for name in leads)
    found = [one for one in estimates if one]
    sure = holm([one.p for one in found]) < 1 - LEVEL  # no task was picked beforehand
    above = np.array([one.value > 0 for one in found])
    mean = run.seeds.estimate([(1.0, leads)], equally(leads))
    count = Count.of(found, sure & above, sure & ~above)
    return [replace(finding, found=replace(count, alarms=mean.alarms if mean else ""))]


def each_lead(run: Evidence) -> list[Finding]:
    """The full transformer minus the best published system, a test for each task."""
    names = [task.name for task in tasks.PAPER_TASKS if task.name in run.grid.tasks]
    if not any(map(run.is_published, names)):
        none = Finding(f"{len(names)} tasks", f"{LEAD.name}, tasks", None, lacking=PUBLISHED_DATA)
        return [none]
    found = by_task(run, [(1.0, _leads(run))], LEAD, {name: paper_lead(name) for name in names})
    lines = [
        one if run.is_published(name) else replace(one, lacking=PUBLISHED_DATA)
        for name, one in zip(names, found, strict=True)
    ]
    return [all_of(lines, LEAD.name, len(names)), *lines]


def paper_lead(name: str) -> float:
    """How many points the paper's model is ahead of the best published system on a task."""
    ours, best = published()[name]
    return round(ours - best, 1)


def _leads(run: Evidence) -> dict[str, Score]:
    """By task, the full transformer minus the best published system; published data only."""
    return {
        name: score.minus(published()[name][1])
        for name, score in run.heads(FULL).items()
        if score is not None and name in published() and run.is_published(name)
    }
