"""Claims about a contrast of variants: on average, or on each of some tasks."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from workflow.analysis.claims.evidence import Contrast, Evidence
from workflow.analysis.claims.finding import (
    CELLS,
    DOES_NOT_HOLD,
    EQUAL,
    HOLDS,
    UNDECIDED,
    Count,
    Finding,
)
from workflow.analysis.stats.estimates import LEVEL, Line, holm
from workflow.analysis.stats.scores import equally

Tasks = Sequence[str] | None  # None: all of the grid


def on_average(
    run: Evidence,
    contrast: Contrast,
    of: Tasks = None,
    paper: float | None = None,
    at_most: bool = False,
) -> list[Finding]:
    """The mean of a contrast over the tasks `of`: above 0, or `at_most` the margin."""
    names = list(of or run.grid.tasks)
    margins = run.grid.margins
    margin = (margins.task if len(names) == 1 else margins.mean) if contrast.has_margin else 0.0
    return [
        Finding(
            f"mean of {len(names)}",
            contrast.name,
            run.seeds.estimate(run.lines(contrast), equally(names)),
            paper,
            margin=0.0 if at_most else margin,
            border=margin if at_most else 0.0,
            at_most=at_most,
            printed=contrast.printed_mean(names),
        )
    ]


def each_task(
    run: Evidence, contrast: Contrast, of: Tasks = None, paper: float | None = None
) -> list[Finding]:
    """A contrast on each of the tasks `of`: a count over the tasks, and a test for each.

    Tasks that the grid lacks have no test, and there is then no count.
    """
    names = list(of or run.grid.tasks)
    printed = {name: paper or contrast.printed(name) for name in names if name in run.grid.tasks}
    lines = by_task(run, run.lines(contrast), contrast, printed)
    return [all_of(lines, contrast.name, len(names)), *lines] if len(names) > 1 else lines


def by_task(
    run: Evidence,
    lines: Sequence[tuple[float, Line]],
    contrast: Contrast,
    papers: Mapping[str, float | None],
) -> list[Finding]:
    """A finding for each task of `papers`, by the `lines` of a contrast and their weights."""
    margin = run.grid.margins.task if contrast.has_margin else 0.0
    found = {name: run.seeds.estimate(lines, {name: 1.0}) for name in papers}
    return [
        Finding(run.grid.task(name).title, contrast.name, found[name], paper, margin)
        for name, paper in papers.items()
    ]


def all_of(findings: Sequence[Finding], contrast: str, n: int, unit: str = "tasks") -> Finding:
    """The claim that a contrast holds on each of `n` tasks, with a count of those on its side.

    That all hold needs no correction for their number. That one of them does not hold, or is of no
    consequence, needs one.
    """
    known = [one for one in findings if one.found]
    one = Finding(f"{n} {unit}", f"{contrast}, {unit}", None, border=n - 0.5)
    if len(known) < n:
        return replace(one, lacking=next((of.lacking for of in findings if not of.found), CELLS))
    sure = holm([of.p for of in known]) < 1 - LEVEL
    count = Count.of(
        [of.found for of in known if of.found],
        [of.verdict == HOLDS for of in known],
        [
            is_sure
            if of.verdict == DOES_NOT_HOLD
            else of.verdict == EQUAL and of.is_within(len(known))
            for of, is_sure in zip(known, sure, strict=True)
        ],
    )
    on_its_side = sum((of.found.value > 0) == ((of.paper or 1) > 0) for of in known if of.found)
    equal = tuple(
        of.tasks if unit == "tasks" else of.contrast for of in known if of.verdict == EQUAL
    )
    count = replace(count, value=on_its_side, equal=equal, alarms=_joined(known))
    if unit != "tasks":  # tasks have lines of their own
        needs = [f"{of.contrast}: {of.needs}" for of in known if of.verdict == UNDECIDED]
        count = replace(count, needed="; ".join(needs[:1]))
    return replace(one, found=count)


def _joined(findings: Sequence[Finding]) -> str:
    """The alarms of several findings, each kind once."""
    kinds = {text.partition(":")[0] for of in findings for text in of.alarms.split(";") if text}
    return ";".join(sorted(kinds))
