"""Claims about where a contrast is larger: on larger training sets, or on longer inputs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from workflow.analysis.claims.contrasts import on_average
from workflow.analysis.claims.evidence import Contrast, Evidence
from workflow.analysis.claims.finding import CELLS, Finding
from workflow.analysis.paper import EIGHT, TRAIN_ROWS

LEAST_DECADES = 0.5  # between the smallest and the largest training set
LEAST_DOUBLINGS = 1.0  # between the shortest and the longest mean input
SIZES = "tasks whose training sets differ more in size"
LENGTHS = "tasks whose inputs differ more in length"


def rises_with_size(run: Evidence, contrast: Contrast) -> list[Finding]:
    """How many points a contrast rises per tenfold training rows, over the paper's eight tasks."""
    found = _rise(run, contrast, EIGHT, _decades(run.train_rows), LEAST_DECADES, SIZES)
    name = f"{contrast.name}, points per tenfold training rows"
    of_paper = contrast.printed_slope(_decades({task: TRAIN_ROWS[task] for task in EIGHT}))
    return [replace(found, contrast=name, printed=of_paper)]


def rises_with_length(run: Evidence, contrast: Contrast) -> list[Finding]:
    """How many points a contrast rises per doubling of the tokens in the mean input."""
    doublings = {name: float(np.log2(tokens)) for name, tokens in run.lengths.items()}
    found = _rise(run, contrast, run.grid.tasks, doublings, LEAST_DOUBLINGS, LENGTHS)
    return [replace(found, contrast=f"{contrast.name}, points per doubling of the mean input")]


def no_gain_of_small_sets(run: Evidence, contrast: Contrast) -> list[Finding]:
    """Whether a contrast is at most the margin on the half of the eight tasks with fewer rows."""
    half = len(EIGHT) // 2
    smaller = sorted(EIGHT, key=TRAIN_ROWS.__getitem__)[:half]
    printed = contrast.printed_mean(smaller)
    rows = {name: n for name, n in run.train_rows.items() if name in EIGHT}
    if len(rows) < len(EIGHT) or np.ptp([*_decades(rows).values()]) < LEAST_DECADES:
        lacking = CELLS if len(rows) < len(EIGHT) else SIZES
        nothing = Finding(f"mean of {half}", contrast.name, None, at_most=True, lacking=lacking)
        border = run.grid.margins.mean
        return [replace(nothing, border=border, printed=printed)]
    found = on_average(run, contrast, sorted(rows, key=rows.__getitem__)[:half], at_most=True)
    return [replace(one, printed=printed) for one in found]


def _decades(rows: Mapping[str, int]) -> dict[str, float]:
    return {name: float(np.log10(n)) for name, n in rows.items()}


def _rise(
    run: Evidence,
    contrast: Contrast,
    names: Sequence[str],
    x: Mapping[str, float],
    least: float,
    lacking: str,
) -> Finding:
    """How much a contrast rises with `x`; if `x` spans less than `least`, `lacking` says so."""
    lines = run.lines(contrast)
    finding = Finding(f"{len(names)} tasks", contrast.name, None, margin=run.grid.margins.mean)
    if any(name not in x or not all(line.get(name) for _, line in lines) for name in names):
        return finding
    along = {name: x[name] for name in names}
    if np.ptp([*along.values()]) < least:
        return replace(finding, lacking=lacking)
    return replace(finding, found=run.seeds.estimate(lines, slope_weights(along)))


def slope_weights(x: Mapping[str, float]) -> dict[str, float]:
    """The weight of each task's value in the least-squares slope along `x`, which differs.

    So the slope has the chance of seeds and rows like any contrast, and speaks of these tasks
    alone.
    """
    from_mean = np.array([*x.values()]) - np.mean([*x.values()])
    return dict(zip(x, from_mean / (from_mean @ from_mean), strict=True))
